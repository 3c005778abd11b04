// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/traffic.hpp"

#include "collective/in_network/stream.hpp"
#include "fabric/fabric_test.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr std::array MOVEMENTS{Movement::allreduce,      Movement::reduce,  Movement::bcast,   Movement::allgather,
                               Movement::reduce_scatter, Movement::barrier, Movement::alltoall};

/** Two leaves of two hosts under one top switch. */
const std::string TWO_LEVELS =
    replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]");

ReductionTree tree_over(const Fabric& fabric, const std::vector<VertexId>& hosts)
{
  return *build_reduction_tree(fabric, hosts, 0).tree;
}

TreeCall call(Movement movement, double message, int root, std::vector<double> parts)
{
  return {movement, Bytes(message), root, std::move(parts)};
}

/** Returns the payload on each of a switch's links as "up/down", with children in the tree's order. */
std::string payloads(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, std::size_t position)
{
  const Traffic traffic(tree, call);
  std::string text;
  for (const TreeLink& link : tree.switches[position].links) {
    const Loads loads = traffic.loads(fabric.switch_model(0), position, link);
    text += std::to_string(static_cast<int>(loads.up.payload.value())) + "/" +
            std::to_string(static_cast<int>(loads.down.payload.value())) + " ";
  }
  return text;
}

TEST(Traffic, OnAStar)
{
  const Fabric fabric      = fabric_of(FABRIC);
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  const auto star          = [&](const TreeCall& its) { return payloads(fabric, tree, its, 0); };
  EXPECT_EQ(star(call(Movement::allreduce, 100, -1, {})), "100/100 100/100 100/100 100/100 ");
  EXPECT_EQ(star(call(Movement::reduce, 100, 2, {})), "100/0 100/0 0/100 100/0 ");
  EXPECT_EQ(star(call(Movement::bcast, 100, 2, {})), "0/100 0/100 100/0 0/100 ");
  EXPECT_EQ(star(call(Movement::allgather, 100, -1, {10, 20, 30, 40})), "10/90 20/80 30/70 40/60 ");
  EXPECT_EQ(star(call(Movement::reduce_scatter, 100, -1, {10, 20, 30, 40})), "90/10 80/20 70/30 60/40 ");
  EXPECT_EQ(star(call(Movement::barrier, 0, -1, {})), "0/0 0/0 0/0 0/0 ");
  EXPECT_EQ(star(call(Movement::alltoall, 40, -1, {40, 40, 40, 40})), "30/30 30/30 30/30 30/30 ");
}

TEST(Traffic, OverTwoLevels)
{
  const Fabric fabric      = fabric_of(TWO_LEVELS);
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  const auto top           = [&](const TreeCall& its) { return payloads(fabric, tree, its, 0); };
  EXPECT_EQ(top(call(Movement::allreduce, 100, -1, {})), "100/100 100/100 ");
  EXPECT_EQ(top(call(Movement::reduce, 100, 1, {})), "0/100 100/0 ");
  EXPECT_EQ(top(call(Movement::bcast, 100, 1, {})), "100/0 0/100 ");
  EXPECT_EQ(top(call(Movement::allgather, 100, -1, {10, 20, 30, 40})), "30/70 70/30 ");
  EXPECT_EQ(top(call(Movement::reduce_scatter, 100, -1, {10, 20, 30, 40})), "70/30 30/70 ");
  EXPECT_EQ(top(call(Movement::alltoall, 40, -1, {40, 40, 40, 40})), "40/40 40/40 ");
  // Ranks per host: 1, 2, 1 and 1, five in total.
  EXPECT_EQ(top(call(Movement::alltoall, 50, -1, {50, 100, 50, 50})), "60/60 60/60 ");
}

TEST(Traffic, OfMembersThatShareAHostsCable)
{
  const Fabric fabric      = fabric_of(FABRIC);
  const ReductionTree tree = tree_over(fabric, {0, 1, 0, 1}); // hosts of members 0 and 2, 1 and 3
  const auto star          = [&](const TreeCall& its) { return payloads(fabric, tree, its, 0); };
  EXPECT_EQ(star(call(Movement::allreduce, 100, -1, {})), "200/200 200/200 ");
  EXPECT_EQ(star(call(Movement::reduce, 100, 2, {})), "100/100 200/0 ");
  EXPECT_EQ(star(call(Movement::bcast, 100, 3, {})), "0/200 100/100 ");
  EXPECT_EQ(star(call(Movement::allgather, 100, -1, {10, 20, 30, 40})), "40/160 60/140 ");
  EXPECT_EQ(star(call(Movement::alltoall, 40, -1, {40, 40, 40, 40})), "60/60 60/60 ");
}

TEST(Traffic, CountsThePacketsOfEachPartAlone)
{
  const Fabric fabric      = fabric_of(TWO_LEVELS); // 100 B of payload and 25 B of overhead per packet
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  const TreeCall gather    = call(Movement::allgather, 304, -1, {1, 101, 202, 0});
  const Traffic traffic(tree, gather);
  const Loads loads = traffic.loads(fabric.switch_model(0), tree.switches[0].links[0].below, 1);
  EXPECT_EQ(loads.up.wire.value(), 102 + 3 * 25);
  EXPECT_EQ(loads.down.wire.value(), 202 + 3 * 25);
  const TreeCall swap = call(Movement::alltoall, 404, -1, {404, 404, 404, 404}); // blocks of 101 B
  const Loads blocks  = Traffic(tree, swap).loads(fabric.switch_model(0), 0, tree.switches[0].links[0]);
  EXPECT_EQ(blocks.up.packets, 2 * 2 * 2);
  EXPECT_EQ(blocks.up.wire.value(), 2 * 2 * (101 + 2 * 25));
}

/** Returns the vectors of 10 packets on each link, up and down, of the tree over all hosts if no packet finds a slot,
 * by index of the switch in the tree. */
std::vector<std::vector<std::pair<double, double>>> vectors_through_a_server(const Fabric& fabric, Movement movement)
{
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  TreeCall passed_on       = call(movement, 1000, movement == Movement::reduce ? 0 : -1, {});
  passed_on.passed_on      = 1;
  const Traffic traffic(tree, passed_on);
  std::vector<std::vector<std::pair<double, double>>> found;
  for (std::size_t position = 0; position < tree.switches.size(); ++position) {
    const SwitchModel& model                    = fabric.switch_model(tree.switches[position].index);
    std::vector<std::pair<double, double>>& its = found.emplace_back();
    for (const TreeLink& link : tree.switches[position].links) {
      const Loads loads = traffic.with_passed_on(model, link, traffic.loads(model, position, link));
      EXPECT_DOUBLE_EQ(loads.up.wire.value(), loads.up.packets * 125);
      EXPECT_DOUBLE_EQ(loads.down.payload.value(), loads.down.packets * 100);
      its.emplace_back(loads.up.packets / 10, loads.down.packets / 10);
    }
  }
  return found;
}

// Host 0 receives the vectors of the three other hosts over its leaf, and sends a result that returns from the top.
TEST(Traffic, WithoutSlotsGoesThroughTheServer)
{
  using Vectors       = std::vector<std::vector<std::pair<double, double>>>;
  const Fabric fabric = fabric_of(TWO_LEVELS);
  EXPECT_EQ(vectors_through_a_server(fabric, Movement::allreduce),
            (Vectors{{{1, 3}, {2, 1}}, {{1, 3}, {1, 1}}, {{1, 1}, {1, 1}}}));
  EXPECT_EQ(vectors_through_a_server(fabric, Movement::reduce),
            (Vectors{{{0, 2}, {2, 0}}, {{0, 3}, {1, 0}}, {{1, 0}, {1, 0}}}));
}

TEST(Traffic, OfABarrierIsPacketsWithoutPayload)
{
  const Fabric fabric      = fabric_of(FABRIC);
  const ReductionTree tree = tree_over(fabric, {0, 1, 1});
  const TreeCall barrier   = call(Movement::barrier, 0, -1, {});
  const Loads loads        = Traffic(tree, barrier).loads(fabric.switch_model(0), tree.switches[0].links[1].below, 2);
  EXPECT_EQ(loads.up.wire.value(), 2 * 25);
  EXPECT_EQ(loads.down.messages, 2);
}

// ---- Any tree, any parts

struct Some {
  Fabric fabric;
  ReductionTree tree;
  std::vector<double> parts;
  int root = 0;
};

Some something(unsigned seed)
{
  std::mt19937 random(seed);
  const auto below = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  Some some{fabric_of(replaced(
                replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [3, 2, 2]\nup = [1, 2, 2]"),
                "max_ports = 8", "max_ports = 32")),
            {},
            {},
            0};
  std::vector<VertexId> hosts{0, 11};
  for (int more = below(20); more > 0; --more)
    hosts.push_back(below(12));
  some.tree = tree_over(some.fabric, hosts);
  for (std::size_t member = 0; member < hosts.size(); ++member)
    some.parts.push_back(below(4) == 0 ? 0 : below(500));
  some.root = below(static_cast<int>(hosts.size()));
  return some;
}

TEST(Traffic, OfEveryLinkIsWhatItsMembersGiveAndGet)
{
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Some some          = something(seed);
    const double all         = std::accumulate(some.parts.begin(), some.parts.end(), 0.0);
    const TreeCall gather    = call(Movement::allgather, all, -1, some.parts);
    const TreeCall scatter   = call(Movement::reduce_scatter, all, -1, some.parts);
    const TreeCall reduce    = call(Movement::reduce, 100, some.root, {});
    const TreeCall bcast     = call(Movement::bcast, 100, some.root, {});
    const SwitchModel& model = some.fabric.switch_model(0);
    for (const TreeSwitch& node : some.tree.switches)
      for (const TreeLink& link : node.links) {
        const auto loads = [&](const TreeCall& its) {
          return Traffic(some.tree, its).loads(model, link.below, link.messages);
        };
        double inside    = 0;
        bool root_inside = false;
        for (std::size_t member = 0; member < some.parts.size(); ++member)
          if (link.below.contains(some.tree.place[member])) {
            inside += some.parts[member];
            root_inside |= static_cast<int>(member) == some.root;
          }
        const auto messages = static_cast<double>(link.messages);
        EXPECT_EQ(loads(gather).up.payload.value(), inside) << seed;
        EXPECT_EQ(loads(gather).down.payload.value(), all * messages - inside) << seed;
        EXPECT_EQ(loads(scatter).up.wire, loads(gather).down.wire) << seed;
        EXPECT_EQ(loads(scatter).down.wire, loads(gather).up.wire) << seed;
        EXPECT_EQ(loads(reduce).up.payload.value(), 100 * (messages - root_inside)) << seed;
        EXPECT_EQ(loads(reduce).down.payload.value(), root_inside ? 100 : 0) << seed;
        EXPECT_EQ(loads(bcast).up.wire, loads(reduce).down.wire) << seed;
        EXPECT_EQ(loads(bcast).down.wire, loads(reduce).up.wire) << seed;
      }
  }
}

TEST(Traffic, PlansCarryItExactly)
{
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Some some = something(seed);
    for (const Movement movement : MOVEMENTS) {
      const double all     = std::accumulate(some.parts.begin(), some.parts.end(), 0.0);
      const double message = not movement.carries_data()                       ? 0
                             : movement.in_parts() && not movement.in_blocks() ? all
                                                                               : 1234;
      std::vector<double> parts;
      if (movement.in_blocks())
        parts.assign(some.parts.size(), message);
      else if (movement.in_parts())
        parts = some.parts;
      const TreeCall its    = call(movement, message, movement.rooted() ? some.root : -1, parts);
      const StreamPlan plan = plan_streams(some.fabric, some.tree, its, some.fabric.nic().offload_copy_rate);
      const Traffic traffic(some.tree, its);
      ASSERT_EQ(plan.switches.size(), some.tree.switches.size());
      for (std::size_t position = 0; position < plan.switches.size(); ++position) {
        double expected = 0;
        for (const TreeLink& link : some.tree.switches[position].links) {
          const Loads loads = traffic.loads(some.fabric.switch_model(0), position, link);
          expected += (loads.up.wire + loads.down.wire).value();
        }
        double planned = 0;
        for (const StreamFlow& flow : plan.switches[position].flows) {
          EXPECT_NEAR(flow.wire / flow.rate_limit / plan.streaming, 1, 1e-12); // no flow is faster than the slowest
          for (const FlowLink& link : flow.links) {
            planned += link.wire.value();
            const double each = link.wire.value() / static_cast<double>(link.messages);
            EXPECT_LT(each,
                      2 * flow.wire.value() + 1); // the flow charges approximately the bytes that the link carries
            EXPECT_LT(flow.wire.value(), 2 * each + 1);
          }
        }
        EXPECT_DOUBLE_EQ(planned, expected) << seed;
      }
    }
  }
}

// ---- Times on a quiet fabric: 1 us and 1 GB/s a link, 3 us processing, 0.25 us forwarding, 2 us overhead, 4 slots

double duration(const Fabric& fabric, const ReductionTree& tree, const TreeCall& its)
{
  return plan_streams(fabric, tree, its, fabric.nic().offload_copy_rate).duration().value();
}

TEST(Stream, OfEachCollectiveOnAStar)
{
  const Fabric fabric      = fabric_of(FABRIC);
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  const auto star          = [&](const TreeCall& its) { return duration(fabric, tree, its); };
  EXPECT_DOUBLE_EQ(star(call(Movement::allreduce, 400, -1, {})), 7e-6 + 500e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::reduce, 400, 1, {})), 7e-6 + 500e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::bcast, 400, 1, {})), 4.25e-6 + 500e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::barrier, 0, -1, {})), 7e-6 + 25e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::allgather, 400, -1, {100, 100, 100, 100})), 4.25e-6 + 375e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::reduce_scatter, 400, -1, {100, 100, 100, 100})), 7e-6 + 375e-9);
  // Only reductions wait for slots: 800 B are two windows.
  EXPECT_NEAR(star(call(Movement::reduce, 800, 1, {})), 7e-6 + 9e-6 + 500e-9, 1e-15);
  EXPECT_DOUBLE_EQ(star(call(Movement::bcast, 800, 1, {})), 4.25e-6 + 1000e-9);
  // Three blocks of 100 B each way.
  EXPECT_DOUBLE_EQ(star(call(Movement::alltoall, 400, -1, {400, 400, 400, 400})), 4.25e-6 + 375e-9);
  EXPECT_DOUBLE_EQ(star(call(Movement::alltoall, 4000, -1, {4000, 4000, 4000, 4000})), 4.25e-6 + 3750e-9);
}

TEST(Stream, OfEachCollectiveOverTwoLevels)
{
  const Fabric fabric      = fabric_of(TWO_LEVELS);
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  const auto two           = [&](const TreeCall& its) { return duration(fabric, tree, its); };
  const double hops        = 2e-6 + 4e-6; // the host and four links
  EXPECT_DOUBLE_EQ(two(call(Movement::allreduce, 100, -1, {})), hops + 6.25e-6 + 125e-9);
  EXPECT_DOUBLE_EQ(two(call(Movement::reduce, 100, 3, {})), hops + 9e-6 + 125e-9);
  EXPECT_DOUBLE_EQ(two(call(Movement::bcast, 100, 3, {})), hops + 0.75e-6 + 125e-9);
  EXPECT_DOUBLE_EQ(two(call(Movement::allgather, 400, -1, {100, 100, 100, 100})), hops + 0.75e-6 + 375e-9);
  EXPECT_DOUBLE_EQ(two(call(Movement::reduce_scatter, 400, -1, {100, 100, 100, 100})), hops + 9e-6 + 375e-9);
  // Four blocks of 100 B cross a leaf's cable each way.
  EXPECT_DOUBLE_EQ(two(call(Movement::alltoall, 400, -1, {400, 400, 400, 400})), hops + 0.75e-6 + 500e-9);
}

TEST(Stream, OfMovedBytesIsNoFasterThanTheHostCopies)
{
  const Fabric fabric      = fabric_of(replaced(FABRIC, "[nic]", "[nic]\noffload_copy_rate = \"20MBps\""));
  const ReductionTree tree = tree_over(fabric, {0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(duration(fabric, tree, call(Movement::bcast, 1e6, 0, {})), 4.25e-6 + 1e6 / 20e6);
  EXPECT_DOUBLE_EQ(duration(fabric, tree, call(Movement::barrier, 0, -1, {})), 7e-6 + 25e-9);
}

} // namespace
} // namespace weft
