// SPDX-License-Identifier: LGPL-2.1-only
/* DCQCN (Y. Zhu et al.: Congestion control for large-scale RDMA deployments, SIGCOMM '15), with the state machine of
 * the authors' simulator (bobzhuyb/ns3-rdma, qbb-net-device.cc): a notification cuts the rate at once, a timer and a
 * byte counter let it recover. A connection sends at line rate until its first notification.
 *
 * Switches mark packets that leave a queue. A receiver notifies the sender at once, and of marks in the interval after
 * a notification at its end.
 *
 * The target increases after fast_recovery steps, as in the fixed point of Y. Zhu et al. (ECN or delay, CoNEXT '16); in
 * the simulator, with the last of them. Left out: hyper increase halves timer and counter, and the first step after a
 * cut divides a target of more than ten times the rate by eight. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr double RECOVERED = 0.999; // part of the line rate above which the rate is no longer limited

void begin_dcqcn(ConnectionState& state, const PacketModel& model)
{
  state.alpha = model.dcqcn.initial_alpha;
}

void increase_rate(ConnectionState& state, const DcqcnModel& model)
{
  const int most  = std::max(state.timer_stage, state.byte_stage);
  const int least = std::min(state.timer_stage, state.byte_stage);
  if (least >= model.fast_recovery)
    state.target += model.hyper_increase.value() * (least - model.fast_recovery + 1);
  else if (most >= model.fast_recovery)
    state.target += model.additive_increase.value();
  state.target = std::min(state.target, state.line_rate);
  state.rate   = (state.rate + state.target) / 2;
  if (state.rate < RECOVERED * state.line_rate)
    return;
  state.rate = ConnectionState::UNLIMITED;
  state.due  = ConnectionState::UNLIMITED;
}

void send_by_dcqcn(ConnectionState& state, const PacketModel& model, double bytes)
{
  if (state.rate == ConnectionState::UNLIMITED)
    return;
  state.counted += bytes;
  if (state.counted < model.dcqcn.byte_counter.value())
    return;
  state.counted = 0;
  increase_rate(state, model.dcqcn);
  ++state.byte_stage;
}

void cut_by_dcqcn(ConnectionState& state, const PacketModel& model, double now)
{
  const DcqcnModel& dcqcn = model.dcqcn;
  if (state.last_change >= 0) // alpha decreases after each interval without notification
    state.alpha *= std::pow(1 - dcqcn.g, std::floor((now - state.last_change) / dcqcn.alpha_interval.value()));
  state.last_change = now;
  state.alpha       = (1 - dcqcn.g) * state.alpha + dcqcn.g;
  const double rate = std::min(state.rate, state.line_rate);
  const bool clamps = dcqcn.clamp_target == ClampTarget::always || state.timer_stage > 0 || state.byte_stage > 0;
  if (clamps || state.target == 0)
    state.target = rate;
  state.rate        = std::max(dcqcn.minimum_rate.value(), rate * (1 - state.alpha / 2));
  state.timer_stage = 0;
  state.byte_stage  = 0;
  state.counted     = 0;
  state.due         = now + dcqcn.increase_timer.value();
}

void increase_by_timer(ConnectionState& state, const PacketModel& model, double now)
{
  state.due = now + model.dcqcn.increase_timer.value();
  increase_rate(state, model.dcqcn);
  ++state.timer_stage;
}

} // namespace

const CongestionControlRow& dcqcn_row()
{
  static const CongestionControlRow ROW{.kind     = CongestionControl::dcqcn,
                                        .begin    = begin_dcqcn,
                                        .sent     = send_by_dcqcn,
                                        .notified = cut_by_dcqcn,
                                        .due      = increase_by_timer};
  return ROW;
}

} // namespace weft
