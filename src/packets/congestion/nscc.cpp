// SPDX-License-Identifier: LGPL-2.1-only
/* NSCC, the congestion control of senders in Ultra Ethernet, as its authors' simulator has it (ultraethernet/uet-htsim,
 * sim/uec.cpp). The queueing delay of an acknowledged packet and its mark choose one of four reactions:
 *
 *             | delay below the target                    | delay above the target
 *   no mark   | increase in proportion to the difference  | fair increase: the same for all connections
 *   mark      | none                                      | decrease by the average delay, once in a round trip
 *
 * Increases are collected, and take effect after eight packets or a round trip, together with a small one (eta). A
 * trimmed packet takes its bytes from the window. If less than an eighth of the largest window arrives in a round trip
 * with losses, the window becomes what has arrived (quick adapt); answers to what was in flight then count for nothing.
 *
 * The round trip without queues is the shortest one that the connection has measured. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr double REFERENCE_S        = 12e-6; // round trip and bytes in flight of the network that increases refer to
constexpr double REFERENCE_BYTES    = REFERENCE_S * 100e9 / 8;
constexpr double TARGET_ROUND_TRIPS = 0.75; // target delay
constexpr double ADAPT_TARGETS      = 4;    // delay above which the window may adapt quickly
constexpr double NO_DELAY_S         = 1e-6;
constexpr double ADJUSTED_PACKETS   = 8;    // after which increases take effect
constexpr double SHORT_QUEUE        = 0.25; // of the round trip: a long delay without mark in the average

double target_of(const ConnectionState& state, const NsccModel& nscc)
{
  return nscc.target_delay > Seconds() ? nscc.target_delay.value() : TARGET_ROUND_TRIPS * state.round_trip;
}

/** Returns bytes in flight at line rate, relative to the reference network. */
double scale_of(const ConnectionState& state)
{
  return state.line_rate * state.round_trip / REFERENCE_BYTES;
}

double payload_of(const PacketModel& model)
{
  return std::max(1.0, (model.packet - model.control_packet).value());
}

double largest_window(const ConnectionState& state, const PacketModel& model)
{
  return std::max(model.nscc.most_window * state.line_rate * state.shortest, model.packet.value());
}

void bound_window(ConnectionState& state, const PacketModel& model)
{
  state.window = std::clamp(state.window, model.packet.value(), largest_window(state, model));
}

void begin_nscc(ConnectionState& state, const PacketModel& model)
{
  state.shortest = state.round_trip;
  state.window   = model.nscc.initial_window > 0 ? std::max(1.0, model.nscc.initial_window) * model.packet.value()
                                                 : largest_window(state, model);
}

/** Takes a queueing delay into the average. */
void average_delay(ConnectionState& state, const NsccModel& nscc, double delay, bool marked)
{
  const bool drained = not marked && delay > target_of(state, nscc); // the queue was short when it left
  state.delay += nscc.delay_weight * ((drained ? SHORT_QUEUE * state.shortest : delay) - state.delay);
}

/** Returns whether the window has adapted, or what arrives was in flight when it did. */
bool adapt_quickly(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet, double delay,
                   bool signalled)
{
  const double target = target_of(state, model.nscc);
  bool adapted        = state.ignored < state.to_ignore && signalled;
  if (not adapted && packet.now > state.adapt_at) {
    if (state.adapt_at > 0 && (state.trimmed || delay > ADAPT_TARGETS * target) &&
        state.achieved < model.nscc.quick_adapt * largest_window(state, model)) {
      state.window    = std::max(state.achieved, model.packet.value());
      state.to_ignore = packet.in_flight;
      state.ignored   = 0;
      state.trimmed   = false;
      adapted         = true;
    }
    state.achieved = 0;
    state.adapt_at = packet.now + state.shortest + target;
  }
  if (adapted) {
    state.increase = 0;
    state.received = 0;
  }
  return adapted;
}

void increase_in_proportion(ConnectionState& state, const PacketModel& model, double bytes, double delay)
{
  const NsccModel& nscc = model.nscc;
  if (delay < NO_DELAY_S) {
    state.undelayed += bytes;
    state.fast = state.fast || state.undelayed > state.window;
  } else {
    state.undelayed = 0;
    state.fast      = false;
  }
  if (state.fast) {
    state.window += bytes * nscc.fast_increase * scale_of(state);
    return;
  }
  const double target = target_of(state, nscc);
  state.increase += nscc.proportional_increase * payload_of(model) * scale_of(state) * (target / REFERENCE_S) * bytes *
                    (target - delay) / target;
}

void decrease_window(ConnectionState& state, const NsccModel& nscc, double now)
{
  state.fast          = false;
  state.undelayed     = 0;
  const double target = target_of(state, nscc);
  if (state.delay <= target || (state.last_change >= 0 && now - state.last_change <= state.shortest))
    return;
  state.window *= std::max(1 - nscc.gamma * (state.delay - target) / state.delay, 1 - nscc.largest_cut);
  state.last_change = now;
}

void apply_increases(ConnectionState& state, const PacketModel& model, double now)
{
  state.window += state.increase / state.window;
  if (now - state.adjusted_at >= state.round_trip) {
    state.window += model.nscc.eta * payload_of(model) * scale_of(state);
    state.adjusted_at = now;
  }
  state.increase = 0;
  state.received = 0;
}

void follow_marks_and_delay(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet)
{
  state.achieved += packet.bytes;
  state.received += packet.bytes;
  state.ignored += packet.bytes;
  state.shortest     = std::min(state.shortest, packet.delay);
  const double delay = packet.delay - state.shortest;
  average_delay(state, model.nscc, delay, packet.marked);
  if (adapt_quickly(state, model, packet, delay, packet.marked))
    return;
  const bool is_long = delay >= target_of(state, model.nscc);
  if (packet.marked && is_long)
    decrease_window(state, model.nscc, packet.now);
  else if (is_long)
    state.increase += model.nscc.fair_increase * payload_of(model) * scale_of(state) * packet.bytes;
  else if (not packet.marked)
    increase_in_proportion(state, model, packet.bytes, delay);
  bound_window(state, model);
  if (state.received > ADJUSTED_PACKETS * model.packet.value() || packet.now - state.adjusted_at > state.round_trip)
    apply_increases(state, model, packet.now);
  bound_window(state, model);
}

void follow_trimming(ConnectionState& state, const PacketModel& model, const AcknowledgedPacket& packet)
{
  state.shortest = std::min(state.shortest, packet.delay);
  state.ignored += packet.bytes;
  average_delay(state, model.nscc, state.round_trip, true); // queues that trim hold about a round trip
  state.trimmed = true;
  if (adapt_quickly(state, model, packet, 0, true))
    return;
  state.window -= packet.bytes;
  bound_window(state, model);
}

/** With trimming, a timeout means that links have lost all that was in flight. */
void begin_again(ConnectionState& state, const PacketModel& model, double /*now*/)
{
  state.window = model.packet.value();
}

} // namespace

const CongestionControlRow& nscc_row()
{
  static const CongestionControlRow ROW{.kind         = CongestionControl::nscc,
                                        .begin        = begin_nscc,
                                        .acknowledged = follow_marks_and_delay,
                                        .lost         = begin_again,
                                        .trimmed      = follow_trimming};
  return ROW;
}

} // namespace weft
