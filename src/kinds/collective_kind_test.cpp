#include "kinds/collective_kind.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(CollectiveKind, IsFoundByItsName)
{
  for (const CollectiveKind& kind : collective_kinds())
    EXPECT_EQ(&collective(kind.name), find_collective(kind.name));
  EXPECT_EQ(find_collective("iallreduce"), nullptr);
  EXPECT_THROW(collective("all"), std::logic_error);
}

TEST(CollectiveKind, NamesItsCallsInBothForms)
{
  EXPECT_EQ(collective("allreduce").call_name(true), "allreduce");
  EXPECT_EQ(collective("allreduce").call_name(false), "iallreduce");
}

TEST(CollectiveKind, AgreesWithItsMovement)
{
  for (const CollectiveKind& kind : collective_kinds()) {
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
}

} // namespace
} // namespace weft
