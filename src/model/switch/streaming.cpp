// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

PacketTrain packet_train(const SwitchModel& model, Bytes message)
{
  const auto packets = static_cast<std::int64_t>(std::ceil(message / model.payload));
  return {packets, message + model.packet_overhead * static_cast<double>(packets),
          std::min<std::int64_t>(packets, model.slots)};
}

Seconds streaming_time(const SwitchModel& model, Bytes message, BytesPerSecond line_rate, Seconds turnaround)
{
  const PacketTrain train = packet_train(model, message);
  // Packets before the last window; each of those windows costs at least one turnaround.
  const std::int64_t windows_before = (train.packets - 1) / model.slots;
  const Bytes before                = model.window() * static_cast<double>(windows_before);
  const Seconds window_on_link      = packet_train(model, model.window()).wire / line_rate;
  const Seconds last_on_link        = packet_train(model, message - before).wire / line_rate;
  return std::max(turnaround, window_on_link) * static_cast<double>(windows_before) + last_on_link;
}

Seconds streaming_time(const SwitchModel& model, double packets, Seconds on_link, Seconds turnaround)
{
  if (packets < 1)
    return on_link;
  const double windows_before  = std::floor((packets - 1) / model.slots);
  const double window          = model.slots / packets;
  const Seconds window_on_link = on_link * window;
  return std::max(turnaround, window_on_link) * windows_before + on_link * (1 - windows_before * window);
}

double part_after_complete_windows(double windows, double left)
{
  constexpr double ROUNDING = 1e-6; // in windows: a window that lacks less counts as complete
  const double complete     = std::floor((1 - left) * windows + ROUNDING);
  return std::clamp(1 - complete / windows, 0.0, 1.0);
}

} // namespace weft
