// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_schedules.hpp"

#include "base/error.hpp"
#include "collective/host/engine/walk.hpp"
#include "collective/host/nccl/nccl_library.hpp"
#include "collective/host/nccl/nccl_plan.hpp"
#include "collective/host/prediction.hpp"
#include "fabric/fabric_test.hpp"

#include <bitset>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace weft {
namespace {

constexpr double NCCL_MEBI = 1024 * 1024;

/** Returns a star of 16 GPUs at 100 GB/s, @p gpus_a_node per node, whose channels have 10 GB/s. */
std::string star_of_gpus(int gpus_a_node, const std::string& variables = "")
{
  std::string text = FABRIC;
  const auto set   = [&text](const std::string& old, const std::string& now) {
    text.replace(text.find(old), old.size(), now);
  };
  set("hosts = 4", "hosts = 16");
  set("max_ports = 8", "max_ports = 16");
  set("bandwidth = \"1GBps\"", "bandwidth = \"100GBps\"");
  text += "\n[nccl]\narchitecture = \"hopper\"\ncpu = \"intel\"\ncollnet = \"yes\"\ngpus_per_node = " +
          std::to_string(gpus_a_node) + "\n" + variables;
  for (const std::string of : {"ring", "tree", "nvls", "nvlstree", "pat", "collnetdirect", "collnetchain"})
    text += "\n[[nccl.graph]]\nof = \"" + of + "\"\nchannels = 8\nintra = \"10GBps\"\ninter = \"10GBps\"\n";
  return text;
}

std::string forced_nccl(const std::string& algorithm, const std::string& protocol)
{
  return "NCCL_ALGO = \"" + algorithm + "\"\nNCCL_PROTO = \"" + protocol + "\"\n";
}

/** Call of NCCL on a fabric, with the objects that it refers to. */
struct NcclCalled {
  Fabric fabric;
  NcclLibrary library;
  HostCall call;

  NcclCalled(const std::string& text, HostCall its) : fabric(fabric_of(text)), library("nccl-2.29", fabric), call(its)
  {
    call.host = [](int rank) { return rank; };
    call.nccl = library.plan(call);
  }
  Walk walked() const
  {
    return walk(call.ranks, [this](int rank) { return nccl_steps(call, rank, {}); });
  }
  double seconds() const
  {
    std::vector<int> hosts(static_cast<std::size_t>(call.ranks));
    std::iota(hosts.begin(), hosts.end(), 0);
    const Selection::Choice choice{&NcclLibrary::algorithm(*call.nccl), {}};
    return predicted_time(fabric, costs_of({}, fabric.host()), hosts, call, choice).value();
  }
};

/** Returns, for each rank, the ranks whose data it may hold at the end. */
std::vector<std::bitset<16>> gpus_heard(const Walk& walk, int ranks)
{
  std::vector<std::bitset<16>> known(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < known.size(); ++rank)
    known[rank].set(rank);
  for (auto begin = walk.messages.begin(); begin != walk.messages.end();) {
    const auto before = known;
    for (const int round = begin->round; begin != walk.messages.end() && begin->round == round; ++begin)
      known[static_cast<std::size_t>(begin->to)] |= before[static_cast<std::size_t>(begin->from)];
  }
  return known;
}

/** Returns the bytes that each rank sends. */
std::vector<double> bytes_sent(const Walk& walk, int ranks)
{
  std::vector<double> bytes(static_cast<std::size_t>(ranks));
  for (const WalkedMessage& one : walk.messages)
    bytes[static_cast<std::size_t>(one.from)] += one.bytes.value();
  return bytes;
}

using NcclCheck = std::function<void(const NcclCalled& made, const std::string& algorithm)>;

/** Returns whether an algorithm can execute a collective on nodes of @p a_node GPUs each. */
bool runs_on(const std::string& algorithm, const std::string& protocol, std::string_view collective, int ranks,
             int a_node)
{
  if (algorithm == "ring")
    return true;
  if (algorithm == "pat")
    return a_node == 1 && protocol == "Simple" && (collective == "allgather" || collective == "reduce_scatter_block");
  if (collective != "allreduce" || (algorithm != "tree" && protocol != "Simple"))
    return false;
  const bool several = ranks > a_node && ranks % a_node == 0;
  return algorithm == "tree" || several || (algorithm == "nvls" && ranks <= a_node);
}

/** Checks the collectives of all algorithms and protocols on 2 to 16 ranks, on one node and on several. */
void for_all_gpus(const NcclCheck& check)
{
  for (const std::string algorithm : {"ring", "tree", "nvls", "nvlstree", "pat", "collnetdirect", "collnetchain"})
    for (const std::string protocol : {"LL", "LL128", "Simple"})
      for (const std::string_view collective : names_of<NcclCollective>())
        for (const int a_node : {1, 2, 4, 16})
          for (int ranks = 2; ranks <= 16; ++ranks)
            for (const int root : {0, ranks - 1}) {
              const bool rooted  = collective == "bcast" || collective == "reduce";
              const bool classic = algorithm == "ring" || algorithm == "tree";
              if ((root > 0 && not rooted) || (classic && protocol != "LL" && ranks % 4 != 0))
                continue;
              if (not runs_on(algorithm, protocol, collective, ranks, a_node))
                continue;
              SCOPED_TRACE(algorithm + " " + protocol + " " + std::string(collective) + " " + std::to_string(ranks) +
                           " ranks, " + std::to_string(a_node) + " a node, root " + std::to_string(root));
              check(NcclCalled(star_of_gpus(a_node, forced_nccl(algorithm, protocol)),
                               {collective, ranks, root, 50000, Bytes(4)}),
                    algorithm);
            }
}

TEST(NcclSchedules, EndAndGiveEachRankWhatItMustHave)
{
  for_all_gpus([](const NcclCalled& made, const std::string&) {
    const HostCall& call = made.call;
    const Walk walk      = made.walked();
    EXPECT_EQ(std::ranges::count(walk.ended, -1), 0);
    const auto known = gpus_heard(walk, call.ranks);
    for (int rank = 0; rank < call.ranks; ++rank)
      for (int from = 0; from < call.ranks; ++from) {
        const bool must = call.collective == "bcast"    ? from == call.root
                          : call.collective == "reduce" ? rank == call.root
                                                        : true;
        ASSERT_TRUE(known[static_cast<std::size_t>(rank)].test(static_cast<std::size_t>(from)) || not must)
            << rank << " of " << from;
      }
  });
}

/** Returns the number of vectors, or blocks, that all ranks together send. */
double vectors_sent(const std::string& algorithm, std::string_view collective, double ranks, double nodes)
{
  if (collective == "allgather" || collective == "reduce_scatter_block" || collective == "alltoall")
    return ranks * (ranks - 1);
  if (collective != "allreduce")
    return ranks - 1;
  const double gpus    = ranks / nodes;
  const double to_nvls = gpus > 1 ? ranks + nodes : 0; // 1 + 1/n of the vector from each GPU
  const double beyond  = nodes > 1 ? nodes : 0;        // once from each node to the switches of the network
  if (algorithm == "nvls")
    return to_nvls + beyond;
  if (algorithm == "nvlstree")
    return to_nvls + 2 * (nodes - 1);
  if (algorithm == "collnetdirect" || algorithm == "collnetchain")
    return 2 * nodes * (gpus - 1) + beyond;
  return 2 * (ranks - 1);
}

TEST(NcclSchedules, SendEachByteAsOftenAsTheAlgorithmMust)
{
  for_all_gpus([](const NcclCalled& made, const std::string& algorithm) {
    const HostCall& call = made.call;
    const double vector  = call.bytes(call.count).value() * made.call.nccl->wire;
    const double ranks   = call.ranks;
    const auto bytes     = bytes_sent(made.walked(), call.ranks);
    const double all     = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    EXPECT_NEAR(all, vector * vectors_sent(algorithm, call.collective, ranks, made.call.nccl->nodes.number()),
                1e-6 * all);
    if (algorithm == "ring" && call.collective != "bcast" && call.collective != "reduce") {
      EXPECT_NEAR(*std::ranges::max_element(bytes), all / ranks, 1e-6 * all);
    }
  });
}

TEST(NcclSchedules, RingsOnSeveralChannelsAreAsManyTimesFaster)
{
  for (const std::string collective : {"allreduce", "allgather", "reduce_scatter_block", "bcast", "reduce"})
    for (const int a_node : {2, 16}) {
      const auto seconds = [&](int channels) {
        const std::string only = "NCCL_MAX_NCHANNELS = " + std::to_string(channels) + "\n";
        return NcclCalled(star_of_gpus(a_node, forced_nccl("ring", "Simple") + only),
                          {collective, 8, 0, 1 << 30, Bytes(1)})
            .seconds();
      };
      const double one = seconds(1);
      for (const int channels : {2, 4, 8})
        EXPECT_NEAR(one / seconds(channels), channels, 0.05 * channels) << collective << " " << a_node;
    }
}

// 2 (n - 1) / n of the vector at the rate of all channels, the latency of the call, and the last chunk's copy.
TEST(NcclSchedules, ALargeRingTakesTheTimeOfItsChannels)
{
  const double bytes = 512 * NCCL_MEBI;
  const double rate  = 8 * 10e9;
  const NcclCalled made(star_of_gpus(16, forced_nccl("ring", "Simple")),
                        {"allreduce", 4, 0, static_cast<Elements>(bytes), Bytes(1)});
  EXPECT_NEAR(made.seconds(), bytes * 1.5 / rate + 8.4e-6 + 8 * 2 * NCCL_MEBI / rate, 30e-6);
}

// A fabric's links limit the rate of the channels.
TEST(NcclSchedules, SlowLinksLimitChannels)
{
  const double bytes = 512 * NCCL_MEBI;
  std::string text   = star_of_gpus(16, forced_nccl("ring", "Simple"));
  text.replace(text.find("100GBps"), 7, "20GBps");
  const NcclCalled made(text, {"allreduce", 4, 0, static_cast<Elements>(bytes), Bytes(1)});
  EXPECT_GT(made.seconds(), bytes * 1.5 / 20e9);
  EXPECT_LT(made.seconds(), bytes * 1.5 / 20e9 * 1.1);
}

TEST(NcclSchedules, NvlsTakesTheTimeOfTheTunersModel)
{
  const double bytes = 1024 * NCCL_MEBI;
  const NcclCalled made(star_of_gpus(16, forced_nccl("nvls", "Simple")),
                        {"allreduce", 8, 0, static_cast<Elements>(bytes), Bytes(1)});
  const double rate  = 8 * 10e9 * 8 / 14; // ncclTopoTuneModel: at most the rate of its channels between nodes
  const double chunk = 64 * 128 * 1024;
  EXPECT_NEAR(made.seconds(), bytes / rate + 25e-6 + 2 * chunk / rate, 20e-6);
}

// Reductions within nodes, between nodes and the return of results are pipelined in chunks: the slowest stage
// determines the time.
TEST(NcclSchedules, LargeCallsOfTwoLevelsTakeTheTimeOfTheTunersModel)
{
  for (const std::string algorithm : {"nvls", "nvlstree", "collnetdirect", "collnetchain"}) {
    const NcclCalled made(star_of_gpus(4, forced_nccl(algorithm, "Simple")), {"allreduce", 16, 0, 1 << 30, Bytes(1)});
    const NcclTuner tuner(NcclConstants::load("2.29"), *made.fabric.nccl());
    double bandwidth = 0;
    for (const NcclOption& one : tuner.options(NcclCollective::allreduce, {16, 4}))
      if (to_text(one.algorithm) == algorithm)
        bandwidth = one.bandwidth.value();
    EXPECT_GT(made.seconds(), (1 << 30) / bandwidth) << algorithm;
    EXPECT_LT(made.seconds(), (1 << 30) / bandwidth * 1.1) << algorithm;
  }
}

// log2 steps, each with a share of the network's latency plus a latency per block.
TEST(NcclSchedules, PatTakesFewStepsForShortBlocks)
{
  for (const std::string collective : {"allgather", "reduce_scatter_block"}) {
    const NcclCalled made(star_of_gpus(1, forced_nccl("pat", "Simple")), {collective, 16, 0, 4, Bytes(4)});
    const double links = 4 * 4e-6; // the star's links, in each direction
    EXPECT_NEAR(made.seconds(), 8e-6 + 4 * 14e-6 / 3.5 + 15 * 2.8e-6 + links, links) << collective;
  }
}

std::string with_messages(const std::string& text, const std::string& rows)
{
  return text + "\n[[nccl.message]]\nfrom = \"0B\"\n" + rows;
}

/** Returns the time of an Alltoall of two GPUs on two nodes, at 80 GB/s, with blocks of @p bytes. */
double seconds_of_exchange(const std::string& rows, Elements bytes)
{
  return NcclCalled(with_messages(star_of_gpus(1), rows), {"alltoall", 2, 0, bytes, Bytes(1)}).seconds();
}

TEST(NcclSchedules, MessagesBetweenNodesHaveTheCostsOfTheirNetwork)
{
  constexpr Elements CHUNK = 128 * 1024; // of point-to-point messages between nodes
  const double latency     = seconds_of_exchange("latency = \"20us\"\n", 1000);
  EXPECT_NEAR(seconds_of_exchange("latency = \"50us\"\n", 1000) - latency, 30e-6, 1e-9);
  EXPECT_NEAR(seconds_of_exchange("latency = \"20us\"\ncopy_rate = \"1GBps\"\n", 1000) - latency, 1e-6, 1e-9);
  // Eight chunks, each longer by the bytes that the links carry in a microsecond; otherwise the channels are slower
  // than the links.
  const std::string longer = "latency = \"20us\"\noverhead = \"100kB\"\n";
  const double channels    = 8 * CHUNK / 80e9;
  const double links       = 2.25e-6 + (8 * CHUNK + 800e3) / 100e9;
  const double without     = seconds_of_exchange("latency = \"20us\"\n", 8 * CHUNK);
  EXPECT_NEAR(seconds_of_exchange(longer, 8 * CHUNK) - without, links - channels, 1e-9);
}

// A ring's messages after the first eight slots: 16 slices of LL, of 2 x 8 x 15 that a rank sends for 8 chunks.
TEST(NcclSchedules, LateMessagesCostMore)
{
  const auto seconds = [](const std::string& rows, int ranks) {
    return NcclCalled(with_messages(star_of_gpus(1, forced_nccl("ring", "LL")), "latency = \"5us\"\n" + rows),
                      {"allgather", ranks, 0, 1000, Bytes(1)})
        .seconds();
  };
  const std::string late = "late_overhead = \"1MB\"\n";
  EXPECT_DOUBLE_EQ(seconds(late, 8), seconds("", 8)); // 14 slices
  EXPECT_GT(seconds(late, 16), seconds("", 16) + 10e-6);
}

TEST(NcclSchedules, AnAlltoallTakesTimeForEachPeer)
{
  const auto seconds = [](const std::string& variables) {
    return NcclCalled(star_of_gpus(4, variables), {"alltoall", 16, 0, 4, Bytes(4)}).seconds();
  };
  EXPECT_NEAR(seconds("peer_overhead = \"2us\"\n") - seconds(""), 30e-6, 1e-9);
}

// Trees with LL128 have shorter chunks in short calls, and in 2.18 those with Simple.
TEST(NcclTuner, ShortensChunksOfTrees)
{
  const auto chunk = [](const std::string& version, const std::string& protocol, double mebibytes) {
    const Fabric fabric = fabric_of(star_of_gpus(4, forced_nccl("tree", protocol)));
    const NcclTuner tuner(NcclConstants::load(version), *fabric.nccl());
    return tuner.choose(NcclCollective::allreduce, {16, 4}, Bytes(mebibytes * NCCL_MEBI)).chunk.value() / 1024;
  };
  EXPECT_DOUBLE_EQ(chunk("2.29", "Simple", 1), 512);
  EXPECT_DOUBLE_EQ(chunk("2.18", "Simple", 1), 32);  // depth 5: fewer than 5 chunks of 64 KiB for each of 8 channels
  EXPECT_DOUBLE_EQ(chunk("2.18", "Simple", 16), 64); // 16 of 128 KiB, fewer than 20
  EXPECT_DOUBLE_EQ(chunk("2.18", "Simple", 512), 512);
  EXPECT_DOUBLE_EQ(chunk("2.29", "LL128", 512), 562.5);
  EXPECT_LT(chunk("2.29", "LL128", 4), 100);
}

TEST(NcclPlan, TreesSpanAllNodesTwice)
{
  for (int nodes = 1; nodes <= 33; ++nodes)
    for (const bool second : {false, true}) {
      const std::vector<int> parents = nccl_tree(nodes, second);
      std::map<int, int> children;
      for (int node = 0; node < nodes; ++node) {
        int at = node;
        for (int steps = 0; parents[static_cast<std::size_t>(at)] != NcclLane::NOBODY; ++steps) {
          ASSERT_LT(steps, 7) << nodes;
          at = parents[static_cast<std::size_t>(at)];
        }
        if (parents[static_cast<std::size_t>(node)] != NcclLane::NOBODY) {
          EXPECT_LE(++children[parents[static_cast<std::size_t>(node)]], 2);
        }
      }
      EXPECT_EQ(std::ranges::count(parents, NcclLane::NOBODY), 1);
    }
}

TEST(NcclLibrary, TakesWhatNcclHas)
{
  HostCall call{"allreduce", 4, 0, 10, Bytes(4)};
  EXPECT_TRUE(NcclLibrary::takes(call));
  call.predefined = false;
  EXPECT_FALSE(NcclLibrary::takes(call));
  EXPECT_TRUE(NcclLibrary::takes({"alltoall", 4, 0, 10, Bytes(4)}));
  EXPECT_FALSE(NcclLibrary::takes({"scan", 4, 0, 10, Bytes(4)}));
}

TEST(NcclLibrary, RefusesRanksThatShareAGpu)
{
  const Fabric fabric = fabric_of(star_of_gpus(4));
  const NcclLibrary library("nccl-2.29", fabric);
  HostCall call{"allreduce", 4, 0, 10, Bytes(4)};
  call.host = [](int rank) { return rank / 2; };
  EXPECT_THROW(library.plan(call), UserError);
  EXPECT_THROW(NcclLibrary("nccl-2.29", fabric_of(FABRIC)), UserError);
}

TEST(NcclLibrary, NeedsSwitchesThatReduceForCollNet)
{
  const std::string text = replaced(star_of_gpus(4), "collectives = [\"allreduce\"]", "collectives = [\"barrier\"]");
  EXPECT_THROW(NcclLibrary("nccl-2.29",
                           fabric_of(replaced(text, "datatypes = [\"MPI_INT\"]\noperations = [\"MPI_SUM\"]\n", ""))),
               UserError);
}

} // namespace
} // namespace weft
