// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/link_uses.hpp"

#include "workload/run_iteration.hpp"
#include "workload/workload_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <utility>

namespace weft {
namespace {

constexpr double MEGABYTE  = 1e6;
constexpr double NVLINK    = 400e9; // of workload_test.hpp
constexpr double NIC_CABLE = 50e9;

const LinkClassUse& use_of(const IterationTimes& times, const std::string& name)
{
  const auto found = std::ranges::find(times.links, name, &LinkClassUse::name);
  if (found == times.links.end())
    throw std::logic_error("nothing has used " + name);
  return *found;
}

std::size_t position_of(const IterationTimes& times, const std::string& name)
{
  return static_cast<std::size_t>(&use_of(times, name) - times.links.data());
}

/** Returns a workload in which all ranks call one collective of @p groups. */
Workload one_call(std::vector<std::vector<int>> groups, int ranks, NcclCollective collective, double bytes)
{
  Workload all;
  Program& program = all.programs.emplace_back(true);
  program.add_computation(0, 1e-3);
  program.add_collective(0, 0, collective, bytes);
  all.program_of.assign(static_cast<std::size_t>(ranks), 0);
  all.divisions.emplace_back("data", std::move(groups), ranks);
  return all;
}

TEST(LinkUses, ARingOfANodeUsesItsNvlinks)
{
  const Fabric fabric = fabric_of(gpu_fabric(1, 4));
  for (const CallDetail detail : {CallDetail::slice, CallDetail::step, CallDetail::call})
    for (const bool all : {false, true}) {
      const IterationTimes times = run_iteration(one_call({{0, 1, 2, 3}}, 4, NcclCollective::allgather, 200 * MEGABYTE),
                                                 fabric, {.execute_all = all, .detail = detail});
      ASSERT_EQ(times.links.size(), 1U);
      const LinkClassUse& its = times.links[0];
      const double sent       = 3 * 50 * MEGABYTE; // bytes that each rank sends: all blocks but one
      EXPECT_EQ(its.name, "gpu--nvswitch");
      EXPECT_EQ(its.links, 8U);
      EXPECT_NEAR(its.bytes, 8 * sent, 1);
      EXPECT_NEAR(its.mean, sent / NVLINK / times.end, 1e-12);
      EXPECT_NEAR(its.most, its.mean, 1e-12);
      EXPECT_NEAR(times.ranks[2].exposed_at[0], times.ranks[2].exposed[0], 1e-15);
      EXPECT_NEAR(times.ranks[2].carried_at[0], sent / NVLINK, 1e-12);
    }
}

TEST(LinkUses, AMessageBetweenNodesIsLimitedByItsNarrowestLink)
{
  const std::string text =
      replaced(gpu_fabric(2, 4), "\n[nccl]",
               "\n[[links]]\nmatch = \"node-*--*.nic-*\"\nbandwidth = \"63GBps\"\nlatency = \"0s\"\n"
               "\n[nccl]");
  const Fabric fabric = fabric_of(text);
  Workload workload;
  workload.programs.assign(2, Program(true));
  workload.programs[0].add_send(0, 4, 100 * MEGABYTE);
  workload.programs[1].add_receive(0, -4, 100 * MEGABYTE);
  workload.program_of = {0, -1, -1, -1, 1};
  workload.programs.emplace_back(true);
  for (int& program : workload.program_of)
    program = program < 0 ? 2 : program;
  const IterationTimes times = run_iteration(workload, fabric, {});
  ASSERT_EQ(times.links.size(), 2U);
  for (const std::string name : {"gpu--nic", "nic--leaf"}) {
    EXPECT_EQ(use_of(times, name).links, 2U) << name;
    EXPECT_DOUBLE_EQ(use_of(times, name).bytes, 200 * MEGABYTE) << name;
  }
  EXPECT_NEAR(use_of(times, "nic--leaf").most, 1, 1e-12);
  EXPECT_NEAR(use_of(times, "gpu--nic").most, 50.0 / 63, 1e-12);
  const std::size_t at = position_of(times, "nic--leaf");
  EXPECT_NEAR(times.ranks[4].exposed_at[at], 0.002, 1e-12);
  EXPECT_NEAR(times.ranks[4].carried_at[at], 0.002, 1e-12);
  EXPECT_EQ(times.ranks[4].exposed_at[position_of(times, "gpu--nic")], 0);
}

TEST(LinkUses, OfLinksThatNeedEquallyLongTheBusiestLimits)
{
  // Both NIC and leaf links have 50 GB/s; two leaves are connected to a spine by one cable each, which both rings use.
  std::string text = replaced(gpu_fabric(4, 2), "nodes = 4", "nodes = 4\nnodes_per_unit = 2\nspines = 1");
  text = replaced(text, "\n[nccl]",
                  "\n[[links]]\nmatch = \"node-*--*.nic-*\"\nbandwidth = \"63GBps\"\nlatency = \"0s\"\n\n[nccl]");
  const Fabric fabric = fabric_of(text);
  const IterationTimes times =
      run_iteration(one_call({{0, 4}, {2, 6}, {1}, {3}, {5}, {7}}, 8, NcclCollective::allgather, 200 * MEGABYTE),
                    fabric, {.execute_all = true});
  const std::size_t at = position_of(times, "leaf--spine");
  EXPECT_NEAR(use_of(times, "leaf--spine").bytes, 2 * use_of(times, "nic--leaf").bytes / 2, 1);
  EXPECT_NEAR(use_of(times, "leaf--spine").most, 2 * use_of(times, "nic--leaf").most, 1e-9);
  EXPECT_GT(times.ranks[0].exposed_at[at], 0);
  EXPECT_NEAR(times.ranks[0].exposed_at[at], times.ranks[0].exposed[0], 1e-12);
  EXPECT_NEAR(times.ranks[0].carried_at[at], 100 * MEGABYTE / NIC_CABLE, 1e-12); // half of the time: shared with a ring
}

TEST(LinkUses, BytesOfPairsAreThoseOfAnyOrderOfConcurrentStrands)
{
  const Fabric fabric = fabric_of(gpu_fabric(4, 4));
  std::vector<int> members(16);
  std::iota(members.begin(), members.end(), 0);
  for (const NcclCollective kind : {NcclCollective::allreduce, NcclCollective::alltoall, NcclCollective::broadcast}) {
    const Workload workload   = one_call({members}, 16, kind, 64 * MEGABYTE);
    const IterationTimes step = run_iteration(workload, fabric, {.execute_all = true, .detail = CallDetail::slice});
    double bytes              = 0;
    for (const LinkClassUse& its : step.links)
      if (its.name == "gpu--nvswitch" || its.name == "gpu--nic")
        bytes += its.bytes;
    // All traffic between nodes leaves and enters GPUs: an Allreduce moves 2 (n - 1) vectors, other collectives n - 1
    // vectors.
    const double sent = (kind == NcclCollective::allreduce ? 2 : 1) * 15 * 64 * MEGABYTE;
    EXPECT_NEAR(bytes, 2 * sent, 2e-3 * sent) << to_text(kind);
  }
}

} // namespace
} // namespace weft
