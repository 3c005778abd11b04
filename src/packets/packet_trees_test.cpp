// SPDX-License-Identifier: LGPL-2.1-only
/* Offloaded calls as packets: closed forms, the times of streams, and published results. */
#include "collective/in_network/stream.hpp"
#include "packets/packet_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr double NANOSECOND = 1e-9;

/** Calls and messages of a network of packets. */
struct TreeRun {
  const Fabric& fabric;
  Agenda agenda;
  FabricRoutes routes{fabric};
  FlowNetwork local{agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count()};
  PacketNetwork network{agenda, routes, fabric, local};
  std::vector<double> ends;

  explicit TreeRun(const Fabric& its) : fabric(its) {}

  void start(const TreePackets& call)
  {
    ends.push_back(-1);
    network.start(call, Seconds(), Seconds(), 0,
                  [this, number = ends.size() - 1] { ends[number] = agenda.now().value(); });
  }
};

ReductionTree tree_over(const Fabric& fabric, const std::vector<VertexId>& hosts, std::size_t spread = 0)
{
  return *build_reduction_tree(fabric, hosts, spread).tree;
}

StreamPlan plan_of(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call)
{
  return plan_streams(fabric, tree, call, fabric.nic().offload_copy_rate);
}

double as_packets(const Fabric& fabric, const StreamPlan& plan)
{
  TreeRun run(fabric);
  run.start(*plan.packets);
  run_to_end(run.agenda);
  return run.ends.front();
}

std::vector<VertexId> hosts_to(int count)
{
  std::vector<VertexId> hosts;
  for (VertexId host = 0; host < count; ++host)
    hosts.push_back(host);
  return hosts;
}

std::string with_collectives(std::string text)
{
  return replaced(std::move(text), R"(["allreduce"])", R"(["allreduce", "reduce", "bcast", "barrier"])");
}

// 4 hosts, 1 GB/s, packets of 125 bytes, cables of 1 us, and a switch of 3 us for results.
TEST(PacketTrees, APacketCrossesTheSwitchTwice)
{
  const Fabric fabric      = packet_star(4, "switching = 'store-and-forward'");
  const ReductionTree tree = tree_over(fabric, hosts_to(4));
  for (const int packets : {1, 2, 4}) {
    const StreamPlan plan = plan_of(fabric, tree, {Movement::allreduce, Bytes(100. * packets), -1, {}});
    // A stream's packets are not stored before they are combined.
    EXPECT_NEAR(as_packets(fabric, plan), plan.duration().value() + 125e-9, 1e-12) << packets;
  }
}

// The agenda's clock is that of its last event.
TEST(PacketTrees, ACallBeginsAtThePresentTime)
{
  const Fabric fabric   = packet_star(4, "switching = 'store-and-forward'");
  const auto tree       = tree_over(fabric, hosts_to(4));
  const StreamPlan plan = plan_of(fabric, tree, {Movement::allreduce, Bytes(400), -1, {}});
  TreeRun run(fabric);
  double end = 0;
  run.network.start(*plan.packets, Seconds(1), Seconds(), 0, [&] { end = run.agenda.now().value(); });
  run_to_end(run.agenda);
  EXPECT_NEAR(end - 1, as_packets(fabric, plan), 1e-12);
}

TEST(PacketTrees, ASlotIsReusedAfterATurnaround)
{
  const Fabric fabric      = packet_star(4, "switching = 'store-and-forward'");
  const ReductionTree tree = tree_over(fabric, hosts_to(4));
  for (const double bytes : {401., 1600., 10000., 10050.}) {
    const StreamPlan plan = plan_of(fabric, tree, {Movement::allreduce, Bytes(bytes), -1, {}});
    const double last     = std::fmod(bytes - 1, 100) + 1 + 25;
    EXPECT_NEAR(as_packets(fabric, plan), plan.duration().value() + last * 1e-9, 1e-12) << bytes;
  }
}

TEST(PacketTrees, RootedCallsCrossEachLinkOnce)
{
  std::string text    = with_collectives(replaced(FABRIC, "slots = 4", "slots = 4096"));
  text                = replaced(text, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 2]");
  const Fabric fabric = fabric_of(text + "[network]\nmodel = \"packets\"\nswitching = \"store-and-forward\"\n");
  const auto tree     = tree_over(fabric, hosts_to(16));
  constexpr double TEN = 10 * 125e-9;
  for (const Movement& movement : {Movement::reduce, Movement::bcast, Movement::allreduce, Movement::barrier}) {
    const double bytes    = movement.carries_data() ? 1000 : 0;
    const StreamPlan plan = plan_of(fabric, tree, {movement, Bytes(bytes), movement.rooted() ? 5 : -1, {}});
    const double packet   = movement.carries_data() ? 125e-9 : 25e-9;
    const double train    = movement.carries_data() ? TEN : packet;
    // A packet is stored at three switches between its links.
    const double expected = plan.base_latency.value() + train + 3 * packet;
    EXPECT_NEAR(as_packets(fabric, plan), expected, 1e-12);
  }
}

TEST(PacketTrees, MembersOfAHostShareItsCable)
{
  const Fabric fabric = packet_star(4, "switching = 'store-and-forward'");
  const auto tree     = tree_over(fabric, {0, 0, 1, 1, 2, 2});
  const auto plan     = plan_of(fabric, tree, {Movement::allreduce, Bytes(400), -1, {}});
  // The last result goes down twice, after one that waited: one of the members was a packet ahead.
  EXPECT_NEAR(as_packets(fabric, plan), plan.duration().value() + 3 * 125e-9, 1e-12);
}

TEST(PacketTrees, MessagesBesideTakeTheirShare)
{
  std::string text    = replaced(FABRIC, "slots = 4", "slots = 256");
  text                = replaced(text, "payload = \"100B\"", "payload = \"4000B\"");
  text                = replaced(text, "packet_overhead = \"25B\"", "packet_overhead = \"96B\"");
  const Fabric fabric = fabric_of(text + "[network]\nmodel = \"packets\"\nflow_control = \"pfc\"\n");
  const auto tree     = tree_over(fabric, {0, 1, 2});
  const auto plan     = plan_of(fabric, tree, {Movement::allreduce, Bytes(4e6), -1, {}});
  const double quiet  = as_packets(fabric, plan);
  TreeRun run(fabric);
  TestArrivals arrivals(run.agenda);
  const std::vector<TestMessage> messages{{3, 0, 4e6}};
  const TestSenders senders(run.agenda, run.network, messages, arrivals);
  run.start(*plan.packets);
  run_to_end(run.agenda);
  EXPECT_NEAR(quiet, plan.duration().value(), 0.01 * quiet);
  EXPECT_GT(std::max(run.ends.front(), arrivals.times[0]), 1.95 * quiet); // the cable of host 0 carries both
  EXPECT_LT(std::max(run.ends.front(), arrivals.times[0]), 2.05 * quiet);
  EXPECT_GT(run.network.work().pauses, 0U);
}

/* Results of aggregation in htsim (miharulidze/atlahs-inc, simulation-scripts/results: scaleup_coll_ab and
 * scaleup_pfc_concurrent): links of 4,000 Gb/s and 50 ns, switches of 300 ns, packets of 4,096 + 64 bytes. Their hosts
 * wait 100 ns more at the end. */

Fabric htsim_fabric(const std::string& topology, int ports)
{
  std::string text = replaced(FABRIC, "kind = \"star\"\nhosts = 4", topology);
  text             = replaced(text, "max_ports = 8", "max_ports = " + std::to_string(ports));
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"bandwidth = \"1GBps\"", "bandwidth = \"4000Gbps\""},
           {"latency = \"1us\"", "latency = \"50ns\""},
           {"forwarding_latency = \"0.25us\"", "forwarding_latency = \"300ns\""},
           {"processing_latency = \"3us\"", "processing_latency = \"300ns\""},
           {"turnaround = \"9us\"", "turnaround = \"0us\""},
           {"slots = 4", "slots = 1000000"},
           {"payload = \"100B\"", "payload = \"4096B\""},
           {"packet_overhead = \"25B\"", "packet_overhead = \"64B\""}})
    text = replaced(text, what, by);
  return fabric_of(text + "[network]\nmodel = \"packets\"\npacket = \"4160B\"\nswitching = \"store-and-forward\"\n"
                          "flow_control = \"pfc\"\nxoff = \"1618240B\"\nxon = \"1293760B\"\n");
}

TreePackets htsim_call(const Fabric& fabric, const ReductionTree& tree, double bytes)
{
  TreePackets packets = *plan_of(fabric, tree, {Movement::allreduce, Bytes(bytes), -1, {}}).packets;
  packets.delay       = {};
  packets.window      = 0;
  return packets;
}

double htsim_time(const Fabric& fabric, const ReductionTree& tree, double bytes)
{
  TreeRun run(fabric);
  run.start(htsim_call(fabric, tree, bytes));
  run_to_end(run.agenda);
  return run.ends.front() / NANOSECOND;
}

const std::string THREE_TIERS = "kind = \"fat_tree\"\ndown = [4, 4, 16]\nup = [1, 4, 4]";

TEST(PublishedTrees, OneSwitch)
{
  for (const int hosts : {2, 4, 64}) {
    const Fabric fabric = htsim_fabric("kind = \"star\"\nhosts = " + std::to_string(hosts), 64);
    const auto tree     = tree_over(fabric, hosts_to(hosts));
    for (const auto& [kib, nanoseconds] :
         std::vector<std::pair<int, double>>{{4, 416}, {16, 441}, {64, 541}, {256, 940}, {1024, 2538}, {4096, 8928}})
      EXPECT_NEAR(htsim_time(fabric, tree, kib * 1024.), nanoseconds, 1) << hosts << " hosts, " << kib << " KiB";
  }
}

TEST(PublishedTrees, ThreeTiers)
{
  const Fabric fabric = htsim_fabric(THREE_TIERS, 16);
  const auto tree     = tree_over(fabric, hosts_to(64));
  for (const auto& [kib, nanoseconds] :
       std::vector<std::pair<int, double>>{{4, 1849}, {16, 1874}, {64, 1974}, {256, 2374}, {1024, 3971}, {4096, 10361}})
    EXPECT_NEAR(htsim_time(fabric, tree, kib * 1024.), nanoseconds, 1) << kib << " KiB";
}

// Groups of a host in each of eight pods, over a core switch each or all over the same.
TEST(PublishedTrees, TreesThatShareACore)
{
  const Fabric fabric    = htsim_fabric(THREE_TIERS, 16);
  constexpr double BYTES = 65536;
  const auto makespan    = [&](int groups, bool spread) {
    TreeRun run(fabric);
    std::vector<ReductionTree> trees;
    for (int group = 0; group < groups; ++group) {
      std::vector<VertexId> hosts;
      for (int pod = 0; pod < 8; ++pod)
        hosts.push_back(16 * pod + group);
      trees.push_back(tree_over(fabric, hosts, spread ? static_cast<std::size_t>(group) : 0));
    }
    for (const ReductionTree& tree : trees)
      run.start(htsim_call(fabric, tree, BYTES));
    run_to_end(run.agenda);
    return std::ranges::max(run.ends) / NANOSECOND + 100;
  };
  for (const int groups : {1, 4, 16})
    EXPECT_NEAR(makespan(groups, true), 2074, 1) << groups;
  for (const auto& [groups, nanoseconds] :
       std::vector<std::pair<int, double>>{{2, 2216}, {4, 2482}, {8, 3023}, {16, 4104}})
    EXPECT_NEAR(makespan(groups, false), nanoseconds, 0.01 * nanoseconds) << groups;
}

} // namespace
} // namespace weft
