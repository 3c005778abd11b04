// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/host_stage.hpp"

#include "base/error.hpp"
#include "collective/host/prediction.hpp"
#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace weft {
namespace {

constexpr double STAGE_OVERHEAD = 0.2e-6; // CPU time per message, on each side
constexpr double STAGE_COPY     = 2e9;
constexpr double STAGE_SUM      = 4e9;
constexpr double STAGE_LATENCY  = 0.1e-6; // FABRIC's loopback
constexpr double STAGE_IN_TREE  = 5e-6;
constexpr double STAGE_BYTES    = 4000;

/** Returns the time of a message between ranks of a host: two copies by cores. */
double stage_message(double bytes = STAGE_BYTES)
{
  return 2 * (STAGE_OVERHEAD + bytes / STAGE_COPY) + STAGE_LATENCY;
}

class HostStageTest : public testing::Test {
protected:
  const Fabric fabric_      = fabric_of(replaced(FABRIC, R"(loopback_latency = "0.1us")",
                                                 R"(loopback_latency = "0.1us"
message_overhead = "0.2us"
copy_rate = "2GBps"
reduction_rate = "4GBps")"));
  const MessageCosts costs_ = costs_of({}, fabric_.host());

  /** Records events and their times. */
  struct Seen : HostStage::Listener {
    Agenda agenda;
    std::map<int, double> contributions; // by member
    std::map<int, double> ends;          // by rank

    void contributed(int member) override { contributions[member] = agenda.now().value(); }
    void rank_ended(int rank) override { ends[rank] = agenda.now().value(); }
  };

  /** Makes ranks enter at @p enters and delivers results STAGE_IN_TREE after the last contribution. */
  void run(const std::vector<int>& hosts, const HostStageCall& call, const std::vector<double>& enters, Seen& seen,
           const NicModel& nic = {}) const
  {
    std::vector<int> of_rank;
    std::vector<std::vector<int>> ranks;
    std::map<int, int> known;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      const auto [found, is_new] = known.try_emplace(hosts[rank], static_cast<int>(ranks.size()));
      if (is_new)
        ranks.emplace_back();
      of_rank.push_back(found->second);
      ranks[static_cast<std::size_t>(found->second)].push_back(static_cast<int>(rank));
    }
    FabricRoutes ways(fabric_);
    FlowNetwork network(seen.agenda, ways, FabricRoutes::capacities(fabric_), fabric_.host_count());
    HostStage stage(seen.agenda, network, costs_, hosts, {of_rank, ranks}, HostStageAlgorithms::of(nic), call, seen);
    struct Entering : Due {
      HostStage& stage;
      Agenda& agenda;
      Entering(HostStage& its_stage, Agenda& its_agenda) : stage(its_stage), agenda(its_agenda) {}
      void due(std::uint64_t rank) override { stage.enter(static_cast<int>(rank), agenda.now()); }
    } entering(stage, seen.agenda);
    for (std::size_t rank = 0; rank < enters.size(); ++rank)
      seen.agenda.add(Seconds(enters[rank]), entering, rank);
    while (seen.contributions.size() < ranks.size())
      seen.agenda.run_until(seen.agenda.next());
    seen.agenda.run_until(seen.agenda.now() + Seconds(STAGE_IN_TREE));
    for (std::size_t member = 0; member < ranks.size(); ++member)
      stage.deliver(static_cast<int>(member), seen.agenda.now());
    seen.agenda.run_until(Seconds(1));
    EXPECT_EQ(seen.ends.size(), hosts.size());
  }

  static HostStageCall call(const Movement& movement, int root = -1)
  {
    return {.movement = movement, .root = root, .message = Bytes(STAGE_BYTES), .element = Bytes(4)};
  }
};

// A binomial tree over k = 2^n ranks: n rounds of a message and a sum, sequential at the first rank.
TEST_F(HostStageTest, ABinomialReduceTakesOneRoundPerDoubling)
{
  for (const int rounds : {1, 2, 3}) {
    Seen seen;
    run(std::vector<int>(std::size_t{1} << rounds, 0), call(Movement::allreduce),
        std::vector<double>(std::size_t{1} << rounds, 0.0), seen);
    EXPECT_NEAR(seen.contributions[0], rounds * (stage_message() + STAGE_BYTES / STAGE_SUM), 1e-12) << rounds;
  }
}

// Both directions take as long as the hosts' own Reduce and Bcast, with any algorithm.
TEST_F(HostStageTest, TakesAsLongAsTheHostsOwnSchedules)
{
  for (const auto& [reduce, bcast] : {std::pair{"binomial", "binomial"},
                                      {"linear", "basic_linear"},
                                      {"chain", "chain"},
                                      {"release_gather", "release_gather"},
                                      {"sm", "sm"}})
    for (const int ranks : {2, 3, 5, 8}) {
      NicModel nic;
      nic.host_reduce = reduce;
      nic.host_bcast  = bcast;
      const std::vector<int> hosts(static_cast<std::size_t>(ranks), 0);
      Seen seen;
      run(hosts, call(Movement::allreduce), std::vector<double>(hosts.size(), 0.0), seen, nic);
      const auto own = [&](const char* collective, const char* name) {
        const HostCall its{collective, ranks, 0, static_cast<Elements>(STAGE_BYTES / 4), Bytes(4)};
        return predicted_interval(fabric_, costs_, hosts, its, {find_algorithm(collective, name), {}}, 1, Seconds(1))
            .value();
      };
      EXPECT_NEAR(seen.contributions[0], own("reduce", reduce), 1e-12) << reduce << ranks;
      double last = 0;
      for (const auto& [rank, end] : seen.ends)
        last = std::max(last, end);
      EXPECT_NEAR(last - seen.contributions[0] - STAGE_IN_TREE, own("bcast", bcast), 1e-12) << bcast << ranks;
    }
}

// Hosts with three, one and two ranks, not in host order, one of them late.
TEST_F(HostStageTest, SupportsUnevenHostsAndStragglers)
{
  const std::vector<int> hosts{0, 1, 0, 2, 2, 0};
  Seen seen;
  run(hosts, call(Movement::allreduce), {0, 0, 0, 0, 0, 50e-6}, seen);
  EXPECT_NEAR(seen.contributions[1], 0, 1e-15);
  EXPECT_NEAR(seen.contributions[2], stage_message() + STAGE_BYTES / STAGE_SUM, 1e-12);
  EXPECT_NEAR(seen.contributions[0], 50e-6 + stage_message() + STAGE_BYTES / STAGE_SUM, 1e-12);
  const double back = seen.contributions[0] + STAGE_IN_TREE;
  EXPECT_NEAR(seen.ends[1], back, 1e-12);
  EXPECT_NEAR(seen.ends[4], back + stage_message(), 1e-12);
}

TEST_F(HostStageTest, RootedCallsUseOneDirectionAtTheRootsHostOnly)
{
  const std::vector<int> hosts{0, 0, 1, 1};
  Seen reduced;
  run(hosts, call(Movement::reduce, 3), {0, 0, 0, 0}, reduced);
  const double sum = stage_message() + STAGE_BYTES / STAGE_SUM;
  EXPECT_NEAR(reduced.contributions[0], sum, 1e-12);
  EXPECT_NEAR(reduced.ends[1], sum + STAGE_IN_TREE, 1e-12); // ranks without output wait for the tree too
  EXPECT_NEAR(reduced.ends[3], sum + STAGE_IN_TREE + stage_message(), 1e-12);

  Seen sent;
  run(hosts, call(Movement::bcast, 3), {0, 0, 0, 0}, sent);
  EXPECT_NEAR(sent.contributions[0], 0, 1e-15);
  EXPECT_NEAR(sent.contributions[1], stage_message(), 1e-12);
  EXPECT_NEAR(sent.ends[1], stage_message() + STAGE_IN_TREE + stage_message(), 1e-12);
  EXPECT_NEAR(sent.ends[3], stage_message() + STAGE_IN_TREE, 1e-12); // the root has its own data
}

TEST_F(HostStageTest, PartsAreGatheredAndScattered)
{
  HostStageCall gathered = call(Movement::allgather);
  gathered.parts         = {1000, 3000};
  Seen seen;
  run({0, 0}, gathered, {0, 0}, seen);
  EXPECT_NEAR(seen.contributions[0], stage_message(3000), 1e-12);
  EXPECT_NEAR(seen.ends[1], stage_message(3000) + STAGE_IN_TREE + stage_message(), 1e-12);

  HostStageCall scattered = call(Movement::reduce_scatter);
  scattered.parts         = {1000, 3000};
  Seen back;
  run({0, 0}, scattered, {0, 0}, back);
  EXPECT_NEAR(back.contributions[0], stage_message() + STAGE_BYTES / STAGE_SUM, 1e-12);
  EXPECT_NEAR(back.ends[1], stage_message() + STAGE_BYTES / STAGE_SUM + STAGE_IN_TREE + stage_message(3000), 1e-12);
}

TEST_F(HostStageTest, ABarrierSendsEmptyMessages)
{
  HostStageCall barrier = call(Movement::barrier);
  barrier.message       = Bytes();
  Seen seen;
  run({0, 0}, barrier, {0, 0}, seen);
  EXPECT_NEAR(seen.contributions[0], stage_message(0), 1e-12);
  EXPECT_NEAR(seen.ends[1], stage_message(0) + STAGE_IN_TREE + stage_message(0), 1e-12);
}

// Non-commutative operations are executed in rank order.
TEST_F(HostStageTest, TakesALinearReduceForNonCommutativeOperations)
{
  HostStageCall ordered = call(Movement::allreduce);
  ordered.commutative   = false;
  Seen seen;
  run({0, 0, 0, 0}, ordered, {0, 0, 0, 0}, seen);
  NicModel nic;
  nic.host_reduce = "release_gather";
  Seen shared;
  run({0, 0, 0, 0}, ordered, {0, 0, 0, 0}, shared, nic);
  nic.host_reduce = "linear";
  Seen linear;
  run({0, 0, 0, 0}, call(Movement::allreduce), {0, 0, 0, 0}, linear, nic);
  EXPECT_EQ(seen.contributions[0], linear.contributions[0]);
  EXPECT_EQ(shared.contributions[0], linear.contributions[0]);
}

// Consecutive calls take longer by the duration of their stages, during which the tree is idle.
TEST_F(HostStageTest, IsPartOfThePrediction)
{
  const std::vector<int> hosts{0, 0, 1, 1};
  const std::vector<int> of_rank{0, 0, 1, 1};
  const std::vector<std::vector<int>> ranks{{0, 1}, {2, 3}};
  const double each = stage_message() + STAGE_BYTES / STAGE_SUM + STAGE_IN_TREE + stage_message();
  for (const int calls : {1, 10})
    EXPECT_NEAR(predicted_staged_interval(fabric_, costs_, hosts, {of_rank, ranks}, HostStageAlgorithms::of({}),
                                          call(Movement::allreduce), Seconds(STAGE_IN_TREE), calls)
                    .value(),
                each, 1e-12);
}

TEST_F(HostStageTest, NamesUnknownAlgorithms)
{
  NicModel nic;
  nic.host_bcast       = "binominal";
  nic.host_bcast_place = "FILE: [nic] host_bcast";
  try {
    HostStageAlgorithms::of(nic);
    FAIL();
  } catch (const UserError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("FILE: [nic] host_bcast: found \"binominal\"; did you mean \"binomial\"? allowed: "))
        << what;
  }
}

} // namespace
} // namespace weft
