// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/rank_tree.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Children = std::vector<int>;
using Shape    = std::function<RankTree(int ranks, int rank, int root)>;

const std::map<std::string, Shape> SHAPES{
    {"binary", [](int ranks, int rank, int root) { return balanced_tree(2, ranks, rank, root); }},
    {"ternary", [](int ranks, int rank, int root) { return balanced_tree(3, ranks, rank, root); }},
    {"chain", [](int ranks, int rank, int root) { return chains(1, ranks, rank, root); }},
    {"four chains", [](int ranks, int rank, int root) { return chains(4, ranks, rank, root); }},
    {"binomial", binomial_tree},
    {"in-order binomial", in_order_binomial_tree},
    {"4-nomial", [](int ranks, int rank, int root) { return knomial_tree(4, ranks, rank, root); }}};

TEST(RankTree, ParentsAndChildrenKnowEachOtherAndAllLeadToTheRoot)
{
  for (const auto& [name, shape] : SHAPES)
    for (int ranks = 1; ranks <= 33; ++ranks)
      for (const int root : {0, ranks - 1, ranks / 2})
        for (int rank = 0; rank < ranks; ++rank) {
          const RankTree tree = shape(ranks, rank, root);
          EXPECT_EQ(tree.parent == -1, rank == root) << name;
          for (const int child : tree.children)
            EXPECT_EQ(shape(ranks, child, root).parent, rank) << name << ": " << ranks << " ranks, root " << root;
          int at = rank;
          for (int steps = 0; at != root && steps < ranks; ++steps)
            at = shape(ranks, at, root).parent;
          EXPECT_EQ(at, root) << name;
          if (rank != root) {
            EXPECT_EQ(std::ranges::count(shape(ranks, tree.parent, root).children, rank), 1) << name;
          }
        }
}

// The figures in Open MPI's coll_base_topo.c.
TEST(RankTree, ShapesAreOpenMpis)
{
  EXPECT_EQ(balanced_tree(2, 7, 1, 0).children, (Children{3, 5}));
  EXPECT_EQ(balanced_tree(2, 7, 2, 0).children, (Children{4, 6}));
  EXPECT_EQ(binomial_tree(8, 0, 0).children, (Children{1, 2, 4}));
  EXPECT_EQ(binomial_tree(8, 1, 0).children, (Children{3, 5}));
  EXPECT_EQ(in_order_binomial_tree(8, 4, 0).children, (Children{5, 6}));
  EXPECT_EQ(knomial_tree(3, 10, 0, 0).children, (Children{9, 3, 6, 1, 2}));
  EXPECT_EQ(knomial_tree(4, 10, 4, 0).children, (Children{5, 6, 7}));
  EXPECT_EQ(in_order_binary_tree(9, 8).children, (Children{7, 3}));
  EXPECT_EQ(in_order_binary_tree(9, 7).children, (Children{6, 5}));
  EXPECT_EQ(in_order_binary_tree(9, 3).children, (Children{2, 1}));
  EXPECT_EQ(in_order_binary_tree(4, 3).children, (Children{2, 1}));
  EXPECT_EQ(in_order_binary_tree(4, 1).children, (Children{0}));
}

TEST(RankTree, ChainsDifferByAtMostOneRank)
{
  EXPECT_EQ(chains(4, 12, 0, 0).children, (Children{1, 4, 7, 10}));
  EXPECT_EQ(chains(4, 12, 9, 0).parent, 8);
  EXPECT_TRUE(chains(4, 12, 9, 0).children.empty());
  EXPECT_EQ(chains(4, 3, 0, 0).children, (Children{1, 2}));
}

// Each subtree is a contiguous range of ranks that ends with its root; the first child's range follows the second's.
TEST(RankTree, InOrderTreesKeepTheOrder)
{
  const std::function<int(int, int)> first = [&](int ranks, int rank) {
    const Children children = in_order_binary_tree(ranks, rank).children;
    if (children.empty())
      return rank;
    EXPECT_EQ(children.front(), rank - 1);
    const int begin = first(ranks, children.front());
    if (children.size() == 1)
      return begin;
    EXPECT_EQ(children.back(), begin - 1);
    return first(ranks, children.back());
  };
  for (int ranks = 1; ranks <= 40; ++ranks)
    EXPECT_EQ(first(ranks, ranks - 1), 0) << ranks;
}

} // namespace
} // namespace weft
