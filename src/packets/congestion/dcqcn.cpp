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
 * cut divides a target of more than ten times the rate by eight.
 *
 * With decrease_interval, the state machine is that of NICs, as HPCC's simulator has it (rdma-hw.cc): intervals of
 * alpha and of decreases begin with a connection's first notification. Alpha is only updated when it counts. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

constexpr double RECOVERED = 0.999; // part of the line rate above which the rate is no longer limited
constexpr double SAME_TIME = 1e-9;  // seconds: intervals that end together, despite rounding

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
  state.rate        = ConnectionState::UNLIMITED;
  state.increase_at = ConnectionState::UNLIMITED;
  state.due         = state.decrease_at;
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

void cut_rate(ConnectionState& state, const DcqcnModel& dcqcn, double now)
{
  const double rate = std::min(state.rate, state.line_rate);
  const bool clamps = dcqcn.clamp_target == ClampTarget::always || state.timer_stage > 0 || state.byte_stage > 0;
  if (clamps || state.target == 0)
    state.target = rate;
  state.rate        = std::max(dcqcn.minimum_rate.value(), rate * (1 - state.alpha / 2));
  state.timer_stage = 0;
  state.byte_stage  = 0;
  state.counted     = 0;
  state.increase_at = now + dcqcn.increase_timer.value();
  state.due         = std::min(state.increase_at, state.decrease_at);
}

/** Updates alpha for the intervals that have ended since the last update. */
void end_alpha_intervals(ConnectionState& state, const DcqcnModel& dcqcn, double now)
{
  const double ended = std::floor((now - state.begun + SAME_TIME) / dcqcn.alpha_interval.value());
  double left        = ended - state.alpha_updates;
  if (left < 1)
    return;
  state.alpha_updates = ended;
  if (std::exchange(state.raises_alpha, false)) {
    state.alpha = (1 - dcqcn.g) * state.alpha + dcqcn.g;
    --left;
  }
  state.alpha *= std::pow(1 - dcqcn.g, left);
}

/** Lets the interval in which a notification came end with a cut. */
void expect_cut(ConnectionState& state, const DcqcnModel& dcqcn, double now)
{
  if (state.begun < 0) {
    state.begun = now;
  } else {
    end_alpha_intervals(state, dcqcn, now);
    state.raises_alpha = true;
  }
  if (state.decrease_at != ConnectionState::UNLIMITED)
    return;
  const double interval = dcqcn.decrease_interval.value();
  state.decrease_at     = state.begun + (std::floor((now - state.begun + SAME_TIME) / interval) + 1) * interval;
  state.due             = std::min(state.due, state.decrease_at);
}

void notify_dcqcn(ConnectionState& state, const PacketModel& model, double now)
{
  const DcqcnModel& dcqcn = model.dcqcn;
  if (dcqcn.decrease_interval > Seconds()) {
    expect_cut(state, dcqcn, now);
    return;
  }
  if (state.last_change >= 0) // alpha decreases after each interval without notification
    state.alpha *= std::pow(1 - dcqcn.g, std::floor((now - state.last_change) / dcqcn.alpha_interval.value()));
  state.last_change = now;
  state.alpha       = (1 - dcqcn.g) * state.alpha + dcqcn.g;
  cut_rate(state, dcqcn, now);
}

void change_by_timer(ConnectionState& state, const PacketModel& model, double now)
{
  const DcqcnModel& dcqcn = model.dcqcn;
  if (state.decrease_at <= now) {
    end_alpha_intervals(state, dcqcn, now);
    state.decrease_at = ConnectionState::UNLIMITED;
    cut_rate(state, dcqcn, now);
    return;
  }
  state.increase_at = now + dcqcn.increase_timer.value();
  state.due         = std::min(state.increase_at, state.decrease_at);
  increase_rate(state, dcqcn);
  ++state.timer_stage;
}

} // namespace

const CongestionControlRow& dcqcn_row()
{
  static const CongestionControlRow ROW{.kind     = CongestionControl::dcqcn,
                                        .begin    = begin_dcqcn,
                                        .sent     = send_by_dcqcn,
                                        .notified = notify_dcqcn,
                                        .due      = change_by_timer};
  return ROW;
}

} // namespace weft
