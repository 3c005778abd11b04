// SPDX-License-Identifier: LGPL-2.1-only
/* Sending end of a link: its output queues, and what flow control knows of the buffer at the other end. */
#pragma once

#include "packets/packet_events.hpp"
#include "packets/packet_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft {

constexpr double NEVER_S          = std::numeric_limits<double>::infinity();
constexpr std::uint32_t NO_NUMBER = std::numeric_limits<std::uint32_t>::max();

/** Credits on their way to the sender of a link, in order of time. */
class ReturningCredits {
  struct Credit {
    double time;
    double bytes;
  };
  std::vector<Credit> all_;
  std::size_t first_ = 0;

public:
  bool any() const { return first_ < all_.size(); }
  /** Returns when the next one arrives. */
  double next() const { return all_[first_].time; }
  void add(double time, double bytes);
  /** Removes the next credit, and returns its bytes. */
  double take() { return all_[first_++].bytes; }
  /** Returns when credits for @p bytes will have returned; infinity if too few are on their way. */
  double when(double bytes) const;
};

/** Virtual lane of a link. The first lane also has what belongs to the link. Members are in the order of their use. */
struct alignas(64) PacketPort {
  double free_at  = 0;       ///< of the link
  double wake_at  = NEVER_S; ///< of the link: time of its next event
  double per_byte = 0;       ///< seconds
  double took     = 0;       ///< latency of the cable and of the switch at its end
  double room     = NEVER_S; ///< bytes for which the lane has credits
  double queued   = 0;       ///< bytes of data that wait in the lane
  PacketQueue data;
  std::uint32_t first_transfer = NO_NUMBER; ///< of those that may send, in turn; first lane only
  std::uint32_t last_transfer  = NO_NUMBER;
  // Next cache line.
  PacketQueue control;                         ///< of the link
  double cable                   = 0;          ///< latency of the cable alone
  double serving                 = 0;          ///< bytes of data being sent until free_at
  double buffered                = 0;          ///< bytes at the lane's end, with PFC
  std::int32_t leaving           = NO_IN_PORT; ///< port through which the packet came that is being sent, with PFC
  PacketEvents::Lane ends        = PacketEvents::NO_LANE; ///< of full packets
  PacketEvents::Lane arrives     = PacketEvents::NO_LANE;
  PacketEvents::Lane arrives_cut = PacketEvents::NO_LANE; ///< of their heads
  std::uint8_t turn              = 0;                     ///< of the link: lane that may send next
  bool paused                    = false;
  bool pausing                   = false;    ///< its end has paused it
  bool injects                   = false;    ///< the last packet came from the host
  bool off                       = false;    ///< of the link: a fault has cut it
  double starved_at              = -NEVER_S; ///< time at which it last lacked credits; infinity: it does now
  ReturningCredits returning;
};

/** Values of a link that are used seldom. */
struct PortLimits {
  double ecn_min  = 0; ///< with InfiniBand's congestion control: its threshold
  double ecn_max  = 0;
  double buffer   = NEVER_S; ///< bytes that its output queue holds, without flow control
  double xoff     = NEVER_S;
  double xon      = NEVER_S;
  double victim_s = 0; ///< InfiniBand: seconds after a lack of credits for which a port is no root of congestion
  double loss     = 0; ///< probability that it loses a packet
};

} // namespace weft
