// SPDX-License-Identifier: LGPL-2.1-only
#include "model/collective/call_descriptor.hpp"

#include <array>

#include <gtest/gtest.h>

namespace weft {
namespace {

const ElementType INT{.handle = &INT, .name = "MPI_INT", .size = 4};
const ElementType FLOAT{.handle = &FLOAT, .name = "MPI_FLOAT", .size = 4};
const ElementType PAIR{.handle = &PAIR, .name = "derived", .size = 8, .predefined = false};
const ReductionOperation SUM{.handle = &SUM, .name = "MPI_SUM"};
const ReductionOperation MAX{.handle = &MAX, .name = "MPI_MAX"};

CallDescriptor call(std::string_view kind, std::int64_t elements, const ElementType* type = nullptr,
                    const ReductionOperation* operation = nullptr)
{
  return {.kind = &collective(kind), .ranks = 4, .elements = elements, .type = type, .operation = operation};
}

TEST(CallDescriptor, KnowsItsVector)
{
  EXPECT_EQ(call("allreduce", 256, &INT, &SUM).vector_bytes(), 1024);
  EXPECT_EQ(call("scan", 256, &INT, &SUM).vector_bytes(), 1024);
  EXPECT_EQ(call("bcast", 1000).vector_bytes(), 1000);
  EXPECT_EQ(call("allgather", 1000).vector_bytes(), 4000); // a block of each rank
  EXPECT_EQ(call("alltoall", 1000).vector_bytes(), 4000);
  EXPECT_EQ(call("gather", 1000).vector_bytes(), 0); // executed by hosts only
  EXPECT_EQ(call("barrier", CallDescriptor::NOT_AGREED).vector_bytes(), 0);
}

TEST(CallDescriptor, KnowsWhetherItIsEmpty)
{
  EXPECT_TRUE(call("allreduce", 0, &INT, &SUM).empty());
  EXPECT_FALSE(call("allreduce", 1, &INT, &SUM).empty());
  EXPECT_FALSE(call("barrier", CallDescriptor::NOT_AGREED).empty());
}

TEST(CallDescriptor, KnowsThePartsOfItsRanks)
{
  EXPECT_EQ(call("allgather", 10).part_sizes(), std::vector<double>(4, 10));
  EXPECT_EQ(call("alltoall", 10).part_sizes(), std::vector<double>(4, 40)); // all blocks that a rank sends
  EXPECT_EQ(call("reduce_scatter", 8, &INT, &SUM).part_sizes(), std::vector<double>(4, 8));
  EXPECT_TRUE(call("allreduce", 8, &INT, &SUM).part_sizes().empty());

  CallDescriptor rooted = call("bcast", 10);
  rooted.root           = 2;
  EXPECT_EQ(rooted.part_sizes(), (std::vector<double>{0, 0, 10, 0}));

  const std::array counts{1, 2, 3, 4};
  CallDescriptor uneven = call("allgatherv", 40);
  uneven.counts         = counts;
  uneven.count_size     = 4;
  EXPECT_EQ(uneven.vector_bytes(), 40);
  EXPECT_EQ(uneven.part_sizes(), (std::vector<double>{4, 8, 12, 16}));
}

TEST(CallDescriptor, WritesTheCall)
{
  CallDescriptor reduce = call("reduce", 256, &INT, &SUM);
  reduce.root           = 3;
  EXPECT_EQ(reduce.text(), "MPI_Reduce(256 x MPI_INT, MPI_SUM, root 3)");
  EXPECT_EQ(call("allgather", 12).text(), "MPI_Allgather(12 bytes)");
  CallDescriptor started = call("barrier", CallDescriptor::NOT_AGREED);
  started.blocking       = false;
  EXPECT_EQ(started.text(), "MPI_Ibarrier()");
}

TEST(CallDescriptor, SaysHowAnotherRanksCallDiffers)
{
  const CallDescriptor one = call("allreduce", 2, &INT, &SUM);
  const auto difference    = [&](const CallDescriptor& other) { return one.difference(other, "rank 0", "rank 1"); };
  EXPECT_TRUE(one.is_same(one));
  EXPECT_EQ(difference(one), std::nullopt);
  EXPECT_EQ(difference(call("allreduce", 3, &INT, &SUM)),
            "rank 0 called MPI_Allreduce(2 x MPI_INT, MPI_SUM), rank 1 called MPI_Allreduce(3 x MPI_INT, MPI_SUM)");
  EXPECT_TRUE(difference(call("allreduce", 2, &FLOAT, &SUM)));
  EXPECT_TRUE(difference(call("allreduce", 2, &INT, &MAX)));
  EXPECT_TRUE(difference(call("reduce", 2, &INT, &SUM)));
  EXPECT_FALSE(difference(call("allreduce", 1, &PAIR, &SUM))); // user-defined types of equal size
}

TEST(CallDescriptor, ComparesPartsInBytes)
{
  const std::array counts{2, 2, 2, 2};
  const std::array halves{1, 1, 1, 1};
  const std::array others{1, 2, 2, 3};
  CallDescriptor one = call("allgatherv", 32);
  one.counts         = counts;
  one.count_size     = 4;
  one.counts_number  = 1;
  CallDescriptor two = one;
  two.counts         = halves;
  two.count_size     = 8;
  two.counts_number  = 2;
  EXPECT_FALSE(one.is_same(two));
  EXPECT_EQ(one.difference(two, "rank 0", "rank 1"), std::nullopt);
  CallDescriptor three = one;
  three.counts         = others;
  three.counts_number  = 3;
  EXPECT_EQ(one.difference(three, "rank 0", "rank 1"),
            "rank 0 called MPI_Allgatherv(32 bytes), rank 1 called MPI_Allgatherv(32 bytes): the part of rank 0 has 8"
            " bytes at one, 4 at the other");
}

TEST(KeptDescriptor, OutlivesTheCounts)
{
  std::vector<int> counts{1, 2, 3, 4};
  CallDescriptor uneven = call("allgatherv", 10);
  uneven.counts         = counts;
  uneven.count_size     = 1;
  const KeptDescriptor kept(uneven);
  counts.assign(4, 0);
  EXPECT_EQ(kept->part_sizes(), (std::vector<double>{1, 2, 3, 4}));
}

} // namespace
} // namespace weft
