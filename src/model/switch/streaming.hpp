// SPDX-License-Identifier: LGPL-2.1-only
/* Transmission time of an offloaded message's packets on a link, with the number in flight limited by a switch's
 * slots. */
#pragma once

#include "base/units.hpp"
#include "model/switch/switch_model.hpp"

#include <cstdint>

namespace weft {

/** Packets of one message. */
struct PacketTrain {
  std::int64_t packets = 0;
  Bytes wire;         ///< size of all packets with their overhead
  std::int64_t slots; ///< maximum number of slots in use
};
PacketTrain packet_train(const SwitchModel& model, Bytes message);

/** Returns the time that a message's packets need on an otherwise idle link of @p line_rate: at full speed while slots
 * are free, then one window per @p turnaround (or per window's time on the link, if that is longer). */
Seconds streaming_time(const SwitchModel& model, Bytes message, BytesPerSecond line_rate, Seconds turnaround);

/** Returns the streaming time of @p packets of equal size, which take one slot each and need @p on_link without
 * stalls. */
Seconds streaming_time(const SwitchModel& model, double packets, Seconds on_link, Seconds turnaround);

/** Returns the part of a vector that follows its last complete window, if the part @p left has not arrived. The vector
 * has @p windows windows, at least one. */
double part_after_complete_windows(double windows, double left);

} // namespace weft
