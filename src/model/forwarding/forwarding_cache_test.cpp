// SPDX-License-Identifier: LGPL-2.1-only
#include "model/forwarding/forwarding_cache.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Looks up @p tag as a switch does. The port equals the tag, so that wrong answers are detected. */
bool access(ForwardingCache& cache, ForwardingTag tag)
{
  const std::optional<int> port = cache.lookup(tag);
  if (port)
    EXPECT_EQ(*port, static_cast<int>(tag));
  else
    cache.fill(tag, static_cast<int>(tag));
  return port.has_value();
}

std::vector<bool> accesses(const CacheShape& shape, const std::vector<ForwardingTag>& tags)
{
  ForwardingCache cache(shape);
  std::vector<bool> hits;
  for (const ForwardingTag tag : tags)
    hits.push_back(access(cache, tag));
  return hits;
}

TEST(ForwardingCache, HitsAfterAFill)
{
  EXPECT_EQ(accesses({4, 2, Replacement::lru}, {5, 5, 6, 5, 6}), (std::vector<bool>{false, true, false, true, true}));
}

TEST(ForwardingCache, KeepsAsManyTagsPerSetAsWays)
{
  // Tags 0, 2 and 4 belong to one of the two sets, tag 1 to the second.
  EXPECT_EQ(accesses({4, 2, Replacement::lru}, {0, 2, 1, 0, 2, 1}),
            (std::vector<bool>{false, false, false, true, true, true}));
  EXPECT_EQ(accesses({4, 2, Replacement::lru}, {0, 2, 4, 0}), (std::vector<bool>{false, false, false, false}));
}

TEST(ForwardingCache, KeepsTagsThatAreNeverEvicted)
{
  ForwardingCache cache({4, 2, Replacement::lru});
  for (const ForwardingTag number : {0U, 63U, 64U, 1000U})
    EXPECT_FALSE(cache.know(KEPT | number)) << number;
  for (const ForwardingTag number : {0U, 63U, 64U, 1000U})
    EXPECT_TRUE(cache.know(KEPT | number)) << number;
  EXPECT_FALSE(cache.know(KEPT | 1U));
  cache.flush();
  EXPECT_FALSE(cache.know(KEPT | 63U));
}

TEST(ForwardingCache, ReplacesByUseOrByAge)
{
  const std::vector<ForwardingTag> tags{0, 1, 0, 2, 0}; // 0 is older than 1 and used later
  EXPECT_TRUE(accesses({2, 2, Replacement::lru}, tags).back());
  EXPECT_FALSE(accesses({2, 2, Replacement::fifo}, tags).back());
}

TEST(ForwardingCache, RandomReplacementIsReproducible)
{
  std::vector<ForwardingTag> tags(400);
  for (std::size_t i = 0; i < tags.size(); ++i)
    tags[i] = static_cast<ForwardingTag>(i * i % 23);
  const CacheShape shape{8, 8, Replacement::random};
  EXPECT_EQ(accesses(shape, tags), accesses(shape, tags));
  EXPECT_NE(accesses(shape, tags), accesses({8, 8, Replacement::fifo}, tags));
}

TEST(ForwardingCache, IsEmptyAfterAFlush)
{
  ForwardingCache cache({8, 2, Replacement::lru});
  for (ForwardingTag tag = 0; tag < 8; ++tag)
    access(cache, tag);
  cache.flush();
  for (ForwardingTag tag = 0; tag < 8; ++tag)
    EXPECT_EQ(cache.lookup(tag), std::nullopt);
}

TEST(ForwardingCache, RefusesWaysThatDoNotDivideItsEntries)
{
  EXPECT_THROW(ForwardingCache({8, 3, Replacement::lru}), std::logic_error);
  EXPECT_THROW(ForwardingCache({8, 0, Replacement::lru}), std::logic_error);
  EXPECT_THROW(ForwardingCache({4, 8, Replacement::lru}), std::logic_error);
}

// ---- Miss classification

CacheCounters counters(const CacheShape& shape, const std::vector<ForwardingTag>& tags)
{
  ForwardingCache cache(shape);
  MissClassifier classifier(shape.entries);
  CacheCounters result;
  for (const ForwardingTag tag : tags)
    classifier.count(tag, access(cache, tag), result);
  return result;
}

TEST(MissClassifier, SeparatesConflictAndCapacityMisses)
{
  // Two sets of one entry: tags 0 and 2 share one.
  const CacheCounters conflict = counters({2, 1, Replacement::lru}, {0, 2, 0, 2});
  EXPECT_EQ(conflict.initial, 2);
  EXPECT_EQ(conflict.conflict, 2);
  EXPECT_EQ(conflict.capacity, 0);
  // Three tags cycle through two entries: all lookups miss.
  const CacheCounters capacity = counters({2, 2, Replacement::lru}, {0, 1, 2, 0, 1, 2});
  EXPECT_EQ(capacity.initial, 3);
  EXPECT_EQ(capacity.capacity, 3);
  EXPECT_EQ(capacity.conflict, 0);
}

TEST(MissClassifier, FindsNoConflictInAFullyAssociativeCache)
{
  std::vector<ForwardingTag> tags(5000);
  std::minstd_rand random(1);
  for (ForwardingTag& tag : tags)
    tag = static_cast<ForwardingTag>(random() % 100);
  const CacheCounters one_set = counters({64, 64, Replacement::lru}, tags);
  EXPECT_EQ(one_set.conflict, 0);
  EXPECT_EQ(one_set.initial, 100);
  EXPECT_EQ(one_set.lookups(), 5000);
  // Uniform traffic to 100 destinations hits 64 % of the time.
  EXPECT_NEAR(static_cast<double>(one_set.hits) / 5000, 0.64, 0.03);
  EXPECT_GT(counters({64, 2, Replacement::lru}, tags).conflict, 0);
}

TEST(MissClassifier, CountsOnlyInitialMissesIfAllTagsFit)
{
  std::vector<ForwardingTag> tags(1000);
  for (std::size_t i = 0; i < tags.size(); ++i)
    tags[i] = static_cast<ForwardingTag>(i * 7 % 64);
  const CacheCounters all = counters({64, 4, Replacement::lru}, tags);
  EXPECT_EQ(all.initial, 64);
  EXPECT_EQ(all.hits, 1000 - 64);
}

TEST(MissClassifier, RestartsAfterAFlush)
{
  MissClassifier classifier(4);
  CacheCounters result;
  classifier.count(7, false, result);
  classifier.flush();
  classifier.count(7, false, result);
  EXPECT_EQ(result.initial, 2);
}

} // namespace
} // namespace weft
