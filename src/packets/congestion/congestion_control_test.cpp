// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/congestion/congestion_control.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace weft {
namespace {

constexpr double LINE = 5e9; // 40 Gb/s

ConnectionState begun(const CongestionControlRow& row, const PacketModel& model)
{
  ConnectionState state;
  state.line_rate = LINE;
  row.begin(state, model);
  return state;
}

TEST(CongestionControl, HasARowForEachName)
{
  EXPECT_EQ(find_congestion_control(CongestionControl::none), nullptr);
  for (const auto& [kind, name] : named_rows<CongestionControl>())
    if (kind != CongestionControl::none) {
      ASSERT_NE(find_congestion_control(kind), nullptr) << name;
      EXPECT_EQ(find_congestion_control(kind)->kind, kind);
    }
}

TEST(Dcqcn, CutsByHalfOfAlphaAndRecovers)
{
  const PacketModel model;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  EXPECT_EQ(state.rate, ConnectionState::UNLIMITED);
  row.notified(state, model, 0);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 2); // alpha is 1
  EXPECT_DOUBLE_EQ(state.due, 60e-6);
  row.due(state, model, 60e-6); // fast recovery: half of the distance to the rate before the cut
  EXPECT_DOUBLE_EQ(state.rate, 0.75 * LINE);
  for (int step = 2; step <= 5; ++step)
    row.due(state, model, 60e-6 * step);
  EXPECT_DOUBLE_EQ(state.rate, LINE * (1 - std::pow(0.5, 6)));
  EXPECT_DOUBLE_EQ(state.target, LINE);
}

TEST(Dcqcn, AlphaDecaysWithoutNotifications)
{
  const PacketModel model;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  row.notified(state, model, 10.5 * 55e-6);
  const double kept = 1 - model.dcqcn.g;
  EXPECT_DOUBLE_EQ(state.alpha, kept * std::pow(kept, 10) + model.dcqcn.g);
  EXPECT_DOUBLE_EQ(state.target, LINE / 2);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 2 * (1 - state.alpha / 2));
}

// Two cuts in a row: the second one halves the rate, and leaves the target where it was; a third one, after an
// increase, lowers it.
TEST(Dcqcn, KeepsItsTargetInARowOfCutsIfSaidSo)
{
  PacketModel model;
  model.dcqcn.clamp_target        = ClampTarget::after_increase;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  row.notified(state, model, 50e-6);
  EXPECT_NEAR(state.rate, LINE / 4, LINE / 1000);
  EXPECT_DOUBLE_EQ(state.target, LINE);
  row.due(state, model, 110e-6);
  EXPECT_NEAR(state.rate, 0.625 * LINE, LINE / 1000);
  row.notified(state, model, 120e-6);
  EXPECT_NEAR(state.target, 0.625 * LINE, LINE / 1000);
}

// Intervals of 4 us from the first notification, at 1 us: the one at 2 us cuts at 5 us, and that at 10 us cuts at 13
// us. The timer of 60 us begins with each cut. Alpha increases at 5 us, decreases at 9 us and increases at 13 us,
// before the cuts.
TEST(Dcqcn, CutsAtTheEndOfIntervalsIfSaidSo)
{
  PacketModel model;
  model.dcqcn.decrease_interval   = Seconds(4e-6);
  model.dcqcn.alpha_interval      = Seconds(4e-6);
  model.dcqcn.initial_alpha       = 0.5;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 1e-6);
  EXPECT_EQ(state.rate, ConnectionState::UNLIMITED);
  EXPECT_DOUBLE_EQ(state.due, 5e-6);
  row.notified(state, model, 2e-6);
  EXPECT_DOUBLE_EQ(state.due, 5e-6);
  row.due(state, model, state.due);
  const double g     = model.dcqcn.g;
  const double alpha = 0.5 * (1 - g) + g; // of the notification at 2 us: the first one only begins the interval
  EXPECT_DOUBLE_EQ(state.rate, LINE * (1 - alpha / 2));
  EXPECT_DOUBLE_EQ(state.due, 65e-6);
  row.notified(state, model, 10e-6);
  EXPECT_DOUBLE_EQ(state.due, 13e-6);
  row.due(state, model, state.due);
  EXPECT_DOUBLE_EQ(state.alpha, alpha * (1 - g) * (1 - g) + g);
  EXPECT_DOUBLE_EQ(state.rate, LINE * (1 - alpha / 2) * (1 - state.alpha / 2));
  EXPECT_DOUBLE_EQ(state.due, 73e-6);
  row.due(state, model, state.due); // an increase
  EXPECT_EQ(state.timer_stage, 1);
  EXPECT_DOUBLE_EQ(state.due, 133e-6);
}

// After one cut, the rate recovers in nine steps of the timer. Intervals still count from the first notification.
TEST(Dcqcn, CutsOnceForOneNotification)
{
  PacketModel model;
  model.dcqcn.decrease_interval   = Seconds(50e-6);
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  row.due(state, model, state.due);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 2);
  while (state.due != ConnectionState::UNLIMITED)
    row.due(state, model, state.due);
  EXPECT_EQ(state.rate, ConnectionState::UNLIMITED);
  EXPECT_EQ(state.timer_stage, 9); // 1 - 2^-10 is more than 0.999
  row.notified(state, model, 1.01e-3);
  EXPECT_DOUBLE_EQ(state.due, 1.05e-3);
}

TEST(Dcqcn, IncreasesAdditivelyAfterFastRecovery)
{
  const PacketModel model;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  row.notified(state, model, 0);
  const double target = state.target; // half of the line rate
  double time         = 0;
  for (int step = 0; step < 5; ++step)
    row.due(state, model, time += 60e-6);
  EXPECT_DOUBLE_EQ(state.target, target);
  row.due(state, model, time += 60e-6);
  EXPECT_DOUBLE_EQ(state.target, target + 5e6);
  state.byte_stage = 5; // the byte counter has passed fast recovery as well
  row.due(state, model, time += 60e-6);
  EXPECT_DOUBLE_EQ(state.target, target + 5e6 + 25e6);
}

TEST(Dcqcn, ANotLimitedConnectionHasNoTimer)
{
  const PacketModel model;
  const CongestionControlRow& row = dcqcn_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  double time = 0;
  while (state.due != ConnectionState::UNLIMITED && time < 1)
    row.due(state, model, time = state.due);
  EXPECT_EQ(state.rate, ConnectionState::UNLIMITED);
  EXPECT_NEAR(time, 9 * 60e-6, 1e-9); // 1 - 2^-10 of the line rate
}

PacketModel infiniband_model(double timer)
{
  PacketModel model;
  model.infiniband.ccti_timer = Seconds(timer);
  return model;
}

TEST(Infiniband, StandardTableGrowsWithTheSquareOfItsIndex)
{
  const InfinibandModel model;
  EXPECT_EQ(model.limit(), 127);
  EXPECT_EQ(model.delay(0), 0);
  EXPECT_EQ(model.delay(16), 0);
  EXPECT_EQ(model.delay(17), 1);
  EXPECT_EQ(model.delay(95), 32); // 7 us in units of 0.218 us
  EXPECT_EQ(model.delay(127), 57);
}

TEST(Infiniband, NotificationsLengthenTheDelayUpToTheLimit)
{
  PacketModel model               = infiniband_model(100e-6);
  model.infiniband.ccti_increase  = 3;
  const CongestionControlRow& row = infiniband_row();
  ConnectionState state           = begun(row, model);
  EXPECT_EQ(state.rate, ConnectionState::UNLIMITED);
  for (int index = 3; index <= 126; index += 3) {
    row.notified(state, model, 0);
    EXPECT_EQ(state.ccti, index);
    const double delay = model.infiniband.delay(index);
    EXPECT_DOUBLE_EQ(state.rate, delay > 0 ? LINE / (1 + delay) : ConnectionState::UNLIMITED);
  }
  row.notified(state, model, 0);
  EXPECT_EQ(state.ccti, 127);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 58);
  model.infiniband.ccti_limit = 60;
  state                       = begun(row, model);
  for (int becn = 0; becn < 30; ++becn)
    row.notified(state, model, 0);
  EXPECT_EQ(state.ccti, 60);
}

TEST(Infiniband, ATimerShortensTheDelayDownToTheLeastIndex)
{
  PacketModel model               = infiniband_model(100e-6);
  model.infiniband.ccti_min       = 20;
  const CongestionControlRow& row = infiniband_row();
  ConnectionState state           = begun(row, model);
  EXPECT_EQ(state.ccti, 20);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 2);
  EXPECT_EQ(state.due, ConnectionState::UNLIMITED);
  row.notified(state, model, 10e-6);
  row.notified(state, model, 50e-6); // does not restart the timer
  EXPECT_DOUBLE_EQ(state.due, 110e-6);
  row.due(state, model, state.due);
  EXPECT_EQ(state.ccti, 21);
  EXPECT_DOUBLE_EQ(state.due, 210e-6);
  row.due(state, model, state.due);
  EXPECT_EQ(state.ccti, 20);
  EXPECT_EQ(state.due, ConnectionState::UNLIMITED);
}

TEST(Infiniband, EntriesAreMultiplesOfAPacketShifted)
{
  PacketModel model               = infiniband_model(100e-6);
  model.infiniband.delays         = {0, 0.375, 6};
  const CongestionControlRow& row = infiniband_row();
  ConnectionState state           = begun(row, model);
  row.notified(state, model, 0);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 1.375);
  for (int becn = 0; becn < 3; ++becn)
    row.notified(state, model, 0);
  EXPECT_EQ(state.ccti, 2);
  EXPECT_DOUBLE_EQ(state.rate, LINE / 7);
}

TEST(Swift, GrowsByAPacketInARoundTripBelowItsTarget)
{
  const PacketModel model;
  const CongestionControlRow& row = swift_row();
  ConnectionState state           = begun(row, model);
  EXPECT_DOUBLE_EQ(state.window, 12 * 4096);
  for (int packet = 0; packet < 12; ++packet)
    row.acknowledged(state, model, {1e-6 * packet, 10e-6, 4096, 4});
  EXPECT_NEAR(state.packets, 13, 0.05);
}

TEST(Swift, CutsOnceInARoundTripByTheExcess)
{
  const PacketModel model;
  const CongestionControlRow& row = swift_row();
  ConnectionState state           = begun(row, model);
  const double slope              = 100e-6 / (1 / std::sqrt(0.1) - 1 / std::sqrt(100.0));
  const double target             = 20e-6 + 4 * 20e-6 / 6.55 + slope / std::sqrt(12.0) - slope / std::sqrt(100.0);
  const double delay              = 1.5 * target;
  row.acknowledged(state, model, {1e-3, delay, 4096, 4});
  const double once = 12 * (1 - 0.8 / 3);
  EXPECT_NEAR(state.packets, once, 1e-9);
  row.acknowledged(state, model, {1e-3 + delay / 2, delay, 4096, 4});
  EXPECT_NEAR(state.packets, once, 1e-9);
  row.acknowledged(state, model, {3, 1, 4096, 4}); // never by more than half
  EXPECT_NEAR(state.packets, once / 2, 1e-9);
}

TEST(Swift, PacesBelowOnePacket)
{
  const PacketModel model;
  const CongestionControlRow& row = swift_row();
  ConnectionState state           = begun(row, model);
  for (int cut = 0; cut < 5; ++cut)
    row.acknowledged(state, model, {1.0 + cut, 1e-3, 4096, 4});
  EXPECT_LT(state.packets, 1);
  EXPECT_DOUBLE_EQ(state.window, 4096);
  EXPECT_DOUBLE_EQ(state.rate, state.packets * 4096 / 1e-3);
}

/** Answers packets whose round trips are @p delays, each sent just after the one before was answered. */
ConnectionState timely_after(const std::vector<double>& delays)
{
  const PacketModel model;
  ConnectionState state = begun(timely_row(), model);
  double now            = 0;
  for (const double delay : delays)
    timely_row().acknowledged(state, model, {now += delay + 1e-9, delay, 4096, 4});
  return state;
}

TEST(Timely, FollowsTheGradientBetweenItsThresholds)
{
  EXPECT_EQ(timely_after({40e-6, 45e-6}).rate, ConnectionState::UNLIMITED);                    // below low
  EXPECT_NEAR(timely_after({100e-6, 104e-6}).rate, LINE * (1 - 0.8 * 0.875 * 4 / 20), 1);      // of 20 us
  EXPECT_NEAR(timely_after({100e-6, 104e-6, 80e-6}).rate, LINE * (0.86 + 1.0 / 1000), 1);      // falls
  EXPECT_NEAR(timely_after({100e-6, 1000e-6}).rate, LINE * (1 - 0.8 * (1 - 500.0 / 1000)), 1); // above high
  EXPECT_NEAR(timely_after({100e-6, 300e-6}).rate, 100e6 / 8, 1);                              // steep
}

TEST(Timely, IncreasesMoreAfterFiveSteps)
{
  const PacketModel model;
  ConnectionState state = timely_after({100e-6, 104e-6});
  const double low      = state.rate;
  double now            = 1e-3;
  for (int step = 0; step < 7; ++step)
    timely_row().acknowledged(state, model, {now += 40e-6, 40e-6, 4096, 4});
  EXPECT_NEAR(state.rate, low + LINE * (5.0 / 1000 + 2.0 / 200), 1);
}

TEST(Timely, ChangesOnceInARoundTrip)
{
  const PacketModel model;
  ConnectionState state = timely_after({100e-6, 104e-6});
  const double once     = state.rate;
  timely_row().acknowledged(state, model, {210e-6, 110e-6, 4096, 4}); // sent at 100 us, before the change at 204 us
  EXPECT_EQ(state.rate, once);
}

// ---- NSCC, in the network that its increases refer to: 100 Gb/s, 12 us

constexpr double ROUND  = 12e-6;
constexpr double BYTES  = 4096; // of a packet
constexpr double MSS    = BYTES - 64;
constexpr double WINDOW = 100e3;
constexpr double ETA    = 0.15 * MSS; // the first answer adds it

ConnectionState begun_nscc(const PacketModel& model)
{
  ConnectionState state;
  state.line_rate  = 100e9 / 8;
  state.round_trip = ROUND;
  nscc_row().begin(state, model);
  return state;
}

/** Returns the window after a first answer that was in queues for @p queued. */
double window_after(double queued, bool marked, double average = 0)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  state.window          = WINDOW;
  state.delay           = average;
  nscc_row().acknowledged(state, model, {1e-3, ROUND + queued, BYTES, 6, marked, WINDOW});
  return state.window;
}

TEST(Nscc, BeginsWithTheLargestWindow)
{
  PacketModel model;
  EXPECT_DOUBLE_EQ(begun_nscc(model).window, 1.5 * 150e3);
  model.nscc.initial_window = 10;
  EXPECT_DOUBLE_EQ(begun_nscc(model).window, 10 * BYTES);
}

TEST(Nscc, MarkAndDelayChooseTheReaction)
{
  // The target is 9 us. In proportion to its rest, the same for all, none, and a cut by 0.8 of the excess.
  EXPECT_NEAR(window_after(3e-6, false), WINDOW + 4 * MSS * 0.75 * BYTES * (6.0 / 9) / WINDOW + ETA, 1e-6);
  EXPECT_NEAR(window_after(12e-6, false), WINDOW + 5 * MSS * BYTES / WINDOW + ETA, 1e-6);
  EXPECT_NEAR(window_after(3e-6, true), WINDOW + ETA, 1e-6);
  EXPECT_NEAR(window_after(12e-6, true, 12e-6), WINDOW * (1 - 0.8 * 3 / 12) + ETA, 1e-6);
  EXPECT_NEAR(window_after(60e-6, true, 60e-6), WINDOW / 2 + ETA, 1e-6); // never by more than half
  EXPECT_NEAR(window_after(12e-6, true, 6e-6), WINDOW + ETA, 1e-6);      // the average is below the target
}

TEST(Nscc, CutsOnceInARoundTrip)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  state.delay           = 18e-6;
  for (const double later : {0.0, ROUND / 2, 0.9 * ROUND})
    nscc_row().acknowledged(state, model, {1e-3 + later, ROUND + 18e-6, BYTES, 6, true, WINDOW});
  EXPECT_NEAR(state.window, 225e3 * (1 - 0.8 / 2) + ETA, 1e-6);
  nscc_row().acknowledged(state, model, {1e-3 + 1.1 * ROUND, ROUND + 18e-6, BYTES, 6, true, WINDOW});
  EXPECT_LT(state.window, 100e3);
}

TEST(Nscc, GrowsFastAfterAWindowWithoutDelay)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  state.window          = 2 * BYTES;
  for (int packet = 0; packet < 4; ++packet)
    nscc_row().acknowledged(state, model, {1e-9 * packet, ROUND, BYTES, 6, false, BYTES});
  EXPECT_NEAR(state.window, 2 * BYTES + 2 * 0.25 * BYTES, 1e-6); // the first two were the window
}

TEST(Nscc, ATrimmedPacketLeavesTheWindow)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  nscc_row().trimmed(state, model, {1e-3, ROUND, BYTES, 6, false, WINDOW});
  EXPECT_DOUBLE_EQ(state.window, 225e3 - BYTES);
  for (int packet = 0; packet < 100; ++packet)
    nscc_row().trimmed(state, model, {1e-3, ROUND, BYTES, 6, false, WINDOW});
  EXPECT_DOUBLE_EQ(state.window, BYTES);
}

TEST(Nscc, AdaptsQuicklyIfLittleArrives)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  nscc_row().trimmed(state, model, {1e-3, ROUND, BYTES, 6, false, WINDOW}); // begins an interval of 21 us
  for (int packet = 0; packet < 3; ++packet)
    nscc_row().acknowledged(state, model, {1.001e-3, ROUND, BYTES, 6, false, WINDOW});
  nscc_row().trimmed(state, model, {1.022e-3, ROUND, BYTES, 6, false, 5 * BYTES});
  EXPECT_DOUBLE_EQ(state.window, 3 * BYTES);
  for (int packet = 0; packet < 5; ++packet) // of what was in flight
    nscc_row().trimmed(state, model, {1.023e-3, ROUND, BYTES, 6, false, 5 * BYTES});
  EXPECT_NEAR(state.window, 2 * BYTES, BYTES);
}

TEST(Nscc, ATimeoutLeavesOnePacket)
{
  const PacketModel model;
  ConnectionState state = begun_nscc(model);
  nscc_row().lost(state, model, 1e-3);
  EXPECT_DOUBLE_EQ(state.window, BYTES);
}

} // namespace
} // namespace weft
