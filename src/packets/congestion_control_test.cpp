// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/congestion_control.hpp"

#include <cmath>
#include <gtest/gtest.h>

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

} // namespace
} // namespace weft
