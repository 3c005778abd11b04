// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/chains.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<int> first(int count)
{
  std::vector<int> roots(static_cast<std::size_t>(count));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

TEST(Chains, EqualTheSequencerIfTheyDivide)
{
  constexpr int P = 24;
  for (const int chains : {1, 2, 3, 4, 6, 8, 12, 24}) {
    const auto cut   = cut_into_chains(first(P), chains);
    const int length = P / chains;
    ASSERT_EQ(static_cast<int>(cut.size()), chains);
    for (int chain = 0; chain < chains; ++chain)
      for (int step = 0; step < length; ++step) // G_i = {P_i, P_(R+i), …}
        EXPECT_EQ(cut.at(static_cast<std::size_t>(chain)).at(static_cast<std::size_t>(step)), chain * length + step);
  }
}

TEST(Chains, DifferByOneRootIfTheyDoNotDivide)
{
  EXPECT_EQ(cut_into_chains(first(7), 3), (std::vector<std::vector<int>>{{0, 1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(cut_into_chains(first(2), 5), (std::vector<std::vector<int>>{{0}, {1}}));
}

TEST(Chains, FollowGroups)
{
  const std::vector<int> roots{0, 1, 2, 3, 4};
  const std::vector<int> racks{7, 3, 7, 3, 5};
  EXPECT_EQ(chain_by_group(roots, racks), (std::vector<std::vector<int>>{{0, 2}, {1, 3}, {4}}));
}

TEST(Chains, OfACallAreThoseOfItsRoots)
{
  MulticastModel model = default_multicast();
  MulticastGroup group;
  group.rack_of = {7, 7, 3, 3, 5};
  group.pod_of  = {1, 1, 1, 1, 2};
  const std::vector<int> roots{0, 2, 3, 4}; // rank 1 gives nothing
  model.chains = 3;
  EXPECT_EQ(chain_blocks(model, group, roots), (std::vector<std::vector<int>>{{0, 1}, {2}, {3}}));
  model.chain_map = "racks";
  EXPECT_EQ(chain_blocks(model, group, roots), (std::vector<std::vector<int>>{{0}, {1, 2}, {3}}));
  model.chain_map = "pods";
  EXPECT_EQ(chain_blocks(model, group, roots), (std::vector<std::vector<int>>{{0, 1, 2}, {3}}));
}

} // namespace
} // namespace weft
