// SPDX-License-Identifier: LGPL-2.1-only
/* Checks of all algorithms: they terminate, their messages match, and each rank gets the data that it needs.
 * studies/openmpi compares the messages with a real library's. */
#include "collective/host/selection/algorithms.hpp"

#include "collective/host/algorithms/neighbor.hpp"
#include "collective/host/engine/walk.hpp"
#include "collective/host/selection/selection.hpp"
#include "model/collective/collective_kind.hpp"

#include <algorithm>
#include <bitset>
#include <set>

#include <gtest/gtest.h>

namespace weft {
namespace {

bool is_any(std::string_view one, std::initializer_list<std::string_view> of)
{
  return std::ranges::find(of, one) != of.end();
}

bool can_be_uneven(std::string_view collective)
{
  return is_any(collective, {"allgatherv", "alltoallv", "alltoallw", "gatherv", "scatterv", "reduce_scatter"});
}

/** Adds copies of the calls for ranks that share hosts: evenly and unevenly, contiguous and round-robin. */
void add_shared_hosts(std::vector<HostCall>& calls)
{
  const std::size_t plain = calls.size();
  for (std::size_t index = 0; index < plain; ++index)
    for (const int hosts : {2, 3}) {
      HostCall call = calls[index];
      call.host     = [hosts](int rank) { return rank % hosts; };
      calls.push_back(call);
      call.host = [hosts, ranks = call.ranks](int rank) { return rank * hosts / ranks; };
      calls.push_back(call);
    }
}

/** Adds the calls that MPICH executes differently: non-blocking calls, and calls whose ranks share hosts. */
void add_forms(const Algorithm& algorithm, std::vector<HostCall>& calls)
{
  if (algorithm.name == "han" || algorithm.name == "rab")
    add_shared_hosts(calls);
  if (algorithm.source != Library::mpich)
    return;
  const std::size_t plain = calls.size();
  for (std::size_t index = 0; index < plain; ++index) {
    HostCall call = calls[index];
    if (algorithm.name.starts_with("smp")) {
      call.host = [](int rank) { return rank / 3; };
      calls.push_back(call);
      if (algorithm.collective != "scan") { // Scan requires ranks in host order
        call.host = [](int rank) { return rank % 3; };
        calls.push_back(call);
      }
    }
    call.blocking = false;
    calls.push_back(call);
  }
}

std::vector<HostCall> calls_of(const Algorithm& algorithm, int ranks)
{
  const bool rooted = is_any(algorithm.collective, {"bcast", "gather", "gatherv", "reduce", "scatter", "scatterv"});
  const std::set<int> roots = rooted ? std::set<int>{0, ranks / 2, ranks - 1} : std::set<int>{0};
  std::vector<HostCall> calls;
  for (const Elements count : {0, 1, 5, 64, 1000})
    for (const int root : roots) {
      HostCall call = on_a_ring({algorithm.collective, ranks, root, count, Bytes(4)});
      calls.push_back(call);
      if (not can_be_uneven(algorithm.collective))
        continue;
      const bool by_receiver = is_any(algorithm.collective, {"scatterv", "reduce_scatter"});
      call.block             = [=](int from, int to) { return count * ((by_receiver ? to : from) * 7 % 4); };
      calls.push_back(call);
    }
  add_forms(algorithm, calls);
  return calls;
}

bool fits(const Algorithm& algorithm, int ranks)
{
  return algorithm.name != "two_proc" || ranks == 2;
}

template <class Check> void for_all_calls(Check&& check)
{
  for (const Algorithm& algorithm : host_algorithms())
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 17})
      if (fits(algorithm, ranks))
        for (const HostCall& call : calls_of(algorithm, ranks))
          for (const Bytes segment : {Bytes(), Bytes(64)}) {
            const Tuning tuning{segment, 0};
            SCOPED_TRACE(std::string(algorithm.collective) + " " + std::string(algorithm.name) + ", " +
                         std::to_string(ranks) + " ranks, root " + std::to_string(call.root) + ", " +
                         std::to_string(call.count) + " elements, segments of " + to_text(segment));
            check(algorithm, call, walk(ranks, [&](int rank) { return algorithm.schedule(call, rank, tuning); }));
          }
}

/** Set of the ranks whose data a rank may hold at the end. */
using Ranks = std::bitset<32>;
std::vector<Ranks> heard(const Walk& walk, int ranks)
{
  std::vector<Ranks> known(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < known.size(); ++rank)
    known[rank].set(rank);
  for (auto begin = walk.messages.begin(); begin != walk.messages.end();) {
    const auto end =
        std::find_if(begin, walk.messages.end(), [&](const auto& one) { return one.round != begin->round; });
    const auto before = known;
    for (; begin != end; ++begin)
      known[static_cast<std::size_t>(begin->to)] |= before[static_cast<std::size_t>(begin->from)];
  }
  return known;
}

bool must_hear(const HostCall& call, int rank, int from)
{
  if (is_any(call.collective, {"bcast", "scatter"}))
    return from == call.root;
  if (is_any(call.collective, {"reduce", "gather"}))
    return rank == call.root;
  if (is_any(call.collective, {"scan", "exscan"}))
    return from < rank;
  if (call.neighbors)
    return (from + 1) % call.ranks == rank || (rank + 1) % call.ranks == from;
  return not is_any(call.collective, {"gatherv", "scatterv"});
}

TEST(HostAlgorithms, EndAndTellEachRankWhatItMustHear)
{
  for_all_calls([](const Algorithm&, const HostCall& call, const Walk& walk) {
    EXPECT_EQ(std::ranges::count(walk.ended, -1), 0);
    if (call.count == 0 || call.block)
      return;
    const std::vector<Ranks> known = heard(walk, call.ranks);
    for (int rank = 0; rank < call.ranks; ++rank)
      for (int from = 0; from < call.ranks; ++from)
        ASSERT_TRUE(known[static_cast<std::size_t>(rank)].test(static_cast<std::size_t>(from)) ||
                    not must_hear(call, rank, from))
            << rank << " of " << from;
  });
}

// A sum of P vectors takes P - 1 additions, wherever they are executed.
TEST(HostAlgorithms, ReductionsAddNoMoreThanTheyMust)
{
  for_all_calls([](const Algorithm& algorithm, const HostCall& call, const Walk& walk) {
    Elements vector = call.count;
    if (call.collective == "reduce_scatter" || call.collective == "reduce_scatter_block") {
      vector = 0;
      for (int rank = 0; rank < call.ranks; ++rank)
        vector += call.to(rank);
    }
    Bytes sums;
    for (const Bytes one : walk.sums)
      sums += one;
    const Bytes least = call.bytes(vector * (call.ranks - 1));
    // These exchange whole vectors, so several ranks compute the same sums.
    const bool doubles = is_any(algorithm.name, {"recursive_doubling", "noncommutative"});
    if (is_any(call.collective, {"reduce", "reduce_scatter"}) && not doubles) {
      EXPECT_EQ(sums, least);
    } else if (is_any(call.collective, {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan"})) {
      EXPECT_GE(sums, least);
    } else if (call.collective != "exscan") {
      EXPECT_EQ(sums, Bytes());
    }
  });
}

TEST(HostAlgorithms, TakeTheRoundsThatTheyAreKnownFor)
{
  const auto rounds = [](std::string_view collective, std::string_view name, int ranks, Elements count) {
    const HostCall call{collective, ranks, 0, count, Bytes(4)};
    const Algorithm* algorithm = find_algorithm(collective, name);
    return walk(ranks, [&](int rank) { return algorithm->schedule(call, rank, {}); }).rounds;
  };
  EXPECT_EQ(rounds("allreduce", "recursive_doubling", 16, 8), 4);
  EXPECT_EQ(rounds("allreduce", "recursive_doubling", 20, 8), 6);
  EXPECT_EQ(rounds("allreduce", "ring", 16, 160), 30);
  EXPECT_EQ(rounds("allreduce", "rabenseifner", 16, 160), 8);
  EXPECT_EQ(rounds("bcast", "binomial", 16, 8), 4);
  EXPECT_EQ(rounds("bcast", "basic_linear", 16, 8), 15);
  EXPECT_EQ(rounds("bcast", "pipeline", 16, 8), 15);
  EXPECT_EQ(rounds("allgather", "bruck", 20, 8), 5);
  EXPECT_EQ(rounds("allgather", "neighbor", 16, 8), 8);
  EXPECT_EQ(rounds("alltoall", "pairwise", 16, 8), 15);
  EXPECT_EQ(rounds("barrier", "bruck", 20, 0), 5);
  EXPECT_EQ(rounds("allreduce", "reduce_scatter_allgather", 16, 160), 8);
  EXPECT_EQ(rounds("bcast", "scatter_recursive_doubling_allgather", 16, 160), 8);
  EXPECT_EQ(rounds("bcast", "scatter_ring_allgather", 16, 160), 19);
  EXPECT_EQ(rounds("reduce_scatter", "pairwise", 16, 8), 15);
}

// A k-nomial exchange of p ranks with radix k: log_k p times k - 1 messages per rank, one per round; ranks beyond the
// whole subtrees send to a neighbour first, and receive from it at the end.
TEST(HostAlgorithms, ExchangeInKnomialRounds)
{
  const auto walked = [](std::string_view collective, std::string_view name, int ranks, Elements count, int radix) {
    const HostCall call{collective, ranks, 0, count, Bytes(4)};
    const Algorithm* algorithm = find_algorithm(collective, name);
    return walk(ranks, [&](int rank) { return algorithm->schedule(call, rank, {Bytes(), radix}); });
  };
  const auto sent = [](const Walk& one) {
    Bytes bytes;
    for (const WalkedMessage& message : one.messages)
      bytes += message.bytes;
    return bytes;
  };
  const Walk even = walked("allreduce", "knomial", 16, 8, 4);
  EXPECT_EQ(even.rounds, 2 * 3);
  EXPECT_EQ(even.messages.size(), 16U * 2 * 3);
  const Walk uneven = walked("allreduce", "knomial", 18, 8, 4); // 2 extras
  EXPECT_EQ(uneven.rounds, 1 + 2 * 3 + 1);
  EXPECT_EQ(uneven.messages.size(), 16U * 2 * 3 + 2 * 2);
  EXPECT_EQ(walked("allreduce", "knomial", 8, 8, 4).messages.size(), 8U * (3 + 1)); // two subtrees of 4
  EXPECT_EQ(walked("allreduce", "knomial", 16, 8, 2).messages.size(), 16U * 4);     // recursive doubling
  // Reduce-scatter and allgather each send (p - 1) / p of the vector per rank.
  EXPECT_EQ(sent(walked("allreduce", "sra_knomial", 16, 1600, 4)), Bytes(2.0 * 15 * 1600 * 4));
  EXPECT_EQ(sent(walked("allreduce", "sra_knomial", 8, 1600, 4)), Bytes(2.0 * 7 * 1600 * 4));
  EXPECT_EQ(walked("barrier", "knomial", 64, 0, 0).rounds, 2 * 7);
  EXPECT_EQ(walked("reduce", "knomial", 16, 8, 4).messages.size(), 15U);
  // One ring for one element per rank; with two, half of each block travels in each direction.
  EXPECT_EQ(walked("reduce_scatter", "two_rings", 5, 1, 0).messages.size(), 5U * 4);
  const Walk rings = walked("reduce_scatter", "two_rings", 5, 2, 0);
  EXPECT_EQ(rings.messages.size(), 2U * 5 * 4);
  EXPECT_EQ(sent(rings), Bytes(5.0 * 4 * 2 * 4));
}

// Two k-nomial trees of 5 ranks on each of 8 hosts, and an exchange of the 8 first ranks: rounds of 4 and 2 subtrees.
TEST(HostAlgorithms, RabExchangesBetweenTheFirstRanksOfHosts)
{
  HostCall call{"allreduce", 40, 0, 8, Bytes(4)};
  call.host                  = [](int rank) { return rank / 5; };
  const Algorithm* algorithm = find_algorithm("allreduce", "rab");
  const Walk walked          = walk(40, [&](int rank) { return algorithm->schedule(call, rank, {}); });
  const auto& messages       = walked.messages;
  EXPECT_EQ(messages.size(), 8U * 2 * 4 + 8U * (3 + 1));
  EXPECT_EQ(std::ranges::count_if(messages, [](const auto& one) { return one.from / 5 != one.to / 5; }), 8 * (3 + 1));
}

TEST(HostAlgorithms, AreNamedAndNumberedOnce)
{
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Algorithm& one : host_algorithms()) {
    EXPECT_TRUE(names.emplace(one.collective, one.name).second) << one.collective << " " << one.name;
    EXPECT_EQ(find_algorithm(one.collective, one.name)->schedule, one.schedule);
    EXPECT_TRUE(one.number == 0 || find_algorithm(one.collective, one.number)->name == one.name);
    // Switches execute a Reduce_scatter_block as a Reduce_scatter.
    if (one.collective != "reduce_scatter_block") {
      EXPECT_NO_THROW(static_cast<void>(collective(one.collective)));
    }
  }
  EXPECT_EQ(find_algorithm("bcast", "bubble"), nullptr);
}

// The steps of an Allreduce that consists of a Reduce and a Bcast are those of the library's algorithms for both.
TEST(HostAlgorithms, CallsWithinAreTheLibrarys)
{
  HostCall call{"allreduce", 4, 0, 8, Bytes(4)};
  std::vector<std::string> asked;
  call.within = [&](const HostCall& inner, int rank) {
    if (rank == 0)
      asked.emplace_back(inner.collective);
    return find_algorithm(inner.collective, inner.collective == "reduce" ? "linear" : "basic_linear")
        ->schedule(inner, rank, {});
  };
  const Walk walked =
      walk(4, [&](int rank) { return find_algorithm("allreduce", "nonoverlapping")->schedule(call, rank, {}); });
  EXPECT_EQ(asked, (std::vector<std::string>{"reduce", "bcast"}));
  EXPECT_EQ(walked.messages.size(), 6U);
}

// Within each host, between the first ranks of the hosts, and within each host again.
TEST(HostAlgorithms, GoOnceBetweenHosts)
{
  const auto between = [](std::string_view collective, int root) {
    HostCall call{collective, 12, root, 8, Bytes(4)};
    call.host                  = [](int rank) { return rank / 4; };
    const Algorithm* algorithm = find_algorithm(collective, "smp");
    std::vector<std::pair<int, int>> messages;
    for (const WalkedMessage& one : walk(12, [&](int rank) { return algorithm->schedule(call, rank, {}); }).messages)
      if (one.from / 4 != one.to / 4)
        messages.emplace_back(one.from, one.to);
    return messages;
  };
  EXPECT_EQ(between("bcast", 6), (std::vector<std::pair<int, int>>{{4, 0}, {4, 8}}));
  EXPECT_EQ(between("reduce", 6), (std::vector<std::pair<int, int>>{{4, 0}, {8, 0}, {0, 6}}));
  EXPECT_EQ(between("scan", 0).size(), 6U);
}

TEST(Walk, SaysWhatIsWrong)
{
  const auto one_sided = [](int rank) -> Schedule {
    if (rank == 0)
      co_yield isend(1, Bytes(8));
  };
  EXPECT_THROW(walk(2, one_sided), std::logic_error);
  const auto too_short = [](int rank) -> Schedule {
    if (rank == 0)
      co_yield isend(1, Bytes(8));
    else
      co_yield recv(0, Bytes(4));
  };
  EXPECT_THROW(walk(2, too_short), std::logic_error);
  const auto to_itself = [](int rank) -> Schedule { co_yield isend(rank, Bytes(8)); };
  EXPECT_THROW(walk(2, to_itself), std::logic_error);
}

/** Returns the algorithm that is executed if @p name is requested. */
std::string_view executed(std::string_view collective, std::string_view name, int ranks, Elements count,
                          Tuning tuning = {})
{
  HostCall call{collective, ranks, 0, count, Bytes(4)};
  call.blocking = not name.starts_with("nbc_");
  return Selection().executed({find_algorithm(collective, name), tuning}, call).algorithm->name;
}

// The label names the algorithm whose steps were executed.
TEST(SubstituteTest, AnAlgorithmThatTakesAnothersStepsIsCalledByThat)
{
  EXPECT_EQ(executed("allreduce", "segmented_ring", 16, 2), "recursive_doubling");
  EXPECT_EQ(executed("allreduce", "segmented_ring", 16, 16, {Bytes(8)}), "ring");
  EXPECT_EQ(executed("allreduce", "segmented_ring", 16, 32, {Bytes(8)}), "segmented_ring");
  EXPECT_EQ(executed("allreduce", "rabenseifner", 5, 3), "basic_linear");
  EXPECT_EQ(executed("allreduce", "rabenseifner", 5, 4), "rabenseifner");
  EXPECT_EQ(executed("allgather", "recursive_doubling", 6, 1), "bruck");
  EXPECT_EQ(executed("allgather", "neighbor", 7, 1), "ring");
  EXPECT_EQ(executed("bcast", "scatter_allgather", 8, 7), "basic_linear");
  EXPECT_EQ(executed("bcast", "split_binary_tree", 8, 1), "pipeline");
  EXPECT_EQ(executed("allgather", "nbc_recursive_doubling", 6, 1), "nbc_linear");
  EXPECT_EQ(executed("reduce", "nbc_rabenseifner", 8, 7), "nbc_binomial");
}

bool same(const Walk& one, const Walk& other)
{
  const auto equal = [](const WalkedMessage& a, const WalkedMessage& b) {
    return a.from == b.from && a.to == b.to && a.bytes == b.bytes && a.round == b.round;
  };
  return std::ranges::equal(one.messages, other.messages, equal) && one.sums == other.sums;
}

// The table agrees with the functions.
TEST(SubstituteTest, ASubstituteTakesTheSameSteps)
{
  const Selection none;
  int substituted = 0;
  for (const Algorithm& one : host_algorithms())
    for (int ranks = 2; ranks <= 9; ++ranks)
      for (const Elements count : {1, 2, 3, 4, 7, 8, 9, 40, 20000})
        for (const Bytes segment : {Bytes(), Bytes(16)}) {
          HostCall call{one.collective, ranks, ranks / 2, count, Bytes(4)};
          call.blocking     = not one.name.starts_with("nbc_");
          const auto choice = none.executed({&one, {segment}}, call);
          if (choice.algorithm == &one)
            continue;
          ++substituted;
          ASSERT_NE(choice.algorithm, nullptr);
          const auto steps = [&](const Algorithm& by, Tuning tuning) {
            return walk(ranks, [&](int rank) { return by.schedule(call, rank, tuning); });
          };
          EXPECT_TRUE(same(steps(one, {segment}), steps(*choice.algorithm, choice.tuning)))
              << one.collective << " " << one.name << " of " << ranks << " ranks and " << count << " elements, not "
              << choice.algorithm->name;
        }
  EXPECT_GT(substituted, 100);
}

} // namespace
} // namespace weft
