// SPDX-License-Identifier: LGPL-2.1-only
/* Congestion control of senders: a row of functions for each algorithm, which change the rate or the window of a
 * connection. Senders without congestion control have neither. */
#pragma once

#include "model/packets/packet_model.hpp"

#include <limits>

namespace weft {

/** State of a connection from one host to another. Times are in seconds, sizes in bytes. */
struct ConnectionState {
  static constexpr double UNLIMITED = std::numeric_limits<double>::infinity();
  double line_rate                  = 0; ///< of its host's link
  double rate                       = UNLIMITED;
  double window                     = UNLIMITED; ///< of data in flight; at least one packet may always be
  double due                        = UNLIMITED; ///< time of the next call of due()
  double last_change                = -1;        ///< Swift, NSCC: decrease; DCQCN: notification; TIMELY: any
  int ccti                          = 0;         ///< InfiniBand: index of the table of delays
  // DCQCN
  double target        = 0;
  double alpha         = 0;
  double counted       = 0; ///< bytes since the byte counter was reset
  int timer_stage      = 0; ///< TIMELY: increases in a row
  int byte_stage       = 0;
  double begun         = -1;        ///< first notification
  double decrease_at   = UNLIMITED; ///< end of the interval in which a notification came
  double increase_at   = UNLIMITED; ///< next step of the timer
  double alpha_updates = 0;         ///< intervals of alpha that have ended
  bool raises_alpha    = false;     ///< a notification came in the present one
  // Swift
  double packets = 0; ///< window in packets
  // TIMELY
  double last_delay = 0; ///< round trip at the last change
  double trend      = 0; ///< average difference of round trips
  // NSCC
  double round_trip  = 0; ///< without queues, of the fabric
  double shortest    = 0; ///< round trip that was measured
  double delay       = 0; ///< average in queues
  double increase    = 0; ///< collected, in bytes times the window
  double received    = 0; ///< bytes acknowledged since increases took effect
  double adjusted_at = 0; ///< time of the last small increase
  double undelayed   = 0; ///< bytes acknowledged without delay
  double achieved    = 0; ///< bytes acknowledged in this interval of quick adaption
  double adapt_at    = 0; ///< its end
  double ignored     = 0; ///< bytes answered since the last quick adaption
  double to_ignore   = 0; ///< bytes that were in flight then
  bool fast          = false;
  bool trimmed       = false; ///< a packet was, since then
};

/** Packet whose acknowledgement, or the rejection of its headers, has arrived now. */
struct AcknowledgedPacket {
  double now;
  double delay; ///< from its start at the sender to the answer's arrival
  double bytes;
  int hops; ///< links of its route
  bool marked      = false;
  double in_flight = 0; ///< bytes of its connection; with a rejected packet
};

/** Algorithm: reactions of a connection. Those that an algorithm does not set do nothing. */
struct CongestionControlRow {
  using AtTime = void (*)(ConnectionState& state, const PacketModel& model, double now);
  using Answer = void (*)(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet);
  static void ignore(ConnectionState& /*state*/, const PacketModel& /*model*/) {}
  static void ignore(ConnectionState& /*state*/, const PacketModel& /*model*/, double /*now*/) {}
  static void ignore(ConnectionState& /*state*/, const PacketModel& /*model*/, const AcknowledgedPacket& /*packet*/) {}

  CongestionControl kind;
  void (*begin)(ConnectionState& state, const PacketModel& model)              = ignore;
  void (*sent)(ConnectionState& state, const PacketModel& model, double bytes) = ignore;
  Answer acknowledged                                                          = ignore;
  AtTime notified                                                              = ignore;
  AtTime lost                                                                  = ignore;
  AtTime due                                                                   = ignore;
  Answer trimmed                                                               = ignore;
};

/** Returns the row of an algorithm; null without congestion control. */
const CongestionControlRow* find_congestion_control(CongestionControl kind);

/** Rows, each from a file of its own. */
const CongestionControlRow& dcqcn_row();
const CongestionControlRow& infiniband_row();
const CongestionControlRow& nscc_row();
const CongestionControlRow& swift_row();
const CongestionControlRow& timely_row();

} // namespace weft
