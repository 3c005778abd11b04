// SPDX-License-Identifier: LGPL-2.1-only
/* Tests with minimum-size frames, 1 ns per hit and 4 ns per miss: 84 GB/s and 21 GB/s. */
#include "model/forwarding/forwarding_port.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr Bytes FRAME(84);
constexpr double ALL_HIT  = 84e9;
constexpr double ALL_MISS = 21e9;

ForwardingModel cache_of(int entries, int ways)
{
  ForwardingModel model;
  model.kind          = "cache";
  model.interval      = Seconds(1e-9);
  model.tcam_interval = Seconds(4e-9);
  model.frame         = FRAME;
  model.entries       = entries;
  model.ways          = ways;
  return model;
}

/** A port and the messages that cross it; each has a tag and a number of frames. */
class Crossed {
  ForwardingModel model_;
  ForwardingPort port_{model_};
  LookupCounters counters_;

public:
  explicit Crossed(ForwardingModel model) : model_(std::move(model)) {}

  void enter(std::uint64_t message, ForwardingTag tag, double frames, Seconds begins = {}, double factor = 1)
  {
    const bool hit = port_.look_up(tag, static_cast<int>(tag), begins);
    port_.enter(message, tag, static_cast<int>(tag), hit, FRAME * frames, FRAME * frames / factor, begins);
  }
  void leave(std::uint64_t message, Seconds now = {}) { port_.leave(message, now, counters_); }
  double rate(Seconds now = {}) { return port_.rate(now); }
  void repeat(std::uint64_t message) { port_.repeat(message); }
  const LookupCounters& counters() const { return counters_; }
};

TEST(ForwardingPort, ASingleMessageHitsAfterItsFirstPacket)
{
  Crossed port(cache_of(8, 4));
  port.enter(1, 5, 1000);
  EXPECT_NEAR(port.rate(), 84 * 1000 / 1003e-9, 1); // the first has missed
  port.leave(1);
  port.enter(2, 5, 1000);
  EXPECT_NEAR(port.rate(), ALL_HIT, 1);
}

TEST(ForwardingPort, ThrashesIfMessagesEvictEachOther)
{
  Crossed port(cache_of(1, 1));
  port.enter(1, 1, 1000);
  EXPECT_GT(port.rate(), 0.99 * ALL_HIT);
  port.enter(2, 2, 1000);
  EXPECT_NEAR(port.rate(), ALL_MISS, 1);
  port.leave(1);
  EXPECT_GT(port.rate(), 0.99 * ALL_HIT);
}

TEST(ForwardingPort, AllHitUpToAsManyTagsPerSetAsWays)
{
  Crossed port(cache_of(8, 4)); // two sets: even tags and odd tags
  for (std::uint64_t message = 0; message < 4; ++message)
    port.enter(message, static_cast<ForwardingTag>(2 * message), 1e6);
  EXPECT_NEAR(port.rate(), ALL_HIT, 1e-4 * ALL_HIT);
  port.enter(4, 8, 1e6);
  EXPECT_NEAR(port.rate(), ALL_MISS, 1e-4 * ALL_MISS);
  port.enter(5, 1, 1e6); // in the second set: one of six messages hits
  EXPECT_NEAR(port.rate(), 84e9 * 6 / (5 * 4 + 1), 1e-4 * ALL_HIT);
}

TEST(ForwardingPort, RandomReplacementKeepsSomeTags)
{
  ForwardingModel model = cache_of(8, 8);
  model.replacement     = Replacement::random;
  Crossed port(model);
  for (std::uint64_t message = 0; message < 12; ++message)
    port.enter(message, static_cast<ForwardingTag>(message), 1e6);
  EXPECT_GT(port.rate(), 1.2 * ALL_MISS);
  EXPECT_LT(port.rate(), 0.9 * ALL_HIT);
}

TEST(ForwardingPort, ChargesOnePacketMessagesByTheirLookup)
{
  Crossed port(cache_of(1, 1));
  for (std::uint64_t message = 0; message < 6; ++message)
    port.enter(message, message < 3 ? 0 : static_cast<ForwardingTag>(message), 1); // 0: a miss and two hits
  EXPECT_NEAR(port.rate(), 84e9 * 6 / (4 * 4 + 2), 1);
}

TEST(ForwardingPort, CountsOnlyMessagesThatHaveBegun)
{
  Crossed port(cache_of(1, 1));
  port.enter(1, 1, 1000);
  port.enter(2, 2, 1000, Seconds(1e-6));
  EXPECT_GT(port.rate(), 0.99 * ALL_HIT);
  EXPECT_NEAR(port.rate(Seconds(1e-6)), ALL_MISS, 1);
}

TEST(ForwardingPort, SearchesATcamForEveryPacket)
{
  ForwardingModel model;
  model.kind     = "tcam";
  model.interval = Seconds(4e-9);
  Crossed port(model);
  EXPECT_EQ(port.rate(), std::numeric_limits<double>::infinity());
  port.enter(1, 1, 1);
  EXPECT_NEAR(port.rate(), 1518 / 4e-9 * 84 / 1518, 1); // one packet, however short the message
  port.repeat(1);
  EXPECT_NEAR(port.rate(), ALL_MISS, 1); // so is the second
}

TEST(ForwardingPort, BoundsTheVolumeOnTheLink)
{
  Crossed port(cache_of(8, 4));
  port.enter(1, 1, 1e6, {}, 0.5); // occupies twice its size
  EXPECT_NEAR(port.rate(), 2 * ALL_HIT, 1e-4 * ALL_HIT);
}

TEST(ForwardingPort, IntegratesPacketHitsOverTime)
{
  Crossed port(cache_of(1, 1));
  port.enter(1, 1, 1001);
  port.rate();
  port.enter(2, 2, 1001, Seconds(1e-6));
  port.rate(Seconds(1e-6));
  port.leave(1, Seconds(4e-6)); // alone for a quarter of its time
  EXPECT_NEAR(port.counters().packets, 1001, 1e-9);
  EXPECT_NEAR(port.counters().packet_hits, 250, 1e-6);
}

TEST(ForwardingPort, FlushesWhenRoutesChange)
{
  ForwardingModel model = cache_of(8, 4);
  model.flush_at        = Seconds(2e-6);
  ForwardingPort port(model);
  EXPECT_FALSE(port.look_up(5, 1, Seconds(0)));
  EXPECT_TRUE(port.look_up(5, 1, Seconds(1e-6)));
  EXPECT_FALSE(port.look_up(5, 2, Seconds(2e-6))); // not the port that was cached
  EXPECT_TRUE(port.look_up(5, 2, Seconds(3e-6)));
}

} // namespace
} // namespace weft
