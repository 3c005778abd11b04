// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/multicast_calls.hpp"

#include "base/error.hpp"
#include "workload/run_iteration.hpp"
#include "workload/workload_test.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr double BLOCK = 4096e3; // of a rank
constexpr double CABLE = 50e9;

/** Returns the text of a fabric whose links between nodes have a latency of 1 us, without headers of packets. */
std::string multicast_fabric(int nodes, int gpus, const std::string& multicast = "")
{
  const std::string text = replaced(gpu_fabric(nodes, gpus), "latency = \"0s\"", "latency = \"1us\"");
  return text + "\n[multicast]\npacket_overhead = \"0B\"\n" + multicast;
}

Workload allgathers(std::vector<std::vector<int>> groups, int ranks)
{
  Workload all;
  all.programs.emplace_back(true).add_collective(0, 0, NcclCollective::allgather,
                                                 BLOCK * static_cast<double>(groups.front().size()));
  all.program_of.assign(static_cast<std::size_t>(ranks), 0);
  all.divisions.emplace_back("data", std::move(groups), ranks);
  return all;
}

IterationTimes multicast_on(const std::string& text, const Workload& workload)
{
  const Fabric fabric = fabric_of(text);
  return run_iteration(workload, fabric, {.multicast = true});
}

/** Latency of two links of a GPU and its NIC, to the leaf and back. */
constexpr double MESSAGE = 4e-6;

TEST(MulticastCalls, RootsOfOneChainFollowEachOther)
{
  const IterationTimes times = multicast_on(multicast_fabric(8, 1), allgathers({{0, 1, 2, 3, 4, 5, 6, 7}}, 8));
  // 3 rounds of the barrier, 7 activations, the handshake; then the way of the last block.
  EXPECT_NEAR(times.end, 8 * BLOCK / CABLE + (3 + 7 + 1) * MESSAGE + MESSAGE, 1e-10);
  EXPECT_EQ(times.algorithms.at("multicast"), 1);
}

TEST(MulticastCalls, RootsThatStartTogetherFillTheReceiversCable)
{
  const IterationTimes times =
      multicast_on(multicast_fabric(8, 1, "chains = 8\n"), allgathers({{0, 1, 2, 3, 4, 5, 6, 7}}, 8));
  EXPECT_NEAR(times.end, 7 * BLOCK / CABLE + (3 + 0 + 1) * MESSAGE + MESSAGE, 1e-10);
}

TEST(MulticastCalls, EachBlockCrossesEachLinkOfTheTreeOnce)
{
  const IterationTimes times = multicast_on(multicast_fabric(8, 1), allgathers({{0, 1, 2, 3, 4, 5, 6, 7}}, 8));
  ASSERT_EQ(times.links.size(), 3U); // gpu--nvswitch, nvswitch--nic, nic--leaf
  for (const LinkClassUse& its : times.links) {
    EXPECT_EQ(its.links, 16U) << its.name;
    EXPECT_NEAR(its.bytes, 8 * BLOCK + 8 * 7 * BLOCK, 1) << its.name; // up once, down to all but the root
  }
  EXPECT_NEAR(times.ranks[0].exposed[0], times.end, 1e-12);
}

TEST(MulticastCalls, GroupsOnTheSameCablesShareThem)
{
  // Two GPUs of a node share its NIC: their groups' blocks need the cable for twice as long.
  const std::string text   = replaced(multicast_fabric(4, 2, "chains = 4\n"), "gpus = 2", "gpus = 2\nnics = 1");
  const IterationTimes one = multicast_on(text, allgathers({{0, 2, 4, 6}, {1}, {3}, {5}, {7}}, 8));
  const IterationTimes two = multicast_on(text, allgathers({{0, 2, 4, 6}, {1, 3, 5, 7}}, 8));
  EXPECT_NEAR(two.end - one.end, 3 * BLOCK / CABLE, 1e-9);
}

TEST(MulticastCalls, GroupsOfANodeStayNccls)
{
  const Workload workload    = allgathers({{0, 1}, {2, 3}}, 4);
  const std::string text     = multicast_fabric(2, 2);
  const IterationTimes times = multicast_on(text, workload);
  EXPECT_FALSE(times.algorithms.contains("multicast"));
  EXPECT_DOUBLE_EQ(times.end, run_iteration(workload, fabric_of(text), {}).end);
}

TEST(MulticastCalls, ATreeNeedsACommonSwitch)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4",
                         "kind = \"custom\"\nhosts = [\"a\", \"b\"]\n[[topology.cables]]\nbetween = [\"a\", \"b\"]"));
  Agenda agenda;
  FabricRoutes routes(fabric);
  const std::vector<double> capacities = FabricRoutes::capacities(fabric);
  FlowNetwork network(agenda, routes, capacities, fabric.host_count());
  MulticastCalls calls(agenda, network, fabric, capacities);
  PlannedCall call;
  call.hosts        = {0, 1};
  call.call.element = Bytes(BLOCK);
  try {
    calls.add(call, 0, "group 0 of \"data\"");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "small: there is no multicast tree for group 0 of \"data\": its GPUs reach no common "
                               "switch; choose a fabric whose switches connect them, or no multicast");
  }
}

} // namespace
} // namespace weft
