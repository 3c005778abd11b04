// SPDX-License-Identifier: LGPL-2.1-only
#include "model/collective/collective_kind.hpp"

#include "model/collective/call_descriptor.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(CollectiveKind, IsFoundByItsName)
{
  for (const CollectiveKind& kind : COLLECTIVE_KINDS)
    EXPECT_EQ(&collective(kind.name), &kind);
  EXPECT_THROW(collective("iallreduce"), std::logic_error);
  EXPECT_THROW(collective("all"), std::logic_error);
}

TEST(CollectiveKind, NamesItsCallsInBothForms)
{
  EXPECT_EQ(blocking("allreduce").name(), "allreduce");
  EXPECT_EQ(nonblocking("allreduce").name(), "iallreduce");
  EXPECT_EQ(blocking("allreduce").kind, nonblocking("allreduce").kind);
  EXPECT_NE(blocking("allreduce").blocking, nonblocking("allreduce").blocking);
}

TEST(CollectiveKind, AgreesWithItsMovement)
{
  for (const CollectiveKind& kind : COLLECTIVE_KINDS) {
    if (not kind.movement)
      continue;
    const bool combines_data = kind.movement->combines && kind.movement->carries_data();
    EXPECT_EQ(kind.reduces, combines_data) << kind.name;
    EXPECT_LE(kind.multicasts, kind.movement->copies() && not kind.movement->combines) << kind.name;
  }
}

TEST(CollectiveKind, ListsNamesInTheOrderOfTheRows)
{
  EXPECT_EQ(collective_names([](const CollectiveKind& kind) { return kind.multicasts; }),
            (std::vector<std::string>{"bcast", "allgather", "allgatherv"}));
}

TEST(Movement, SaysWhoHasPartsAndRoots)
{
  EXPECT_TRUE(Movement::reduce.rooted());
  EXPECT_TRUE(Movement::bcast.rooted());
  EXPECT_FALSE(Movement::allreduce.rooted());
  EXPECT_TRUE(Movement::allgather.in_parts());
  EXPECT_TRUE(Movement::reduce_scatter.in_parts());
  EXPECT_FALSE(Movement::barrier.in_parts());
  EXPECT_TRUE(Movement::alltoall.in_parts());
  EXPECT_TRUE(Movement::alltoall.in_blocks());
  EXPECT_FALSE(Movement::allgather.in_blocks());
}

TEST(Movement, SaysWhatSwitchesCopyAndCombine)
{
  const std::array copied{Movement::allreduce, Movement::barrier, Movement::bcast, Movement::allgather};
  for (const Movement& movement : copied)
    EXPECT_TRUE(movement.copies() && not movement.combines_on_the_way_down());
  for (const Movement& movement : {Movement::reduce, Movement::reduce_scatter})
    EXPECT_TRUE(not movement.copies() && movement.combines_on_the_way_down());
  EXPECT_FALSE(Movement::alltoall.copies());
  EXPECT_FALSE(Movement::alltoall.combines_on_the_way_down());
}

} // namespace
} // namespace weft
