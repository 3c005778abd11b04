// SPDX-License-Identifier: LGPL-2.1-only
/* How long packets of offloaded messages take on a link, with as many in flight as a switch has slots for. */
#pragma once

#include "base/units.hpp"
#include "model/switch/switch_model.hpp"

#include <cstdint>

namespace weft {

/** A message cut into packets. */
struct PacketTrain {
  std::int64_t packets = 0;
  Bytes wire;         ///< all packets with their overhead
  std::int64_t slots; ///< slots that it holds at most
};
PacketTrain packet_train(const SwitchModel& model, Bytes message);

/** The time in which the packets of a message pass a link of @p line_rate when nothing else uses it: full speed while
 *  slots are free, then one window each @p turnaround (or each window's own time on the link, where that is longer). */
Seconds streaming_time(const SwitchModel& model, Bytes message, BytesPerSecond line_rate, Seconds turnaround);

/** The same of @p packets that are alike and pass the link in @p on_link when nothing holds them up. Each takes a slot,
 *  however small it is. */
Seconds streaming_time(const SwitchModel& model, double packets, Seconds on_link, Seconds turnaround);

} // namespace weft
