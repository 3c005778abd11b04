// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/between_groups.hpp"

#include "collective/host/engine/walk.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace weft {
namespace {

/** Returns the parts of all ranks of two groups in a call with a root in the second group; every rank sends 3 bytes to
 * each rank of the remote group. */
std::vector<BetweenGroups> parts_of(std::string_view collective, int first, int second)
{
  const bool rooted  = collective == "bcast" || collective == "reduce" || collective.starts_with("gather") ||
                       collective.starts_with("scatter");
  const bool in_part = collective == "reduce_scatter";
  const int root     = first + second - 1;
  std::vector<BetweenGroups> all;
  for (int rank = 0; rank < first + second; ++rank) {
    const bool is_first = rank < first;
    BetweenGroups part{.own_begin   = is_first ? 0 : first,
                       .own_size    = is_first ? first : second,
                       .other_begin = is_first ? first : 0,
                       .other_size  = is_first ? second : first};
    if (rooted && (is_first || rank == root))
      part.root = root;
    part.gives = part.gets = 3;
    part.to.assign(static_cast<std::size_t>(part.other_size), 3);
    part.from = part.to;
    if (in_part) {
      part.gives = Elements{first} * second;
      part.parts.assign(static_cast<std::size_t>(part.own_size), part.gives / part.own_size);
    }
    all.push_back(part);
  }
  return all;
}

Walk walk_between(std::string_view collective, int first, int second)
{
  const std::vector<BetweenGroups> parts = parts_of(collective, first, second);
  HostCall call;
  call.collective = collective;
  call.ranks      = first + second;
  call.groups     = [&parts](int rank) -> const BetweenGroups& { return parts[static_cast<std::size_t>(rank)]; };
  const Algorithm& algorithm = *algorithm_between_groups(collective);
  return walk(first + second, [&](int rank) { return algorithm.schedule(call, rank, {}); });
}

constexpr std::array COLLECTIVES{"allgather", "allgatherv", "allreduce",      "alltoall", "alltoallv",
                                 "alltoallw", "barrier",    "bcast",          "gather",   "gatherv",
                                 "reduce",    "scatter",    "reduce_scatter", "scatterv"};

TEST(BetweenGroups, EveryMessageIsReceived)
{
  for (const char* const collective : COLLECTIVES)
    for (const int first : {1, 2, 3, 5})
      for (const int second : {1, 2, 4, 7}) {
        const Walk walked = walk_between(collective, first, second);
        for (const int ended : walked.ended)
          EXPECT_GE(ended, 0) << collective << " of " << first << " and " << second << " ranks";
      }
}

TEST(BetweenGroups, GroupsMeetOnlyThroughTheirFirstRanks)
{
  for (const char* const collective : {"allreduce", "allgather", "barrier", "reduce_scatter"})
    for (const WalkedMessage& message : walk_between(collective, 3, 4).messages)
      if ((message.from < 3) != (message.to < 3)) {
        EXPECT_TRUE(message.from == 0 || message.from == 3);
        EXPECT_TRUE(message.to == 0 || message.to == 3);
      }
}

TEST(BetweenGroups, AlltoallHasOneMessageForEachPairOfRanks)
{
  EXPECT_EQ(walk_between("alltoall", 3, 5).messages.size(), 2U * 3U * 5U);
}

TEST(BetweenGroups, PrefixSumsAreNotDefined)
{
  EXPECT_EQ(algorithm_between_groups("scan"), nullptr);
  EXPECT_EQ(algorithm_between_groups("exscan"), nullptr);
}

} // namespace
} // namespace weft
