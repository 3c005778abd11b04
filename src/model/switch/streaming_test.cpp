// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

// Packets of 100 B payload and 25 B overhead, 4 slots.

SwitchModel small()
{
  SwitchModel model;
  model.slots           = 4;
  model.payload         = Bytes(100);
  model.packet_overhead = Bytes(25);
  return model;
}

TEST(PacketTrain, DividesAMessageIntoPackets)
{
  const SwitchModel model = small();
  const auto expect       = [&](double message, std::int64_t packets, double wire, std::int64_t slots) {
    const PacketTrain train = packet_train(model, Bytes(message));
    EXPECT_EQ(train.packets, packets) << message;
    EXPECT_EQ(train.wire, Bytes(wire)) << message;
    EXPECT_EQ(train.slots, slots) << message;
  };
  expect(0, 0, 0, 0);
  expect(1, 1, 26, 1);
  expect(100, 1, 125, 1);
  expect(101, 2, 151, 2);
  expect(400, 4, 500, 4);
  expect(401, 5, 526, 4);
  expect(1e9, 10'000'000, 1.25e9, 4);
}

TEST(StreamingTime, IsTheWireTimeWhileSlotsAreFree)
{
  const SwitchModel model = small();
  const BytesPerSecond line(1000);
  const Seconds turnaround(10);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(1), line, turnaround).value(), 0.026);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(100), line, turnaround).value(), 0.125);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(399), line, turnaround).value(), 0.499);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(400), line, turnaround).value(), 0.5);
}

TEST(StreamingTime, WaitsATurnaroundPerEarlierWindow)
{
  const SwitchModel model = small();
  const BytesPerSecond line(1000);
  const Seconds turnaround(10);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(401), line, turnaround).value(), 10 + 0.026);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(800), line, turnaround).value(), 10 + 0.5);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(801), line, turnaround).value(), 20 + 0.026);
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(400e6), line, turnaround).value(), 999'999 * 10 + 0.5);
}

TEST(StreamingTime, IsTheWireTimeIfTheLinkIsTheBottleneck)
{
  const SwitchModel model = small();
  const BytesPerSecond line(1000);
  for (const double turnaround : {0.0, 0.25, 0.5})
    EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(801), line, Seconds(turnaround)).value(), 1.026) << turnaround;
  EXPECT_DOUBLE_EQ(streaming_time(model, Bytes(801), line, Seconds(0.75)).value(), 1.526);
}

/** Random switches and messages with a fixed seed. */
class RandomSizes : public testing::Test {
protected:
  std::mt19937 random{20240229};
  SwitchModel model;
  BytesPerSecond line;
  Seconds turnaround;

  int below(int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }
  /** Draws a size from 1 to about a million, uniform in its logarithm. */
  Bytes size() { return Bytes(std::ceil(std::exp2(below(20'000) / 1000.0))); }
  void draw()
  {
    model.slots           = 1 + below(512);
    model.payload         = Bytes(1 + below(4096));
    model.packet_overhead = Bytes(below(100));
    line                  = BytesPerSecond(1e6 * (1 + below(100'000)));
    turnaround            = Seconds(1e-9 * below(100'000));
  }
  Seconds time(Bytes message) { return streaming_time(model, message, line, turnaround); }
};

constexpr int DRAWS = 2000;

TEST_F(RandomSizes, LongerMessagesNeverTakeLess)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw();
    const Bytes one   = size();
    const Bytes other = size();
    EXPECT_LE(time(std::min(one, other)).value(), time(std::max(one, other)).value() * (1 + 1e-12));
    EXPECT_LT(time(one), time(one + Bytes(1)));
  }
}

TEST_F(RandomSizes, NoMessageIsFasterThanTheLine)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw();
    const Bytes message     = size();
    const double efficiency = model.payload / (model.payload + model.packet_overhead);
    EXPECT_GE(time(message).value(), (message / line).value() / efficiency * (1 - 1e-12));
  }
}

TEST_F(RandomSizes, NoMessageIsFasterThanAWindowATurnaround)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw();
    const Bytes message  = size();
    const double windows = std::ceil(message / model.window());
    EXPECT_GE(time(message).value(), (windows - 1) * turnaround.value());
    // ... and streaming is never slower than waiting for each packet.
    EXPECT_LE(time(message).value(),
              ((packet_train(model, message).wire / line).value() + windows * turnaround.value()) * (1 + 1e-12));
  }
}

TEST_F(RandomSizes, PacketsCarryTheMessageAndNoMore)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw();
    const Bytes message     = size();
    const PacketTrain train = packet_train(model, message);
    const auto packets      = static_cast<double>(train.packets);
    EXPECT_GE(model.payload * packets, message);
    EXPECT_LT(model.payload * (packets - 1), message);
    EXPECT_EQ(train.wire, message + model.packet_overhead * packets);
    EXPECT_EQ(train.slots, std::min<std::int64_t>(train.packets, model.slots));
  }
}

TEST(CompleteWindows, WhatFollowsTheLastIsLeft)
{
  EXPECT_DOUBLE_EQ(part_after_complete_windows(2.5, 1 - 1.5 / 2.5), 1.5 / 2.5);
  EXPECT_DOUBLE_EQ(part_after_complete_windows(2.5, 1 - 2.2 / 2.5), 0.5 / 2.5);
  EXPECT_DOUBLE_EQ(part_after_complete_windows(2.5, 1 - 0.9 / 2.5), 1);
  EXPECT_DOUBLE_EQ(part_after_complete_windows(1, 0.1), 1); // no longer than a window
  EXPECT_DOUBLE_EQ(part_after_complete_windows(4, 1), 1);
  EXPECT_DOUBLE_EQ(part_after_complete_windows(4, 0), 0);
}

TEST(CompleteWindows, OneThatEndsNowIsCompleteDespiteRounding)
{
  for (const double windows : {4.0, 1000.5})
    for (const double rounding : {-1e-13, 0.0, 1e-13})
      EXPECT_DOUBLE_EQ(part_after_complete_windows(windows, (windows - 2) / windows + rounding),
                       (windows - 2) / windows);
}

} // namespace
} // namespace weft
