// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/cache_study.hpp"

#include "base/share.hpp"
#include "fabric/fabric.hpp"
#include "fabric/topology/star.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr CacheShape BASELINE{2048, 4, Replacement::lru}; // Hirasawa et al. (CLUSTER 2021)

double share(std::int64_t part, const CacheCounters& of)
{
  return static_cast<double>(part) / static_cast<double>(of.lookups());
}

CacheCounters total(const std::vector<CacheCounters>& parts)
{
  CacheCounters sum;
  for (const CacheCounters& part : parts)
    sum += part;
  return sum;
}

/** Returns the expected miss rate of sets of @p ways if Poisson(mean) equally frequent destinations map to a set. */
double expected_conflicts(double mean, int ways)
{
  double probability = std::exp(-mean);
  double misses      = 0;
  for (int there = 1; there < 100; ++there) {
    probability *= mean / there;
    misses += probability * std::max(0, there - ways);
  }
  return misses / mean;
}

TEST(CacheStudy, ScatteredAddressesConflictLikeRandomSets)
{
  for (const int ways : {1, 2, 4, 8}) {
    const CacheCounters counters = study_port({2048, ways, Replacement::lru}, 1024, true, 200000, 1);
    EXPECT_EQ(counters.capacity, 0);
    EXPECT_EQ(counters.initial, 1024);
    EXPECT_NEAR(share(counters.conflict, counters), expected_conflicts(1024.0 * ways / 2048, ways), 0.025) << ways;
  }
}

TEST(CacheStudy, FourWaysHaveFewConflictsUpTo1024Destinations)
{
  for (const int destinations : {64, 256, 512, 1024}) {
    EXPECT_EQ(study_port(BASELINE, destinations, false, 50000, 1).conflict, 0) << destinations;
    const CacheCounters scattered = study_port(BASELINE, destinations, true, 100000, 1);
    EXPECT_LT(share(scattered.conflict, scattered), 0.04) << destinations;
  }
}

// Each set serves 8 of the 4,096 hosts, of which a random half needs an entry: the number k in a set is hypergeometric,
// and if it exceeds 4, LRU finds 4 / k under uniform traffic. The expected conflict rate is 13.7 %.
TEST(CacheStudy, RandomHalfOfTheHostsHasConflictsThatABlockHasNot)
{
  constexpr int HOSTS         = 4096;
  constexpr int CHOSEN        = 2048;
  constexpr double EXPECTED   = 0.1366;
  constexpr double DEVIATIONS = 0.03; // three to four standard deviations of a random choice
  const Star star(HOSTS);
  const auto hash = make_forwarding_hash("crc", star);
  std::vector<VertexId> hosts(HOSTS);
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto conflicts = [&] {
    const CacheCounters counters =
        study_hosts(BASELINE, star, *hash, std::span(hosts).first(CHOSEN), std::int64_t{200} * CHOSEN, 1);
    EXPECT_EQ(counters.capacity, 0);
    return share(counters.conflict, counters);
  };
  EXPECT_EQ(conflicts(), 0);
  double sum = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::shuffle(hosts.begin(), hosts.end(), std::mt19937(seed));
    const double found = conflicts();
    EXPECT_NEAR(found, EXPECTED, DEVIATIONS) << seed;
    sum += found;
  }
  EXPECT_NEAR(sum / 5, EXPECTED, DEVIATIONS / 2);
}

TEST(CacheStudy, HashOfATorusMissesEachTagOnce)
{
  const CacheCounters counters = total(study_torus(BASELINE, 8, 4, true, 20000, 1));
  EXPECT_EQ(counters.capacity + counters.conflict, 0);
  EXPECT_LE(counters.initial, 9 * 9); // one tag per output port at each input port
}

// Ports of hosts look up all 4,095 other hosts, of which a cache of 2,048 entries holds half.
TEST(CacheStudy, CrcExceedsTheCacheOnATorus)
{
  const std::vector<CacheCounters> ports = study_torus({2048, 2048, Replacement::lru}, 8, 4, false, 40000, 1);
  EXPECT_NEAR(share(ports[0].hits, ports[0]), 0.5, 0.06);
  EXPECT_EQ(total(ports).conflict, 0);
  EXPECT_GT(share(ports[4].hits, ports[4]), 0.99); // only the destinations along the last dimension
}

TEST(CacheStudy, AllSwitchesOfATorusAreEquivalent)
{
  const CacheShape shape{16, 2, Replacement::lru};
  const Fabric fabric        = Fabric::load("torus-4x4x4x4");
  const auto hash            = make_forwarding_hash("cube", fabric.topology());
  const auto messages        = uniform_messages(fabric.topology(), 20000, 2);
  const CacheCounters all    = study_messages(shape, fabric.topology(), *hash, messages).messages;
  const CacheCounters of_one = total(study_torus(shape, 4, 4, true, 20000, 2));
  EXPECT_EQ(all.lookups(), of_one.lookups());
  EXPECT_EQ(all.capacity + all.conflict, 0);
}

// On a star of eight hosts each port sees seven destinations in rotation: with four entries, LRU never hits.
TEST(CacheStudy, OptimalReplacementHitsAsManyAsFit)
{
  const CacheShape shape{4, 4, Replacement::lru};
  const Fabric fabric = Fabric::load("star-8");
  const auto hash     = make_forwarding_hash("crc", fabric.topology());
  const auto messages = alltoall_messages(fabric.topology(), 8 * 7 * 50);
  const auto hits     = [&](const Refill& refill) {
    const MessageStudy study = study_messages(shape, fabric.topology(), *hash, messages, refill);
    return share(study.messages.hits, study.messages);
  };
  EXPECT_EQ(hits({}), 0);
  EXPECT_NEAR(hits({0, true}), 4.0 / 7, 0.03); // four of seven entries stay cached
  EXPECT_NEAR(hits({1, false}), 1, 0.01);      // the next entry was prefetched
  EXPECT_NEAR(hits({2, false}), 0, 0.01);      // prefetched too early: evicted before its use
}

TEST(CacheStudy, CountsLookupsOfEmptyPackets)
{
  const Fabric fabric      = Fabric::load("star-8");
  const auto hash          = make_forwarding_hash("crc", fabric.topology());
  const auto messages      = alltoall_messages(fabric.topology(), 8 * 7);
  const MessageStudy study = study_messages({4, 4, Replacement::lru}, fabric.topology(), *hash, messages, {1, false});
  EXPECT_EQ(study.messages.lookups(), 56);
  EXPECT_EQ(study.empty.lookups(), 48); // no empty packet precedes a host's first message
  EXPECT_EQ(study.messages.hits, 48);
  EXPECT_EQ(study.empty.hits, 0);
}

TEST(CacheStudy, RegularFabricsHaveOnlyInitialMisses)
{
  for (const std::string& name : list_shared("fabrics")) {
    const Fabric fabric = Fabric::load(name);
    const auto hash     = make_forwarding_hash("auto", fabric.topology());
    const CacheCounters counters =
        study_messages(BASELINE, fabric.topology(), *hash, uniform_messages(fabric.topology(), 20000, 1)).messages;
    EXPECT_EQ(counters.capacity + counters.conflict, 0) << name;
    EXPECT_EQ(counters.hits + counters.initial, counters.lookups()) << name;
  }
}

} // namespace
} // namespace weft
