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
  double last_change                = -1;        ///< Swift: last decrease; DCQCN: last notification
  // DCQCN
  double target   = 0;
  double alpha    = 0;
  double counted  = 0; ///< bytes since the byte counter was reset
  int timer_stage = 0;
  int byte_stage  = 0;
  // Swift
  double packets = 0; ///< window in packets
};

/** Packet that was acknowledged now. */
struct AcknowledgedPacket {
  double now;
  double delay; ///< from its start at the sender to the acknowledgement's arrival
  double bytes;
  int hops; ///< links of its route
};

struct CongestionControlRow {
  CongestionControl kind;
  void (*begin)(ConnectionState& state, const PacketModel& model);
  void (*sent)(ConnectionState& state, const PacketModel& model, double bytes);
  void (*acknowledged)(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet);
  void (*notified)(ConnectionState& state, const PacketModel& model, double now);
  void (*lost)(ConnectionState& state, const PacketModel& model, double now);
  void (*due)(ConnectionState& state, const PacketModel& model, double now);
};

/** Returns the row of an algorithm; null without congestion control. */
const CongestionControlRow* find_congestion_control(CongestionControl kind);

/** Rows, each from a file of its own. */
const CongestionControlRow& dcqcn_row();
const CongestionControlRow& swift_row();

} // namespace weft
