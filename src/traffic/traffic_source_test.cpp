// SPDX-License-Identifier: LGPL-2.1-only
#include "traffic/traffic_source.hpp"

#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr int HOSTS = 40;

TrafficLoad load_of(TrafficPattern pattern)
{
  TrafficLoad load;
  load.pattern = pattern;
  load.hosts.resize(HOSTS);
  std::iota(load.hosts.begin(), load.hosts.end(), 100);
  load.bytes = Bytes(1000);
  load.rate  = BytesPerSecond(1e6);
  return load;
}

TEST(TrafficSource, gaps_are_exponential_with_the_rate)
{
  const TrafficSource source(load_of(TrafficPattern::uniform));
  constexpr int COUNT = 20000;
  double sum          = 0;
  double squares      = 0;
  for (std::uint32_t number = 0; number < COUNT; ++number) {
    const double gap = source.gap(3, number).value();
    EXPECT_GT(gap, 0);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / COUNT;
  EXPECT_NEAR(mean, 1e-3, 3 * 1e-3 / std::sqrt(COUNT)); // 1,000 bytes at 1 MB/s, three standard errors
  EXPECT_NEAR(squares / COUNT, 2 * mean * mean, 0.1 * mean * mean);
}

TEST(TrafficSource, uniform_messages_go_to_all_other_hosts_equally)
{
  const TrafficSource source(load_of(TrafficPattern::uniform));
  std::vector<int> messages(HOSTS);
  constexpr std::uint32_t COUNT = 39000;
  for (std::uint32_t number = 0; number < COUNT; ++number)
    ++messages[static_cast<std::size_t>(source.destination(7, number) - 100)];
  EXPECT_EQ(messages[7], 0);
  for (int host = 0; host < HOSTS; ++host)
    EXPECT_NEAR(messages[static_cast<std::size_t>(host)], host == 7 ? 0 : 1000, 160)
        << host; // five standard deviations
}

TEST(TrafficSource, a_permutation_is_one_to_one_without_fixed_points)
{
  const TrafficSource source(load_of(TrafficPattern::permutation));
  std::set<VertexId> reached;
  for (std::size_t sender = 0; sender < HOSTS; ++sender) {
    EXPECT_NE(source.destination(sender, 0), source.load().hosts[sender]);
    EXPECT_EQ(source.destination(sender, 0), source.destination(sender, 9));
    reached.insert(source.destination(sender, 0));
  }
  EXPECT_EQ(reached.size(), HOSTS);
  TrafficLoad other = load_of(TrafficPattern::permutation);
  other.seed        = 2;
  const TrafficSource second(other);
  int equal = 0;
  for (std::size_t sender = 0; sender < HOSTS; ++sender)
    equal += second.destination(sender, 0) == source.destination(sender, 0) ? 1 : 0;
  EXPECT_LT(equal, 10);
}

TEST(TrafficSource, an_incast_meets_at_the_targets)
{
  TrafficLoad load = load_of(TrafficPattern::incast);
  load.targets     = {1, 2};
  const TrafficSource source(load);
  EXPECT_EQ(source.destination(0, 0), 1);
  EXPECT_EQ(source.destination(0, 1), 2);
  EXPECT_EQ(source.destination(1, 0), 2);
}

TEST(TrafficSource, a_hot_spot_gets_its_part)
{
  TrafficLoad load = load_of(TrafficPattern::hot_spot);
  load.targets     = {100};
  load.hot         = 0.3;
  const TrafficSource source(load);
  int hot             = 0;
  constexpr int COUNT = 10000;
  for (std::uint32_t number = 0; number < COUNT; ++number) {
    hot += source.destination(5, number) == 100 ? 1 : 0;
    EXPECT_NE(source.destination(0, number), 100); // the target does not send to itself
  }
  EXPECT_NEAR(hot / double{COUNT}, 0.3 + 0.7 / (HOSTS - 1), 0.025);
}

TEST(TrafficSource, impossible_loads_are_misuse)
{
  TrafficLoad load = load_of(TrafficPattern::incast);
  EXPECT_THROW(TrafficSource{load}, std::logic_error);
  load       = load_of(TrafficPattern::uniform);
  load.hosts = {1};
  EXPECT_THROW(TrafficSource{load}, std::logic_error);
}

} // namespace
} // namespace weft
