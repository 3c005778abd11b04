// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/execution.hpp"

#include "collective/host/algorithms/neighbor.hpp"
#include "collective/host/libraries/han.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace weft {
namespace {

class Ends : public RankCallbacks {
  Agenda& agenda_;

public:
  std::vector<double> times; ///< by rank; -1: not finished
  Ends(Agenda& agenda, int ranks) : agenda_(agenda), times(static_cast<std::size_t>(ranks), -1.0) {}
  void rank_ended(int rank) override { times[static_cast<std::size_t>(rank)] = agenda_.now().value(); }
};

using Steps = std::function<Schedule(int rank)>;

std::vector<int> hosts_of(int ranks, int ranks_per_host)
{
  std::vector<int> hosts;
  hosts.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    hosts.push_back(rank / ranks_per_host);
  return hosts;
}

/** Returns the finish time of each rank, one per host; rank r enters at r times @p apart. */
std::vector<double> ends(const Fabric& fabric, const MessageCosts& costs, int ranks, const Steps& steps,
                         double apart = 0, int ranks_per_host = 1, Bytes buffers = Bytes(1e30))
{
  Agenda agenda;
  FabricRoutes ways(fabric);
  FlowNetwork network(agenda, ways, FabricRoutes::capacities(fabric), fabric.host_count());
  Ends all(agenda, ranks);
  Execution execution(agenda, network, costs, hosts_of(ranks, ranks_per_host), steps, all);
  execution.work_on(buffers);
  for (int rank = 0; rank < ranks; ++rank)
    execution.enter(rank, Seconds(rank * apart));
  agenda.run_until(Seconds(1e6));
  return all.times;
}

/** Returns the network's work counters for ranks that enter together. */
FlowNetwork::Work work_of(const Fabric& fabric, const MessageCosts& costs, int ranks, const Steps& steps,
                          int ranks_per_host)
{
  Agenda agenda;
  FabricRoutes ways(fabric);
  FlowNetwork network(agenda, ways, FabricRoutes::capacities(fabric), fabric.host_count());
  Ends all(agenda, ranks);
  Execution execution(agenda, network, costs, hosts_of(ranks, ranks_per_host), steps, all);
  for (int rank = 0; rank < ranks; ++rank)
    execution.enter(rank, Seconds(1e-3));
  agenda.run_until(Seconds(1e6));
  return network.work();
}

class ExecutionTest : public testing::Test {
protected:
  const Fabric fabric_ = fabric_of(FABRIC); // a star
  MpiModel model_;
  static constexpr double LATENCY   = 2.25e-6; // two cables and the switch
  static constexpr double BANDWIDTH = 1e9;

  static double message(double bytes) { return LATENCY + (bytes + 16) / BANDWIDTH; }
};

Schedule one_message(int rank, double bytes)
{
  if (rank == 0)
    co_yield send(1, Bytes(bytes));
  else
    co_yield recv(0, Bytes(bytes));
}

/** Ranks whose cores need twice the time, and are taken by OS noise for 1 us before each piece of work. */
class Away : public Ends {
public:
  using Ends::Ends;
  Seconds with_os_noise(int /*rank*/, Seconds /*start*/, Seconds work) override { return work * 2 + Seconds(1e-6); }
};

TEST_F(ExecutionTest, NoiseLengthensWork)
{
  model_.send_overhead     = Seconds(2e-6);
  model_.receive_overhead  = Seconds(3e-6);
  const MessageCosts costs = costs_of(model_, fabric_.host());
  Agenda agenda;
  FabricRoutes ways(fabric_);
  FlowNetwork network(agenda, ways, FabricRoutes::capacities(fabric_), fabric_.host_count());
  Away all(agenda, 2);
  Execution execution(agenda, network, costs, hosts_of(2, 1), [](int rank) { return one_message(rank, 100); }, all);
  for (int rank = 0; rank < 2; ++rank)
    execution.enter(rank, Seconds());
  agenda.run_until(Seconds(1));
  // Rank 0: the send and its completion. Rank 1: the send, the transfer and the receive.
  EXPECT_NEAR(all.times[0], 5e-6 + 1e-6, 1e-12);
  EXPECT_NEAR(all.times[1], 5e-6 + message(100) + 7e-6, 1e-12);
}

TEST_F(ExecutionTest, EagerSendsDoNotBlockAndRendezvousSendsDo)
{
  model_.eager_threshold          = Bytes(1000);
  const MessageCosts costs        = costs_of(model_, fabric_.host());
  const auto of                   = [](double bytes) { return [bytes](int rank) { return one_message(rank, bytes); }; };
  const std::vector<double> eager = ends(fabric_, costs, 2, of(999), 1.0);
  EXPECT_EQ(eager[0], 0);
  EXPECT_EQ(eager[1], 1.0); // arrived before the receiver enters
  const std::vector<double> rendezvous = ends(fabric_, costs, 2, of(1000), 1.0);
  EXPECT_DOUBLE_EQ(rendezvous[0], 1.0 + message(1000));
  EXPECT_DOUBLE_EQ(rendezvous[1], 1.0 + message(1000));
}

TEST_F(ExecutionTest, MessagesCostCpuTime)
{
  model_.send_overhead    = Seconds(3e-6);
  model_.receive_overhead = Seconds(5e-6);
  const std::vector<double> all =
      ends(fabric_, costs_of(model_, fabric_.host()), 2, [](int rank) { return one_message(rank, 100); });
  EXPECT_DOUBLE_EQ(all[0], 3e-6);
  EXPECT_DOUBLE_EQ(all[1], 3e-6 + message(100) + 5e-6);
}

/** Schedule in which all ranks send to rank 0, which waits for all. */
Schedule incast(int rank, int ranks)
{
  if (rank > 0) {
    co_yield send(0, Bytes(984));
    co_return;
  }
  for (int other = 1; other < ranks; ++other)
    co_yield irecv(other, Bytes(984));
  co_yield wait_all();
}

TEST_F(ExecutionTest, SimultaneousArrivalsAreReceivedSequentially)
{
  model_.receive_overhead = Seconds(5e-6);
  const std::vector<double> all =
      ends(fabric_, costs_of(model_, fabric_.host()), 4, [](int rank) { return incast(rank, 4); });
  EXPECT_NEAR(all[0], LATENCY + 3 * 1000 / BANDWIDTH + 3 * 5e-6, 1e-15);
}

HostCall call_of(std::string_view collective, int ranks, Elements count)
{
  HostCall call;
  call.collective = collective;
  call.ranks      = ranks;
  call.count      = count;
  call.element    = Bytes(4);
  return call;
}

// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, 2005: p - 1 steps
// of one block each, or log p steps that move all blocks.
TEST_F(ExecutionTest, MatchesClosedFormsWithoutContention)
{
  const MessageCosts costs = costs_of(model_, fabric_.host());
  const auto longest       = [&](const char* collective, const char* algorithm, Elements count) {
    const HostCall call         = call_of(collective, 4, count);
    const Algorithm* const made = find_algorithm(collective, std::string_view(algorithm));
    return std::ranges::max(ends(fabric_, costs, 4, [&](int rank) { return made->schedule(call, rank, {}); }));
  };
  EXPECT_NEAR(longest("allreduce", "recursive_doubling", 256), 2 * message(1024), 1e-15);
  EXPECT_NEAR(longest("allreduce", "ring", 256), 2 * 3 * message(256), 1e-15);
  EXPECT_NEAR(longest("allgather", "ring", 256), 3 * message(1024), 1e-15);
  EXPECT_NEAR(longest("alltoall", "pairwise", 256), 3 * message(1024), 1e-15);
  // The root sends the second message without waiting for the first, so both share its cable.
  EXPECT_NEAR(longest("bcast", "binomial", 256), 2 * message(1024) + 1040 / BANDWIDTH, 1e-15);
}

// Two ranks per host: first within hosts, then two messages share each cable.
TEST_F(ExecutionTest, RanksOfAHostShareItsCable)
{
  const HostCall call           = call_of("allreduce", 4, 256);
  const Algorithm* const made   = find_algorithm("allreduce", "recursive_doubling");
  const std::vector<double> all = ends(
      fabric_, costs_of(model_, fabric_.host()), 4, [&](int rank) { return made->schedule(call, rank, {}); }, 0, 2);
  const double within = 0.1e-6 + 1040 / 10e9;
  EXPECT_NEAR(all[0], within + LATENCY + 2 * 1040 / BANDWIDTH, 1e-15);
}

// Two ranks of a host exchange messages: small ones are copied twice, large ones once.
TEST_F(ExecutionTest, RanksOfAHostShareItsMemory)
{
  const auto time = [](const std::string& keys) {
    const Fabric fabric = fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\n" + keys));
    const HostCall call = call_of("allreduce", 2, 246); // 984 bytes, 1,000 with the envelope
    return ends(
        fabric, costs_of({}, fabric.host()), 2,
        [&](int rank) { return find_algorithm("allreduce", "recursive_doubling")->schedule(call, rank, {}); }, 0, 2)[0];
  };
  EXPECT_NEAR(time(""), 0.1e-6 + 1000 / 10e9, 1e-15);
  EXPECT_NEAR(time("memory_bandwidth = \"4GBps\"\n"), 0.1e-6 + 2 * 2 * 1000 / 4e9, 1e-15);
  EXPECT_NEAR(time("memory_bandwidth = \"4GBps\"\nsingle_copy_threshold = \"984B\"\n"), 0.1e-6 + 2 * 1000 / 4e9, 1e-15);
  EXPECT_NEAR(time("memory_bandwidth = \"4GBps\"\nsingle_copy_threshold = \"985B\"\n"), 0.1e-6 + 4 * 1000 / 4e9, 1e-15);
  EXPECT_NEAR(time("message_overhead = \"1us\"\n"), 2e-6 + 0.1e-6 + 1000 / 10e9, 1e-15);
  // Copied to the result buffer, then combined.
  EXPECT_NEAR(time("reduction_rate = \"1GBps\"\n"), 0.1e-6 + 1000 / 10e9 + 2 * 984 / 1e9, 1e-15);
}

// Two buffers of 984 bytes: missing the core's caches costs time, missing the host's costs more.
TEST_F(ExecutionTest, WorkTakesLongerBeyondEachLevelOfCaches)
{
  const auto time = [](const std::string& keys) {
    const Fabric fabric = fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\nreduction_rate = \"2GBps\"\n" + keys));
    const HostCall call = call_of("allreduce", 2, 246);
    return ends(
        fabric, costs_of({}, fabric.host()), 2,
        [&](int rank) { return find_algorithm("allreduce", "recursive_doubling")->schedule(call, rank, {}); }, 0, 1,
        buffers_of_a_rank(call))[0];
  };
  const double work   = 2 * 984; // bytes copied and combined
  const double alone  = time("");
  const auto expected = [&](double more) { return alone + more; };
  EXPECT_NEAR(alone, LATENCY + 1000 / BANDWIDTH + work / 2e9, 1e-15);
  const std::string shared = "shared_cache_rate = \"1GBps\"\n";
  EXPECT_NEAR(time(shared), expected(work / 1e9), 1e-15);
  EXPECT_NEAR(time(shared + "core_cache_size = \"1968B\"\n"), expected(0), 1e-15);
  EXPECT_NEAR(time(shared + "core_cache_size = \"1312B\"\n"), expected(0.5 * work / 1e9), 1e-15);
  EXPECT_NEAR(time(shared + "core_cache_size = \"984B\"\n"), expected(work / 1e9), 1e-15);
  EXPECT_NEAR(time(shared + "core_cache_size = \"10B\"\n"), expected(work / 1e9), 1e-15);
  const std::string memory = "core_memory_rate = \"1GBps\"\n";
  EXPECT_NEAR(time(memory + "cache_size = \"1968B\"\n"), expected(0), 1e-15);
  EXPECT_NEAR(time(memory + "cache_size = \"492B\"\n"), expected(0.75 * work / 1e9), 1e-15);
}

// Cores copy messages one by one. Cached data does not use memory; partly cached data uses it partly.
TEST_F(ExecutionTest, CoresCopyAndCachesKeep)
{
  const auto time = [](const std::string& keys, const char* collective = "allreduce",
                       const char* algorithm = "recursive_doubling") {
    const Fabric fabric = fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\n" + keys));
    const HostCall call = call_of(collective, 2, 246); // 984 bytes, 1,000 with the envelope
    return ends(
        fabric, costs_of({}, fabric.host()), 2,
        [&](int rank) { return find_algorithm(collective, algorithm)->schedule(call, rank, {}); }, 0, 2,
        buffers_of_a_rank(call))[0];
  };
  const std::string copies = "copy_rate = \"1GBps\"\n";
  const double by_cores    = 0.1e-6 + 2 * 984 / 1e9; // in and out
  EXPECT_NEAR(time(copies), by_cores, 1e-15);
  EXPECT_NEAR(time(copies + "single_copy_threshold = \"984B\"\n"), 0.1e-6 + 1000 / 10e9, 1e-15);
  const std::string memory = copies + "memory_bandwidth = \"4GBps\"\n";
  const double by_memory   = 2 * 2 * 1000 / 4e9;
  EXPECT_NEAR(time(memory), by_cores + by_memory, 1e-15);
  // Two ranks have two vectors each.
  EXPECT_NEAR(time(memory + "cache_size = \"3936B\"\n"), by_cores, 1e-15);
  EXPECT_NEAR(time(memory + "cache_size = \"984B\"\n"), by_cores + 0.75 * by_memory, 1e-15);
  // Two ranks: one round, whose only block is packed and unpacked.
  EXPECT_NEAR(time("piece_overhead = \"1us\"\n", "alltoall", "modified_bruck"),
              2e-6 + time("", "alltoall", "modified_bruck"), 1e-15);
}

/** Steps that rank 0 takes alone, reusing a pipeline's cached data. */
Schedule reusing(int rank, Step step, const Pipeline* pipeline)
{
  if (rank == 0) {
    step.pipeline = pipeline;
    co_yield step;
  } else if (step.kind == Step::Kind::send) {
    co_yield recv(0, step.bytes);
  }
}

// A call of two ranks whose buffers, 3,936 bytes, are one quarter cached. Segments in flight that fit leave the
// fraction of a step's traffic that is fresh; of two copies of a message, one touches fresh data.
TEST_F(ExecutionTest, StepsOfAPipelineFindWhatItsSegmentsLeftInCaches)
{
  const auto time = [](const std::string& keys, const Step& step, const Pipeline* pipeline) {
    const Fabric fabric = fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\ncache_size = \"984B\"\n" + keys));
    const std::vector<double> both = ends(
        fabric, costs_of({}, fabric.host()), 2, [&](int rank) { return reusing(rank, step, pipeline); }, 0, 2,
        Bytes(1968));
    return *std::ranges::max_element(both);
  };
  const Pipeline fits{Bytes(492), 0.5};
  const Pipeline half{Bytes(984), 0.5};
  const Pipeline warm{Bytes(492), 0};
  const std::string memory = "memory_bandwidth = \"1MBps\"\ncopy_rate = \"1000GBps\"\n";
  const auto message       = [&](const char* copied, const Pipeline* pipeline) {
    return time(memory + copied, send(1, Bytes(984)), pipeline);
  };
  const double copy       = 1000 / 1e6;
  const char* const once  = "single_copy_threshold = \"0B\"\n";
  const char* const twice = "";
  EXPECT_NEAR(message(once, nullptr), 0.75 * copy, 1e-6);
  EXPECT_NEAR(message(once, &fits), 0.5 * 0.75 * copy, 1e-6);
  EXPECT_NEAR(message(once, &half), (0.5 * 0.5 + 0.5 * 0.75) * copy, 1e-6);
  EXPECT_NEAR(message(once, &warm), 0, 1e-6);
  EXPECT_NEAR(message(twice, nullptr), 0.75 * 2 * copy, 1e-6);
  EXPECT_NEAR(message(twice, &half), (0.75 * 0.5 + 0.25 * 0.75) * 2 * copy, 1e-6);

  const std::string rates = "reduction_rate = \"1GBps\"\ncore_cache_size = \"492B\"\nshared_cache_rate = \"1MBps\"\n"
                            "core_memory_rate = \"2MBps\"\n";
  const auto sum          = [&](const Pipeline* pipeline) { return time(rates, reduce(Bytes(984)), pipeline); };
  const double core       = 984 / 1e9;
  EXPECT_NEAR(sum(nullptr), core + 984 / 1e6 + 0.75 * 984 / 2e6, 1e-12);
  EXPECT_NEAR(sum(&fits), core + 0.5 * (984 / 1e6 + 0.75 * 984 / 2e6), 1e-12);
  EXPECT_NEAR(sum(&warm), core, 1e-12);
}

// Segments of HAN move the call's buffers through memory once: a rank reads its send buffer and overwrites its receive
// buffer. Without caches, its messages and sums move them three times.
TEST_F(ExecutionTest, HanKeepsItsSegmentsInCaches)
{
  const auto time = [](const char* cache) {
    const Fabric fabric = fabric_of(replaced(
        FABRIC, "cores = 2\n",
        "cores = 8\nsockets = 1\nmemory_bandwidth = \"1MBps\"\nsingle_copy_threshold = \"0B\"\n" + std::string(cache)));
    HostCall call       = call_of("allreduce", 16, 100000);
    call.host           = [](int rank) { return rank / 8; };
    const Bytes buffers = buffers_of_a_rank(call);
    return ends(
        fabric, costs_of({}, fabric.host()), 16,
        [&](int rank) { return han_allreduce(call, rank, {.segment = Bytes(1000)}); }, 0, 8, buffers)[0];
  };
  const double none = time("cache_size = \"1B\"\n");
  const double some = time("cache_size = \"64000B\"\n"); // 8 ranks, two buffers, four segments at once
  const double all  = time("cache_size = \"1GB\"\n");
  EXPECT_NEAR(some / none, 1.0 / 3, 0.05);
  EXPECT_LT(all, 0.05 * some);
}

// Each sum begins with the library's overhead; copies do not.
TEST_F(ExecutionTest, SumsBeginWithTheLibrarysOverhead)
{
  const Fabric fabric = fabric_of(std::string(FABRIC));
  const auto time     = [&](const char* collective, const char* algorithm, Seconds overhead) {
    MessageCosts costs       = costs_of({}, fabric.host());
    costs.reduction_overhead = overhead;
    const HostCall call      = call_of(collective, 4, 246);
    return ends(
        fabric, costs, 4, [&](int rank) { return find_algorithm(collective, algorithm)->schedule(call, rank, {}); }, 0,
        4, buffers_of_a_rank(call))[0];
  };
  const auto added = [&](const char* collective, const char* algorithm) {
    return time(collective, algorithm, Seconds(1e-6)) - time(collective, algorithm, {});
  };
  EXPECT_NEAR(added("allreduce", "recursive_doubling"), 2e-6, 1e-15);
  EXPECT_NEAR(added("alltoall", "modified_bruck"), 0, 1e-15);
}

// Eager messages between hosts are copied in the memory of both, here the bottleneck; rendezvous messages are not.
TEST_F(ExecutionTest, EagerMessagesBetweenHostsPassTheirMemories)
{
  const auto time = [](const std::string& host, const std::string& mpi) {
    const Fabric fabric =
        fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\ncopy_rate = \"1000GBps\"\n" + host) + mpi);
    const HostCall call = call_of("allreduce", 2, 246);
    return ends(
        fabric, costs_of(fabric.mpi(), fabric.host()), 2,
        [&](int rank) { return find_algorithm("allreduce", "recursive_doubling")->schedule(call, rank, {}); }, 0, 1,
        buffers_of_a_rank(call))[0];
  };
  const std::string memory = "memory_bandwidth = \"1MBps\"\n";
  EXPECT_NEAR(time("", ""), LATENCY + 1000 / BANDWIDTH, 1e-15);
  EXPECT_NEAR(time(memory, ""), LATENCY + 2 * 1000 / 1e6, 1e-9); // each host sends and receives
  EXPECT_NEAR(time(memory, "[mpi]\neager_threshold = \"984B\"\n"), LATENCY + 1000 / BANDWIDTH, 1e-15);
  EXPECT_NEAR(time(memory + "cache_size = \"1MB\"\n", ""), LATENCY + 1000 / BANDWIDTH, 1e-15);
}

/** Times of ranks of one host with two sockets, placed alternately on sockets 0 and 1. */
class SocketsTest : public ExecutionTest {
protected:
  static constexpr double WORK = 1e6; // bytes

  static std::vector<double> times(const std::string& keys, int ranks, const Steps& steps, Bytes buffers)
  {
    const Fabric fabric =
        fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 8\nsockets = 2\nmemory_bandwidth = \"3GBps\"\n" + keys));
    return ends(fabric, costs_of({}, fabric.host()), ranks, steps, 0, ranks, buffers);
  }
};

Schedule one_sum(int /*rank*/)
{
  co_yield reduce(Bytes(1e6));
}

// A lone core has its own rate, the cores of a socket share the memory's bandwidth, and each socket has its own memory.
TEST_F(SocketsTest, SumsShareTheMemoryOfTheirSocket)
{
  const std::string rate = "reduction_rate = \"4GBps\"\ncore_memory_rate = \"4GBps\"\n"; // together 2 GB/s
  const auto all         = [&](int ranks) { return times(rate, ranks, one_sum, Bytes(1e12)); };
  EXPECT_NEAR(all(1)[0], WORK / 2e9, 1e-12);
  EXPECT_NEAR(all(2)[0], WORK / 2e9, 1e-12); // on two sockets
  for (const double time : all(4))
    EXPECT_NEAR(time, 2 * WORK / 3e9, 1e-12);
  for (const double time : all(8))
    EXPECT_NEAR(time, 4 * WORK / 3e9, 1e-12);
}

// Three ranks: the two on socket 0 share its memory, the one on socket 1 does not.
TEST_F(SocketsTest, CachesAreThoseOfASocket)
{
  const std::string keys         = "reduction_rate = \"2GBps\"\ncache_size = \"1MB\"\n";
  const std::vector<double> cold = times(keys, 3, one_sum, Bytes(1e12));
  EXPECT_NEAR(cold[0], 2 * WORK / 3e9, 1e-9); // a millionth fits
  EXPECT_NEAR(cold[1], WORK / 2e9, 1e-9);
  const std::vector<double> warm = times(keys, 3, one_sum, Bytes(5e5)); // two buffers fit
  EXPECT_NEAR(warm[0], WORK / 2e9, 1e-12);
  const std::vector<double> half = times(keys, 3, one_sum, Bytes(1e6)); // half of two buffers
  EXPECT_NEAR(half[0], WORK / 2e9, 1e-12);                              // 2 x 0.5 MB in 0.5 ms: not yet full
}

TEST_F(SocketsTest, SharedCachesHaveABandwidthToo)
{
  const std::string keys = "reduction_rate = \"2GBps\"\ncache_size = \"1GB\"\nshared_cache_bandwidth = \"2GBps\"\n";
  EXPECT_NEAR(times(keys, 2, one_sum, Bytes(1e6))[0], WORK / 2e9, 1e-12);
  EXPECT_NEAR(times(keys, 4, one_sum, Bytes(1e6))[0], 2 * WORK / 2e9, 1e-12);
  EXPECT_NEAR(times(keys + "core_cache_size = \"1MB\"\n", 4, one_sum, Bytes(1e6))[0], WORK / 2e9, 1e-12);
}

// Ranks 0 and 2 share a socket; 0 and 1 do not.
TEST_F(SocketsTest, MessagesBetweenSocketsTakeLonger)
{
  const auto time = [](const std::string& keys, int to) {
    return times(
        "copy_rate = \"1GBps\"\ncache_size = \"1GB\"\n" + keys, 4,
        [to](int rank) -> Schedule {
          if (rank == 0)
            co_yield send(to, Bytes(984));
          else if (rank == to)
            co_yield recv(0, Bytes(984));
        },
        Bytes(1e6))[static_cast<std::size_t>(to)];
  };
  const std::string far  = "intersocket_latency = \"1us\"\nintersocket_rate = \"2GBps\"\n";
  const double by_cores  = 0.1e-6 + 2 * 984 / 1e9;
  const double between   = 1e-6 + 984 / 2e9;
  const std::string once = far + "single_copy_threshold = \"984B\"\n";
  const double by_one    = 0.1e-6 + 1000 / 10e9;
  EXPECT_NEAR(time("", 1), by_cores, 1e-12);
  EXPECT_NEAR(time(far, 2), by_cores, 1e-12);
  EXPECT_NEAR(time(far, 1), by_cores + between, 1e-12);
  EXPECT_NEAR(time(once, 2), by_one, 1e-12);
  EXPECT_NEAR(time(once, 1), by_one + between, 1e-12);
}

// Four pairs on a socket copy once: a lone pair runs at its own rate, all pairs together at the memory's bandwidth.
TEST_F(SocketsTest, MessagesShareTheMemoryOfTheirSocket)
{
  const auto time = [](int pairs) {
    return times(
        "single_copy_threshold = \"0B\"\n", 4 * pairs,
        [pairs](int rank) -> Schedule { // on socket 0
          if (rank % 4 == 0)
            co_yield send(rank + 2, Bytes(1e6));
          else if (rank % 4 == 2 && rank / 4 < pairs)
            co_yield recv(rank - 2, Bytes(1e6));
        },
        Bytes(1e12))[2];
  };
  const double bytes = 1e6 + 16;
  EXPECT_NEAR(time(1), 0.1e-6 + bytes / 3e9, 1e-12);
  EXPECT_NEAR(time(2), 0.1e-6 + 2 * bytes / 3e9, 1e-12);
}

TEST(HostCall, BuffersOfARankAreInputsAndOutputs)
{
  const auto of = [](std::string_view collective) { return buffers_of_a_rank(call_of(collective, 8, 10)).value(); };
  EXPECT_EQ(of("barrier"), 0);
  EXPECT_EQ(of("bcast"), 40);
  EXPECT_EQ(of("allreduce"), 80);
  EXPECT_EQ(of("allgather"), 9 * 40);
  EXPECT_EQ(of("alltoall"), 16 * 40);
  EXPECT_EQ(of("gather"), 80);
  EXPECT_EQ(of("reduce_scatter_block"), 9 * 40);
}

// With many ranks per host, the messages of a round are coalesced into few flows with few rate updates.
TEST_F(ExecutionTest, CoalescesMessagesOfCrowdedHosts)
{
  constexpr int RANKS = 256;
  const auto work     = [&](const char* collective, const char* algorithm) {
    MessageCosts costs          = costs_of(model_, fabric_.host());
    costs.eager_below           = Bytes(0); // rendezvous: starts differ by rounding
    const HostCall call         = call_of(collective, RANKS, 2);
    const Algorithm* const made = find_algorithm(collective, std::string_view(algorithm));
    return work_of(fabric_, costs, RANKS, [&](int rank) { return made->schedule(call, rank, {}); }, 64);
  };
  const FlowNetwork::Work doubling = work("allreduce", "recursive_doubling");
  EXPECT_EQ(doubling.messages, 8U * RANKS);
  EXPECT_EQ(doubling.flows, 8U * 4);
  EXPECT_EQ(doubling.solved, 0U);
  const FlowNetwork::Work bruck = work("barrier", "bruck");
  EXPECT_EQ(bruck.messages, 8U * RANKS);
  EXPECT_LT(bruck.flows, bruck.messages / 2);
  EXPECT_LT(bruck.solved, bruck.messages / 4);
}

class Absent : public Ends {
public:
  std::set<int> away;
  using Ends::Ends;
  bool makes_progress(int rank) const override { return not away.contains(rank); }
};

// A chain of two messages whose middle rank does not attend when the first arrives.
TEST_F(ExecutionTest, ARankThatDoesNotAttendStopsAtTheNextMessage)
{
  const auto chain = [](double bytes) {
    return [bytes](int rank) -> Schedule {
      if (rank > 0)
        co_yield recv(rank - 1, Bytes(bytes));
      if (rank < 2)
        co_yield send(rank + 1, Bytes(bytes));
    };
  };
  model_.eager_threshold   = Bytes(1000);
  const MessageCosts costs = costs_of(model_, fabric_.host());
  for (const double bytes : {999.0, 1000.0}) {
    Agenda agenda;
    FabricRoutes ways(fabric_);
    FlowNetwork network(agenda, ways, FabricRoutes::capacities(fabric_), fabric_.host_count());
    Absent ends(agenda, 3);
    Execution execution(agenda, network, costs, {0, 1, 2}, chain(bytes), ends);
    ends.away = {1};
    execution.enter(1, Seconds());
    execution.enter(2, Seconds());
    execution.enter(0, Seconds(1e-9));
    agenda.run_until(Seconds(1.0));
    const bool eager = bytes < 1000;
    EXPECT_EQ(ends.times, (std::vector{eager ? 1e-9 : -1.0, -1.0, -1.0}));
    ends.away.clear();
    execution.make_progress(1);
    agenda.run_until(Seconds(2.0));
    // An eager message has arrived in the meantime; a rendezvous message starts now.
    EXPECT_DOUBLE_EQ(ends.times[2], 1.0 + (eager ? 1 : 2) * message(bytes));
  }
}

TEST_F(ExecutionTest, EveryAlgorithmEnds)
{
  const MessageCosts costs = costs_of(model_, fabric_.host());
  for (const Algorithm& one : host_algorithms())
    for (int ranks = 2; ranks <= 8; ++ranks) {
      HostCall call = on_a_ring(call_of(one.collective, ranks, 100));
      call.host     = [](int rank) { return rank / 2; };
      if (one.name == "two_proc" && ranks != 2)
        continue;
      const std::vector<double> all =
          ends(fabric_, costs, ranks, [&](int rank) { return one.schedule(call, rank, {}); }, 1e-7, 2);
      for (const double end : all)
        EXPECT_GE(end, 0) << one.collective << " " << one.name << " of " << ranks << " ranks";
    }
}

} // namespace
} // namespace weft
