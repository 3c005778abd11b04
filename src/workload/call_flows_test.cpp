// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/call_flows.hpp"

#include "base/error.hpp"
#include "workload/run_iteration.hpp"
#include "workload/workload_test.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

using Groups = std::vector<std::vector<int>>;

constexpr double MEGA = 1e6;

/** Returns a workload in which each group makes one call; rank @p late computes for a millisecond first. */
Workload one_call(const Groups& groups, int ranks, NcclCollective collective, double bytes, int late = -1)
{
  Workload all;
  for (int rank = 0; rank < ranks; ++rank) {
    Program& program = all.programs.emplace_back(true);
    if (rank == late)
      program.add_computation(0, 1e-3);
    program.add_collective(0, 0, collective, bytes);
    all.program_of.push_back(rank);
  }
  all.divisions.emplace_back("data", groups, ranks);
  return all;
}

IterationTimes times_of(const std::string& text, const Workload& workload, CallDetail detail)
{
  const Fabric fabric = fabric_of(text);
  return run_iteration(workload, fabric, {.execute_all = true, .detail = detail});
}

class CallFlowOf : public testing::TestWithParam<NcclCollective> {};

TEST_P(CallFlowOf, AloneTakesTheTimeOfItsMessages)
{
  for (const int gpus : {1, 4}) {
    Groups all(1);
    for (int rank = 0; rank < 4 * gpus; ++rank)
      all[0].push_back(rank);
    const Workload workload   = one_call(all, 4 * gpus, GetParam(), 64 * MEGA);
    const std::string text    = gpu_fabric(4, gpus);
    const IterationTimes step = times_of(text, workload, CallDetail::step);
    const IterationTimes flow = times_of(text, workload, CallDetail::call);
    EXPECT_EQ(flow.messages, 0U);
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
      EXPECT_NEAR(flow.ranks[rank].end / step.ranks[rank].end, 1, 1e-9) << to_text(GetParam()) << ", " << gpus;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CallFlowOf,
                         testing::Values(NcclCollective::allgather, NcclCollective::reduce_scatter,
                                         NcclCollective::allreduce, NcclCollective::alltoall,
                                         NcclCollective::broadcast));

TEST(CallFlow, TwoRingsOnTheSameLinksTakeTwiceAsLong)
{
  // A node of two GPUs and one NIC, which the rings of both share.
  std::string text = gpu_fabric(4, 2);
  text             = replaced(text, "gpus = 2\n", "gpus = 2\nnics = 1\n");
  text             = replaced(text, "inter = \"20GBps\"", "inter = \"50GBps\"");
  const Groups rings{{0, 2, 4, 6}, {1, 3, 5, 7}};
  const double both = times_of(text, one_call(rings, 8, NcclCollective::allgather, 256 * MEGA), CallDetail::call).end;
  EXPECT_NEAR(both / (2 * 192 * MEGA / 50e9), 1, 0.01);
}

TEST(CallFlow, BeginsWithTheLastRank)
{
  const Groups one{{0, 1, 2, 3}};
  const std::string text = gpu_fabric(4, 1);
  const double alone     = times_of(text, one_call(one, 4, NcclCollective::allgather, 64 * MEGA), CallDetail::call).end;
  const double late = times_of(text, one_call(one, 4, NcclCollective::allgather, 64 * MEGA, 2), CallDetail::call).end;
  EXPECT_NEAR(late, 1e-3 + alone, 1e-12);
  const double steps = times_of(text, one_call(one, 4, NcclCollective::allgather, 64 * MEGA, 2), CallDetail::step).end;
  EXPECT_NEAR(late / steps, 1, 0.01);
}

TEST(CallFlow, RefusesRoutesOfTheirOwnForEachMessage)
{
  const std::string text = gpu_fabric(2, 1) + "\n[routing]\npolicy = \"adaptive\"\n";
  try {
    times_of(text, one_call({{0, 1}}, 2, NcclCollective::allgather, MEGA), CallDetail::call);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("has a route of its own"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace weft
