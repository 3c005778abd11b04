// SPDX-License-Identifier: LGPL-2.1-only
/* Swift (G. Kumar et al.: Swift: delay is simple and effective for congestion control in the datacenter, SIGCOMM '20),
 * as csg-htsim has it (sim/swift.cpp): the window follows the delay of each packet against a target that grows with the
 * hops of the route and shrinks with the window. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/** Sets window and rate from the window in packets: below one packet, packets are a round trip of @p delay apart. */
void apply_window(ConnectionState& state, const PacketModel& model, double delay)
{
  state.packets = std::clamp(state.packets, model.swift.least_window, model.swift.most_window);
  state.window  = std::max(1.0, state.packets) * model.packet.value();
  state.rate =
      state.packets < 1 && delay > 0 ? state.packets * model.packet.value() / delay : ConnectionState::UNLIMITED;
}

double swift_target(const ConnectionState& state, const SwiftModel& model, int hops)
{
  const double base  = model.base_target.value() + hops * model.hop_target.value();
  const double range = model.scaling_range.value();
  const double slope = range / (1 / std::sqrt(model.scaling_from) - 1 / std::sqrt(model.scaling_to));
  const double level = slope / std::sqrt(state.packets) - slope / std::sqrt(model.scaling_to);
  return base + std::clamp(level, 0.0, range);
}

void begin_swift(ConnectionState& state, const PacketModel& model)
{
  state.packets = model.swift.initial_window;
  apply_window(state, model, 0);
}

void follow_delay(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet)
{
  const SwiftModel& swift = model.swift;
  const double target     = swift_target(state, swift, packet.hops);
  const double part       = packet.bytes / model.packet.value();
  if (packet.delay < target) {
    state.packets += swift.additive_increase * part / std::max(1.0, state.packets);
  } else if (packet.now - state.last_change >= packet.delay || state.last_change < 0) {
    state.packets *= std::max(1 - swift.beta * (packet.delay - target) / packet.delay, 1 - swift.largest_cut);
    state.last_change = packet.now;
  }
  apply_window(state, model, packet.delay);
}

void cut_after_loss(ConnectionState& state, const PacketModel& model, double now)
{
  state.packets *= 1 - model.swift.largest_cut;
  state.last_change = now;
  apply_window(state, model, model.swift.base_target.value());
}

} // namespace

const CongestionControlRow& swift_row()
{
  static const CongestionControlRow ROW{
      .kind         = CongestionControl::swift,
      .begin        = begin_swift,
      .acknowledged = follow_delay,
      .lost         = cut_after_loss,
      .trimmed      = [](ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet) {
        cut_after_loss(state, model, packet.now);
      }};
  return ROW;
}

} // namespace weft
