// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/libraries/shared_memory.hpp"

#include "base/error.hpp"
#include "collective/host/engine/walk.hpp"
#include "collective/host/fallback.hpp"
#include "collective/host/prediction.hpp"
#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr double COPY = 1e9; // bytes per second
constexpr double SUM  = COPY;
constexpr double FLAG = 0.1e-6; // latency within a host

HostCall call_of(std::string_view collective, int ranks, Elements count, int root = 0)
{
  HostCall call{collective, ranks, root, count, Bytes(4)};
  call.host = [](int) { return 0; };
  return call;
}

double time(const HostCall& call, MakeSchedule schedule)
{
  const Fabric fabric  = fabric_of(FABRIC);
  MessageCosts costs   = costs_of({}, fabric.host());
  costs.reduction_rate = BytesPerSecond(COPY);
  const Algorithm algorithm{call.collective, "", 0, schedule};
  const std::vector<int> hosts(static_cast<std::size_t>(call.ranks), 0);
  return predicted_interval(fabric, costs, hosts, call, {&algorithm, {}}, 1, Seconds(1)).value();
}

// A flag is 16 bytes, which take time on the loopback at 10 GB/s.
constexpr double TOLERANCE = 5e-9;

TEST(SharedMemory, ReleaseGatherCopiesAndAddsWhereTheBuffersAre)
{
  const double small = 4000;
  EXPECT_NEAR(time(call_of("barrier", 5, 0), barrier_release_gather), 2 * FLAG, TOLERANCE);
  EXPECT_NEAR(time(call_of("bcast", 5, 1000), bcast_release_gather), 2 * small / COPY + FLAG, TOLERANCE);
  EXPECT_NEAR(time(call_of("reduce", 5, 1000), reduce_release_gather), small / COPY + FLAG + 4 * small / SUM,
              TOLERANCE);
  EXPECT_NEAR(time(call_of("allreduce", 5, 1000), allreduce_release_gather),
              2 * small / COPY + 2 * FLAG + 4 * small / SUM, TOLERANCE);
  // With six or more ranks, a child of rank 0 has a child.
  EXPECT_NEAR(time(call_of("reduce", 6, 1000), reduce_release_gather), small / COPY + 2 * FLAG + 4 * small / SUM,
              small / SUM + TOLERANCE);
}

TEST(SharedMemory, CellsLetCopiesOverlap)
{
  // Copies into and out of the buffer overlap, one chunk behind: n + 1 chunks in sequence.
  constexpr int CELL   = 8192 - 128;
  constexpr int CHUNKS = 20;
  const double chunk   = CELL / COPY;
  EXPECT_NEAR(time(call_of("bcast", 3, CHUNKS * CELL / 4), bcast_release_gather), (CHUNKS + 1) * chunk + FLAG,
              CHUNKS * TOLERANCE + 2 * FLAG);
}

TEST(SharedMemory, SmAddsUpAtTheRootAlone)
{
  const double small = 4000;
  // The root's flag, a copy, a flag; the last rank's fragment is copied, all other fragments are added.
  EXPECT_NEAR(time(call_of("reduce", 5, 1000), reduce_sm), 2 * small / COPY + 2 * FLAG + 4 * small / SUM, TOLERANCE);
  // A rank with children makes another copy for them.
  EXPECT_NEAR(time(call_of("bcast", 5, 1000), bcast_sm), 2 * small / COPY + FLAG, TOLERANCE);
  EXPECT_NEAR(time(call_of("bcast", 6, 1000), bcast_sm), 3 * small / COPY + 2 * FLAG, TOLERANCE);
}

TEST(SharedMemory, LongVectorsMatchEveryFlag)
{
  for (const int ranks : {2, 5, 6, 9})
    for (const int root : {0, ranks - 1})
      for (const Elements count : {1, 2048, 2049, 30000})
        for (const auto& [name, schedule] :
             std::initializer_list<std::pair<std::string_view, MakeSchedule>>{{"bcast", bcast_release_gather},
                                                                              {"reduce", reduce_release_gather},
                                                                              {"bcast", bcast_sm},
                                                                              {"reduce", reduce_sm},
                                                                              {"allreduce", allreduce_release_gather},
                                                                              {"allreduce", allreduce_sm}}) {
          const HostCall call = call_of(name, ranks, count, root);
          const Walk walked   = walk(ranks, [&, make = schedule](int rank) { return make(call, rank, {}); });
          EXPECT_EQ(std::ranges::count(walked.ended, -1), 0) << name << ' ' << ranks << ' ' << count;
        }
}

TEST(SharedMemory, SelectionsTakeItWithinHosts)
{
  const HostFallback mpich = HostFallback::parse("mpich-4-ofi");
  EXPECT_EQ(mpich.choose(call_of("allreduce", 4, 10)).algorithm->name, "release_gather");
  HostCall spread = call_of("allreduce", 4, 10);
  spread.host     = [](int rank) { return rank / 2; };
  EXPECT_EQ(mpich.choose(spread).algorithm->name, "smp");
  EXPECT_EQ(HostFallback::parse("openmpi-5.0-sm").choose(call_of("bcast", 4, 10)).algorithm->name, "sm");
  // The library decides calls that a named algorithm cannot execute, and the choice names it as its library.
  const HostFallback named = HostFallback::parse("mpich-4-ofi,allreduce=release_gather");
  EXPECT_EQ(named.choose(spread).algorithm->name, "smp");
  EXPECT_EQ(named.choose(spread).library, &named.selection());
  EXPECT_EQ(named.choose(call_of("allreduce", 4, 10)).library, nullptr);
}

} // namespace
} // namespace weft
