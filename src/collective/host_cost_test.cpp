// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host_cost.hpp"

#include "fabric/fabric_test.hpp"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** FABRIC's point-to-point times: 2 links of 1 us, a switch of 0.25 us, 1 GB/s, SMPI's 16 bytes. */
double wire(double bytes, int ranks_a_host = 1)
{
  return 2.25e-6 + ranks_a_host * (bytes + 16) / 1e9;
}

/** Between ranks of one host: 0.1 us, 10 GB/s. */
double loopback(double bytes)
{
  return 0.1e-6 + (bytes + 16) / 10e9;
}

/** @p ranks of each of the first @p hosts hosts, host by host. */
std::vector<VertexId> placed(int hosts, int ranks = 1)
{
  std::vector<VertexId> rank_hosts;
  for (VertexId host = 0; host < hosts; ++host)
    rank_hosts.insert(rank_hosts.end(), static_cast<std::size_t>(ranks), host);
  return rank_hosts;
}

const Fabric& star()
{
  static const Fabric FABRIC_OF_8 = fabric_of(replaced(FABRIC, "hosts = 4", "hosts = 8"));
  return FABRIC_OF_8;
}

double cost(const Fabric& fabric, const std::vector<VertexId>& rank_hosts, const std::string& name, double bytes)
{
  return HostCost(fabric, rank_hosts).time(collective(name), Bytes(bytes)).value();
}

/** On the star, one rank a host. */
double cost(int ranks, const std::string& collective, double bytes)
{
  return cost(star(), placed(ranks), collective, bytes);
}

constexpr double SMALL = 8;
constexpr double LARGE = 1e9;

void expect_time(double found, double expected)
{
  EXPECT_NEAR(found, expected, expected * 1e-12);
}

TEST(HostCost, OfABarrierIsDissemination)
{
  const std::vector<int> rounds{0, 0, 1, 2, 2, 3, 3, 3, 3};
  for (int ranks = 2; ranks <= 8; ++ranks)
    expect_time(cost(ranks, "barrier", 0), rounds[static_cast<std::size_t>(ranks)] * wire(0));
}

TEST(HostCost, OfASmallAllreduceIsRecursiveDoubling)
{
  expect_time(cost(2, "allreduce", SMALL), wire(SMALL));
  expect_time(cost(4, "allreduce", SMALL), 2 * wire(SMALL));
  expect_time(cost(8, "allreduce", SMALL), 3 * wire(SMALL));
  expect_time(cost(5, "allreduce", SMALL), 4 * wire(SMALL)); // two more rounds for the fifth
}

TEST(HostCost, OfALargeAllreduceIsRabenseifnersOrTheRing)
{
  expect_time(cost(4, "allreduce", LARGE), 2 * (wire(LARGE / 2) + wire(LARGE / 4)));
  expect_time(cost(3, "allreduce", LARGE), 4 * wire(LARGE / 3));
}

TEST(HostCost, OfAReduceIsABinomialTreeOrRabenseifners)
{
  // Of 8 ranks 4 send at once and leave, 2 after a round, one after two, and the root has three.
  expect_time(cost(8, "reduce", SMALL), (2 * 1 + 1 * 2 + 1 * 3) / 8. * wire(SMALL));
  expect_time(cost(4, "reduce", LARGE), (2 * 1 + 1 * 2 + 1 * 2) / 4. * wire(LARGE));
}

TEST(HostCost, OfABroadcastIsABinomialTreeOrScatterAndAllgather)
{
  // A round for each bit of a rank's number; who sends to j ranks and more does so at once.
  expect_time(cost(2, "bcast", SMALL), wire(SMALL) / 2);
  expect_time(cost(4, "bcast", SMALL), (2 * wire(SMALL, 2) + 2 * wire(SMALL, 2)) / 4);
  expect_time(cost(5, "bcast", SMALL), (2 * wire(SMALL, 2) + 2 * wire(SMALL, 3) + 1 * wire(SMALL, 3)) / 5);
  expect_time(cost(4, "bcast", LARGE), 2 * (wire(LARGE / 4) + wire(LARGE / 2)));
}

TEST(HostCost, OfAnAllgatherIsRecursiveDoublingOrTheRing)
{
  for (const std::string name : {"allgather", "allgatherv"}) {
    expect_time(cost(8, name, SMALL), wire(SMALL) + wire(2 * SMALL) + wire(4 * SMALL));
    expect_time(cost(5, name, SMALL), wire(SMALL) + wire(2 * SMALL) + wire(SMALL)); // Bruck's last round is short
  }
  // In the ring, one rank a host sends to another host; in recursive doubling all do.
  expect_time(cost(star(), placed(2, 2), "allgather", LARGE), 3 * wire(LARGE));
}

TEST(HostCost, OfAReduceScatterIsRecursiveHalvingOrPairwise)
{
  expect_time(cost(4, "reduce_scatter", SMALL), wire(SMALL / 2) + wire(SMALL / 4));
  expect_time(cost(3, "reduce_scatter", LARGE), 2 * wire(LARGE / 3));
}

TEST(HostCost, OfAnAlltoallIsBrucksOrAllAtOnce)
{
  expect_time(cost(2, "alltoall", 2 * SMALL), wire(SMALL));
  expect_time(cost(8, "alltoall", 8 * LARGE), wire(LARGE, 1) + 6 * (LARGE + 16) / 1e9);
  expect_time(cost(8, "alltoall", 8 * SMALL), wire(SMALL) + 6 * (SMALL + 16) / 1e9); // latencies at once
  // A wire of 1 MB/s, so that the envelopes of 7 messages count: Bruck's has 3, of 4 blocks each.
  const Fabric slow = fabric_of(replaced(replaced(FABRIC, "hosts = 4", "hosts = 8"), "1GBps", "1MBps"));
  expect_time(cost(slow, placed(8), "alltoall", 8), 3 * (2.25e-6 + (4 + 16) / 1e6));
  // Of 5 ranks over the distances 1, 2 and 4: 2, 2 and 1 blocks.
  expect_time(cost(slow, placed(5), "alltoall", 5), 3 * 2.25e-6 + (2 + 2 + 1 + 3 * 16) / 1e6);
}

TEST(HostCost, OfOpenMpisChoicesIsWhatTheyTake)
{
  const auto chosen = [](int ranks, const std::string& name, double bytes, const std::string& algorithm) {
    return HostCost(star(), placed(ranks)).time(collective(name), Bytes(bytes), algorithm).value();
  };
  expect_time(chosen(8, "reduce_scatter", 262144, "ompi"), 7 * wire(32768));
  expect_time(chosen(8, "reduce_scatter", 262140, "ompi"), cost(8, "reduce_scatter", 262140));
  expect_time(chosen(8, "reduce_scatter", 262144, "mpich"), cost(8, "reduce_scatter", 262144));
  // Of an Alltoall of small blocks among 16 ranks and more Bruck's rounds, here of 8 blocks each, the first in hosts.
  const auto two_a_host = [](double bytes) {
    return HostCost(star(), placed(8, 2)).time(collective("alltoall"), Bytes(16 * bytes), "ompi").value();
  };
  expect_time(two_a_host(508), loopback(8 * 508) + 3 * wire(8 * 508, 2));
  expect_time(two_a_host(512), wire(512, 2 * 15));
  // What is not eager waits for its receiver, so that each rank stays a round longer, but for the root.
  expect_time(chosen(8, "reduce", 65536, "ompi"), (4 * 1 + 2 * 2 + 1 * 3 + 1 * 3) / 8. * wire(65536));
  // Four segments of 1 KiB: three more rounds for all that have others below them.
  expect_time(chosen(8, "reduce", 4096, "ompi"), (2 * (1 + 3) + 1 * (2 + 3) + 1 * (3 + 3)) / 8. * wire(1024));
  expect_time(chosen(8, "reduce", 65535, "ompi"), (2 * 1 + 1 * 2 + 1 * 3) / 8. * wire(65535));
  expect_time(chosen(4, "reduce", LARGE, "ompi"), cost(4, "reduce", LARGE));
  EXPECT_EQ(chosen(1, "reduce_scatter", LARGE, "ompi"), 0);
}

TEST(HostCost, TakesLoopbackWithinAHost)
{
  expect_time(cost(star(), placed(1, 4), "allreduce", SMALL), 2 * loopback(SMALL));
  expect_time(cost(star(), placed(2, 2), "barrier", 0), loopback(0) + wire(0, 2));
}

TEST(HostCost, SharesACableAmongTheRanksOfAHost)
{
  expect_time(cost(star(), placed(4, 2), "allreduce", SMALL), loopback(SMALL) + 2 * wire(SMALL, 2));
  // Ranks dealt out round robin exchange over the network first.
  expect_time(cost(star(), {0, 1, 0, 1}, "allreduce", SMALL), wire(SMALL, 2) + loopback(SMALL));
}

TEST(HostCost, TakesTheLongestWayOfEachRound)
{
  const Fabric tree =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 2]\nup = [1, 1]"));
  const double across = 4 * 1e-6 + 3 * 0.25e-6 + 16e-9;
  expect_time(cost(tree, placed(8), "barrier", 0), 2 * wire(0) + across);
  expect_time(cost(tree, placed(4), "barrier", 0), 2 * wire(0));
}

TEST(HostCost, UsesThePointToPointFactorsOfEachMessage)
{
  const Fabric fabric =
      fabric_of(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 2\nbandwidth_factor = 0.5\n"
                         "[[point_to_point]]\nfrom = '1kB'\nlatency_factor = 3\n"
                         "bandwidth_factor = 0.25\n");
  expect_time(cost(fabric, placed(4), "allreduce", 999), 2 * (2 * 2.25e-6 + 1015 / 0.5e9));
  // Halves of 1 kB and quarters of 500 B are in different segments.
  expect_time(cost(fabric, placed(4), "reduce_scatter", 2000), (3 * 2.25e-6 + 1016 / 0.25e9) + (4.5e-6 + 516 / 0.5e9));
}

TEST(HostCost, GrowsWithTheMessage)
{
  for (const std::string& collective : offloadable_collectives())
    for (const int ranks : {2, 3, 7, 8}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e9; bytes *= 2) {
        const double now = cost(ranks, collective, bytes);
        EXPECT_GE(now, before) << collective << " " << ranks << " " << bytes;
        const bool rooted  = collective == "reduce" || collective == "bcast"; // of which few wait for all rounds
        const bool at_once = collective == "alltoall";                        // all messages at the same time
        EXPECT_GE(now, (rooted    ? 0.5
                        : at_once ? 1
                                  : std::ceil(std::log2(ranks))) *
                           2.25e-6)
            << collective << " " << ranks << " " << bytes;
        before = now;
      }
    }
}

TEST(HostCost, OfOneRankIsNothing)
{
  for (const std::string& collective : offloadable_collectives())
    EXPECT_EQ(cost(1, collective, LARGE), 0) << collective;
}

TEST(HostCost, KnowsWhatSwitchesCanDoAndNoMore)
{
  EXPECT_THROW(cost(4, "gather", SMALL), std::logic_error);
}

} // namespace
} // namespace weft
