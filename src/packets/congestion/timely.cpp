// SPDX-License-Identifier: LGPL-2.1-only
/* TIMELY (R. Mittal et al.: TIMELY: RTT-based congestion control for the datacenter, SIGCOMM '15), as the authors of
 * HPCC have it (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc): once in a round trip, the rate follows the
 * gradient of round trips, within two thresholds. A connection begins at line rate. Losses do not change its rate. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Returns the factor by which the rate decreases; 0 if it increases. */
double decrease_of(const TimelyModel& timely, double delay, double gradient)
{
  if (delay < timely.low.value())
    return 0;
  if (delay > timely.high.value())
    return 1 - timely.beta * (1 - timely.high.value() / delay);
  constexpr double LEAST = 1e-6; // the least rate is a bound of its own
  return gradient <= 0 ? 0 : std::max(LEAST, 1 - timely.beta * gradient);
}

void increase_step(ConnectionState& state, const TimelyModel& timely)
{
  constexpr double ADDITIVE = 1.0 / 1000; // of the line rate (run.py)
  constexpr double HYPER    = 1.0 / 200;
  const bool hyper          = state.timer_stage >= timely.hyper_after;
  const double given        = (hyper ? timely.hyper_increase : timely.additive_increase).value();
  state.rate += given > 0 ? given : (hyper ? HYPER : ADDITIVE) * state.line_rate;
  ++state.timer_stage;
}

void follow_gradient(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet)
{
  if (state.last_change >= 0 && packet.now - packet.delay < state.last_change)
    return; // it was sent before the last change
  const TimelyModel& timely = model.timely;
  if (state.last_change >= 0) {
    state.trend += timely.weight * (packet.delay - state.last_delay - state.trend);
    state.rate          = std::min(state.rate, state.line_rate);
    const double factor = decrease_of(timely, packet.delay, state.trend / timely.least_round_trip.value());
    if (factor > 0) {
      state.rate        = std::max(timely.minimum_rate.value(), state.rate * factor);
      state.timer_stage = 0;
    } else {
      increase_step(state, timely);
    }
    if (state.rate >= state.line_rate)
      state.rate = ConnectionState::UNLIMITED;
  }
  state.last_delay  = packet.delay;
  state.last_change = packet.now;
}

} // namespace

const CongestionControlRow& timely_row()
{
  static const CongestionControlRow ROW{.kind = CongestionControl::timely, .acknowledged = follow_gradient};
  return ROW;
}

} // namespace weft
