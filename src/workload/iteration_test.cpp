// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/iteration.hpp"

#include "base/error.hpp"
#include "workload/run_iteration.hpp"
#include "workload/workload_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <utility>

namespace weft {
namespace {

using Members = std::vector<std::vector<int>>;
using After   = std::vector<WorkNumber>;

constexpr double MEGA = 1e6;

IterationTimes times_on(const std::string& fabric_text, const Workload& workload, IterationOptions options = {})
{
  const Fabric fabric = fabric_of(fabric_text);
  return run_iteration(workload, fabric, std::move(options));
}

std::string refusal_of(const Workload& workload)
{
  try {
    times_on(gpu_fabric(2, 4), workload);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/** Returns a workload in which each rank has a program of its own. */
Workload of_programs(std::vector<Program> programs)
{
  Workload all;
  all.programs = std::move(programs);
  all.program_of.resize(all.programs.size());
  std::iota(all.program_of.begin(), all.program_of.end(), 0);
  return all;
}

TEST(Iteration, StreamsComputeAtTheSameTimeAndWaitForEachOther)
{
  Program program(true);
  program.add_computation(0, 1);
  const WorkNumber other = program.add_computation(1, 3);
  program.add_computation(0, 1, After{other});
  const IterationTimes times = times_on(gpu_fabric(1, 4), of_programs({program}));
  EXPECT_DOUBLE_EQ(times.end, 4);
  EXPECT_DOUBLE_EQ(times.ranks[0].computing, 4);
}

TEST(Iteration, AMessageLeavesWhenBothRanksHaveReachedIt)
{
  Program sends(true);
  sends.add_computation(0, 1);
  sends.add_send(0, 4, 100 * MEGA);
  Program receives(true);
  receives.add_receive(0, -4, 100 * MEGA);
  const IterationTimes times =
      times_on(gpu_fabric(2, 4), of_programs({sends, {Program(true)}, {Program(true)}, {Program(true)}, receives}));
  EXPECT_NEAR(times.end, 1 + 100 * MEGA / 50e9, 1e-12);
  EXPECT_DOUBLE_EQ(times.ranks[4].late[0], 1);
  EXPECT_NEAR(times.ranks[4].exposed[0], 0.002, 1e-12);
  EXPECT_NEAR(times.ranks[0].communicated[0], 0.002, 1e-12);
}

TEST(Iteration, MessagesMatchByTag)
{
  Program sends(true);
  sends.add_send(0, 1, 1 * MEGA, 7);
  sends.add_send(1, 1, 2 * MEGA, 8);
  Program receives(true);
  receives.add_receive(0, -1, 2 * MEGA, 8);
  receives.add_receive(0, -1, 1 * MEGA, 7);
  EXPECT_GT(times_on(gpu_fabric(1, 4), of_programs({sends, receives})).end, 0);
}

/** Returns 8 ranks on two nodes: computation of different lengths, overlapped or not with collectives within nodes and
 * between them. */
Workload two_divisions(int calls, bool beside)
{
  Workload all;
  for (int rank = 0; rank < 8; ++rank) {
    Program& program = all.programs.emplace_back(true);
    std::minstd_rand random(static_cast<unsigned>(rank % 4) + 1);
    for (int call = 0; call < calls; ++call) {
      const double length      = 1e-3 * (1 + static_cast<double>(random() % 5));
      const WorkNumber compute = program.add_computation(0, length);
      program.add_collective(0, 0, NcclCollective::allgather, 200 * MEGA);
      program.add_collective(beside ? 1 : 0, 1, NcclCollective::reduce_scatter, 40 * MEGA, After{compute});
      program.add_collective(0, 0, NcclCollective::allreduce, 100 * MEGA);
    }
    all.program_of.push_back(rank);
  }
  all.divisions.emplace_back("tensor", Members{{0, 1, 2, 3}, {4, 5, 6, 7}}, 8);
  all.divisions.emplace_back("data", Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 8);
  return all;
}

void expect_equal_links(const IterationTimes& one, const IterationTimes& other)
{
  ASSERT_EQ(one.links.size(), other.links.size());
  for (std::size_t at = 0; at < one.links.size(); ++at) {
    EXPECT_EQ(one.links[at].name, other.links[at].name);
    EXPECT_EQ(one.links[at].links, other.links[at].links);
    EXPECT_NEAR(one.links[at].bytes, other.links[at].bytes, 1e-9 * other.links[at].bytes);
    EXPECT_NEAR(one.links[at].mean, other.links[at].mean, 1e-9);
    EXPECT_NEAR(one.links[at].most, other.links[at].most, 1e-9);
    for (std::size_t rank = 0; rank < one.ranks.size(); ++rank) {
      EXPECT_NEAR(one.ranks[rank].exposed_at[at], other.ranks[rank].exposed_at[at], 1e-9);
      EXPECT_NEAR(one.ranks[rank].carried_at[at], other.ranks[rank].carried_at[at], 1e-9);
    }
  }
}

TEST(Iteration, EqualCallsOnceTakeTheTimesOfAllCalls)
{
  for (const bool beside : {false, true}) {
    const Workload workload     = two_divisions(20, beside);
    const IterationTimes reused = times_on(gpu_fabric(2, 4), workload);
    const IterationTimes all    = times_on(gpu_fabric(2, 4), workload, {.execute_all = true});
    EXPECT_LT(reused.executed, all.executed);
    EXPECT_EQ(reused.calls, all.calls);
    EXPECT_NEAR(reused.end / all.end, 1, 1e-9);
    for (std::size_t rank = 0; rank < 8; ++rank)
      EXPECT_NEAR(reused.ranks[rank].exposed[0] / all.ranks[rank].exposed[0], 1, 1e-9);
    expect_equal_links(reused, all);
  }
}

TEST(Iteration, CallsOfAGroupThatOverlapAreAllExecuted)
{
  Workload all;
  for (int rank = 0; rank < 4; ++rank) {
    Program& program = all.programs.emplace_back(true);
    program.add_collective(0, 0, NcclCollective::allgather, 200 * MEGA);
    program.add_collective(1, 0, NcclCollective::allgather, 200 * MEGA);
    all.program_of.push_back(rank);
  }
  all.divisions.emplace_back("tensor", Members{{0, 1, 2, 3}}, 4);
  const IterationTimes times = times_on(gpu_fabric(1, 4), all);
  EXPECT_EQ(times.executed, 2U);
  EXPECT_DOUBLE_EQ(times.end, times_on(gpu_fabric(1, 4), all, {.execute_all = true}).end);
}

TEST(Iteration, CallsLeaveComputationTheMultiprocessorsWithoutChannels)
{
  Workload all;
  Program& program = all.programs.emplace_back(true);
  program.add_computation(0, 10e-3);
  program.add_collective(1, 0, NcclCollective::allgather, 200 * MEGA);
  program.add_computation(2, 1e-3);
  all.program_of = {0, 0, 0, 0};
  all.divisions.emplace_back("data", Members{{0, 1, 2, 3}}, 4);
  const IterationTimes apart  = times_on(gpu_fabric(1, 4), all);
  const IterationTimes beside = times_on(gpu_fabric(1, 4), all, {.sms = 8, .listed = {0}});
  EXPECT_DOUBLE_EQ(apart.end, 10e-3);
  const double call = apart.ranks[0].communicated[0];
  ASSERT_LT(call, 8e-3);
  EXPECT_NEAR(beside.end, 10e-3 + call * 2 / 8, 1e-9); // two channels
  for (const TimedWork& work : beside.listed)
    EXPECT_NEAR(work.end - work.begin, work.number == 0 ? beside.end : work.number == 2 ? 1e-3 * 8 / 6 : call, 1e-9);
}

TEST(Iteration, AnAllgatherTakesItsBytesOverTheRateOfItsChannels)
{
  Workload all;
  all.programs.emplace_back(true).add_collective(0, 0, NcclCollective::allgather, 400 * MEGA);
  all.program_of = {0, 0, 0, 0};
  all.divisions.emplace_back("tensor", Members{{0, 1, 2, 3}}, 4);
  for (const bool fine : {false, true}) {
    const double seconds = times_on(gpu_fabric(1, 4), all, {.detail = fine ? CallDetail::slice : CallDetail::step}).end;
    // Two channels of 20 GB/s carry three of four blocks past each rank.
    EXPECT_NEAR(seconds / (300 * MEGA / 40e9), 1, 0.05) << fine;
  }
}

TEST(Iteration, NoiseLengthensByItsSeedAndSlowdownByItsFactor)
{
  Program program(true);
  for (int one = 0; one < 1000; ++one)
    program.add_computation(0, 1e-3);
  const Workload workload = of_programs({program, program});
  const auto end          = [&](IterationOptions options) { return times_on(gpu_fabric(1, 4), workload, options); };
  EXPECT_NEAR(end({.slowdown = {1, 1.5}}).ranks[1].end, 1.5, 1e-9);
  const IterationTimes noisy = end({.noise = 0.1, .seed = 3});
  EXPECT_NEAR(noisy.ranks[0].end, std::exp(0.005), 0.02); // the mean of a log-normal distribution
  EXPECT_NE(noisy.ranks[0].end, noisy.ranks[1].end);
  EXPECT_DOUBLE_EQ(end({.noise = 0.1, .seed = 3}).end, noisy.end);
  EXPECT_NE(end({.noise = 0.1, .seed = 4}).end, noisy.end);
}

TEST(Iteration, OperationsOfListedRanksHaveTheirTimes)
{
  Program program(true);
  program.add_computation(0, 1, {}, "norm");
  program.add_computation(0, 2, {}, "attention");
  const IterationTimes times = times_on(gpu_fabric(1, 4), of_programs({program, program}), {.listed = {1}});
  ASSERT_EQ(times.listed.size(), 2U);
  EXPECT_EQ(times.listed[1].rank, 1);
  EXPECT_EQ(times.listed[1].number, 1U);
  EXPECT_DOUBLE_EQ(times.listed[1].begin, 1);
  EXPECT_DOUBLE_EQ(times.listed[1].end, 3);
}

// ---- Iterations that cannot end
// ------------------------------------------------------------------------------------------------

TEST(IterationThatCannotEnd, NamesAReceiveWithoutASend)
{
  Program receives(true);
  receives.add_receive(0, 1, 8, 5, {}, "activations");
  EXPECT_EQ(refusal_of(of_programs({receives, Program(true)})),
            "the workload cannot end: 1 of 2 ranks wait for ever\n  rank 0, operation 0 \"activations\" (receive): no "
            "send of rank 1 matches it (tag 5)");
}

TEST(IterationThatCannotEnd, NamesSizesThatDiffer)
{
  Program sends(true);
  sends.add_send(0, 1, 8);
  Program receives(true);
  receives.add_receive(0, -1, 16);
  EXPECT_EQ(refusal_of(of_programs({sends, receives})),
            "rank 0, operation 0 (send) has 8 bytes, but its rank 1, operation 0 (receive) has 16");
}

TEST(IterationThatCannotEnd, NamesRanksThatDoNotCallACollective)
{
  Program calls(true);
  calls.add_collective(0, 0, NcclCollective::allreduce, 8);
  Workload all = of_programs({calls, Program(true)});
  all.divisions.emplace_back("data", Members{{0, 1}}, 2);
  EXPECT_EQ(refusal_of(all), "the workload cannot end: 1 of 2 ranks wait for ever\n  rank 0, operation 0 (collective "
                             "allreduce): rank 1 of its group \"data\" does not call it");
}

TEST(IterationThatCannotEnd, NamesCollectivesInDifferentOrder)
{
  Program one(true);
  one.add_collective(0, 0, NcclCollective::allreduce, 8);
  Program other(true);
  other.add_collective(0, 0, NcclCollective::allgather, 8);
  Workload all = of_programs({one, other});
  all.divisions.emplace_back("data", Members{{0, 1}}, 2);
  EXPECT_EQ(
      refusal_of(all),
      "group 0 of \"data\": ranks do not call the same collective: rank 1, operation 0 (collective allgather) has "
      "8 bytes, rank 0, operation 0 (collective allreduce) has 8 bytes; all ranks of a group must call its "
      "collectives in the same order and with the same sizes");
}

TEST(IterationThatCannotEnd, NamesOperationsThatWaitForEachOther)
{
  Program program(false);
  program.add_computation(0, 1, After{1});
  program.add_computation(0, 1, After{0});
  EXPECT_EQ(refusal_of(of_programs({program})),
            "the workload cannot end: 1 of 1 ranks wait for ever\n  operations wait "
            "for each other in a cycle");
}

TEST(Iteration, FabricsHaveEnoughGpus)
{
  EXPECT_NE(refusal_of(of_programs(std::vector<Program>(9, Program(true)))).find("found 9 ranks; small has 8 GPUs"),
            std::string::npos);
}

// ---- Random workloads -----------------------------------------------------------------------------------------------

/** Returns a workload of 8 ranks that terminates: all ranks execute the same collectives and messages in the same
 * order, on random streams. */
Workload random_workload(unsigned seed, bool in_order)
{
  std::mt19937 random(seed);
  const auto below = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  std::vector<Program> programs(8, Program(in_order));
  const int steps = 5 + below(30);
  for (int step = 0; step < steps; ++step) {
    const double bytes  = below(3) == 0 ? below(100) : 1e6 * (1 + below(50));
    const int kind      = below(4);
    const int from      = below(8);
    const int to        = (from + 1 + below(7)) % 8;
    const auto division = static_cast<std::uint32_t>(below(2));
    const auto stream =
        kind == 0 ? division : static_cast<std::uint32_t>(below(3)); // one stream for a division's calls
    const auto operation = static_cast<NcclCollective>(below(6));
    for (int rank = 0; rank < 8; ++rank) {
      Program& program = programs[static_cast<std::size_t>(rank)];
      After after;
      if (program.size() > 0 && below(2) == 0)
        after.push_back(static_cast<WorkNumber>(below(static_cast<int>(program.size()))));
      if (kind == 0)
        program.add_collective(stream, division, operation, bytes, after);
      else if (kind == 1 && rank == from)
        program.add_send(stream, to - from, bytes, step, after);
      else if (kind == 1 && rank == to)
        program.add_receive(stream, from - to, bytes, step, after);
      else
        program.add_computation(stream, 1e-4 * below(20), after);
    }
  }
  Workload all = of_programs(std::move(programs));
  all.divisions.emplace_back("tensor", Members{{0, 1, 2, 3}, {4, 5, 6, 7}}, 8);
  all.divisions.emplace_back("data", Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 8);
  return all;
}

/** Checks that operations begin after their predecessors have ended, and that a stream executes one at a time, in order
 * if required. */
void check_timeline(const Workload& workload, const IterationTimes& times)
{
  const double tolerance = 1e-12 * std::max(times.end, 1e-3);
  for (int rank = 0; rank < workload.ranks(); ++rank) {
    const Program& program = workload.program(rank);
    std::vector<const TimedWork*> of(program.size(), nullptr);
    for (const TimedWork& work : times.listed)
      if (work.rank == rank)
        of[work.number] = &work;
    std::map<std::uint32_t, std::vector<const TimedWork*>> streams;
    for (WorkNumber number = 0; number < program.size(); ++number) {
      ASSERT_TRUE(of[number]) << "rank " << rank << ", operation " << number << " has not ended";
      for (const WorkNumber before : program.after(number))
        ASSERT_GE(of[number]->begin, of[before]->end - tolerance);
      ASSERT_GE(of[number]->active, of[number]->begin - tolerance);
      ASSERT_GE(of[number]->end, of[number]->active - tolerance);
      streams[program[number].stream].push_back(of[number]);
    }
    for (auto& [stream, works] : streams) {
      if (not program.in_order())
        std::ranges::sort(works, {}, [](const TimedWork* work) { return std::pair(work->end, work->begin); });
      for (std::size_t at = 1; at < works.size(); ++at)
        ASSERT_GE(works[at]->begin, works[at - 1]->end - tolerance)
            << "rank " << rank << ", operations " << works[at - 1]->number << " and " << works[at]->number;
    }
  }
}

TEST(Iteration, RandomWorkloadsRespectStreamsAndDependencies)
{
  const Fabric fabric = fabric_of(gpu_fabric(2, 4));
  int ended           = 0;
  int refused         = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const bool in_order     = seed % 2 == 0;
    const Workload workload = random_workload(seed, in_order);
    IterationOptions options;
    options.listed = {0, 1, 2, 3, 4, 5, 6, 7};
    try {
      SCOPED_TRACE(seed);
      const IterationTimes times = run_iteration(workload, fabric, options);
      check_timeline(workload, times);
      if (HasFatalFailure())
        return;
      for (const RankTimes& its : times.ranks) {
        const double parts = its.computing + its.idle + std::reduce(its.exposed.begin(), its.exposed.end()) +
                             std::reduce(its.late.begin(), its.late.end());
        ASSERT_NEAR(parts, its.end, 1e-9 * times.end) << seed;
      }
      options.execute_all = true;
      ASSERT_NEAR(run_iteration(workload, fabric, options).end / times.end, 1, 1e-9) << seed;
      ++ended;
    } catch (const UserError& error) { // with out-of-order streams, ranks may deadlock
      ASSERT_FALSE(in_order) << seed << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GE(ended, 200);
  EXPECT_GE(ended + refused, 400);
}

// ---- Shared networks
// --------------------------------------------------------------------------------------------------

/** Returns a message of 100 MB from rank 0 to rank 4, on the second of two nodes: 2 ms on its links of 50 GB/s. */
Workload one_message()
{
  Program sends(true);
  sends.add_send(0, 4, 100 * MEGA);
  Program receives(true);
  receives.add_receive(0, -4, 100 * MEGA);
  return of_programs({sends, {Program(true)}, {Program(true)}, {Program(true)}, receives});
}

constexpr double TIMEOUT = 1e-3;

/** Returns a fault description with a timeout of 1 ms and two retries. */
FaultDescription faults_of(std::vector<FaultEvent> events)
{
  return {{Seconds(1e-6), Seconds(1e-6), Seconds(TIMEOUT), 2}, {}, CallPolicy::hosts, std::move(events)};
}

/** Returns a change at @p at of the links that enter a host. */
FaultEvent change_at(double at, const Fabric& fabric, int host, FabricChange change)
{
  FaultEvent event{Seconds(at), "link", {}, {}, {}, {}};
  for (LinkId id = 0; std::cmp_less(id, fabric.links().size()); ++id)
    if (fabric.link(id).to == host) {
      change.number = id;
      event.changes.push_back(change);
    }
  return event;
}

IterationTimes with_faults(const Fabric& fabric, const Workload& workload, std::vector<FaultEvent> events)
{
  IterationOptions options;
  options.disturbances.faults = faults_of(std::move(events));
  return run_iteration(workload, fabric, std::move(options));
}

TEST(DisturbedIteration, ASlowLinkTakesInProportionLonger)
{
  const Fabric fabric        = fabric_of(gpu_fabric(2, 4));
  const Workload all         = one_message();
  FabricChange slow          = {FabricChange::What::bandwidth};
  slow.factor                = 0.5;
  const IterationTimes times = with_faults(fabric, all, {change_at(0, fabric, 4, slow)});
  EXPECT_NEAR(times.end, 0.004, 1e-12);
  EXPECT_EQ(times.outcome, IterationTimes::COMPLETED);
  ASSERT_TRUE(times.faults);
  EXPECT_EQ(times.faults->events.size(), 1U);
}

TEST(DisturbedIteration, ALinkThatIsDownDelaysByItsTimeAndTheRetry)
{
  const Fabric fabric     = fabric_of(gpu_fabric(2, 4));
  const Workload all      = one_message();
  const FabricChange down = {FabricChange::What::link};
  FabricChange up         = down;
  up.over                 = true;
  // Half of the message has arrived at 1 ms. The sender retries at 2 ms, in vain, and at 3 ms.
  const IterationTimes times =
      with_faults(fabric, all, {change_at(0.001, fabric, 4, down), change_at(0.0025, fabric, 4, up)});
  EXPECT_NEAR(times.end, 0.001 + 2 * TIMEOUT + 0.001, 1e-12);
  EXPECT_EQ(times.faults->counts.cut, 1);
  EXPECT_EQ(times.faults->counts.resumed, 1);
  EXPECT_NEAR(times.ranks[4].exposed[0], times.end, 1e-12);
}

TEST(DisturbedIteration, AMessageThatIsGivenUpIsAnOutcome)
{
  const Fabric fabric        = fabric_of(gpu_fabric(2, 4));
  const IterationTimes times = with_faults(fabric, one_message(), {change_at(0.001, fabric, 4, {})});
  EXPECT_EQ(times.outcome, "network-failure");
  EXPECT_NE(times.message.find("rank 0, operation 0"), std::string::npos) << times.message;
  EXPECT_NE(times.message.find("2 retries"), std::string::npos) << times.message;
  EXPECT_NEAR(times.end, 0.001 + 3 * TIMEOUT, 1e-12);
  EXPECT_NEAR(times.ranks[0].exposed[0], times.end, 1e-12);
}

TEST(DisturbedIteration, AHostThatFailsEndsIt)
{
  const Fabric fabric = fabric_of(gpu_fabric(2, 4));
  FaultEvent event{Seconds(0.001), "host down", {}, {}, {4}, {}};
  const IterationTimes times = with_faults(fabric, one_message(), {event});
  EXPECT_EQ(times.outcome, "host-failure");
  EXPECT_NE(times.message.find("rank 4"), std::string::npos) << times.message;
  EXPECT_DOUBLE_EQ(times.end, 0.001);
}

TEST(DisturbedIteration, GroupsOnFaultyLinksExecuteAllCalls)
{
  const Fabric fabric    = fabric_of(gpu_fabric(2, 4));
  const Workload all     = two_divisions(10, false);
  const auto undisturbed = run_iteration(all, fabric, {});
  FabricChange slow      = {FabricChange::What::bandwidth};
  slow.factor            = 0.5;
  const double late      = 2 * undisturbed.end;
  const auto disturbed   = with_faults(fabric, all, {change_at(late, fabric, 5, slow)});
  EXPECT_NEAR(disturbed.end, undisturbed.end, 1e-12 * undisturbed.end);
  EXPECT_GT(disturbed.executed, undisturbed.executed);
  EXPECT_LT(disturbed.executed, disturbed.calls);
  EXPECT_EQ(disturbed.faults->left, 1U);
}

TEST(DisturbedIteration, TrafficTakesItsShareOfLinks)
{
  // A schedule's message between other GPUs of the two nodes shares no link; one between the same GPUs shares all
  // links.
  const Fabric fabric = fabric_of(gpu_fabric(2, 4));
  const auto beside   = [&fabric](int from) {
    TrafficTable table;
    table.name       = "goal";
    table.pattern    = "goal";
    table.load.hosts = {from, from + 4};
    GoalOperation sends;
    sends.kind             = GoalOperation::Kind::send;
    sends.bytes            = Bytes(1000 * MEGA);
    sends.peer             = 1;
    GoalOperation receives = sends;
    receives.kind          = GoalOperation::Kind::receive;
    receives.peer          = 0;
    table.goal             = {{sends}, {receives}};
    IterationOptions options;
    options.disturbances.traffic = {table};
    return run_iteration(one_message(), fabric, std::move(options));
  };
  EXPECT_NEAR(beside(1).end, 0.002, 1e-12);
  const IterationTimes shared = beside(0);
  EXPECT_NEAR(shared.end, 0.004, 1e-12);
  EXPECT_EQ(shared.messages, 1U);
  ASSERT_EQ(shared.traffic.size(), 1U);
  EXPECT_EQ(shared.traffic[0].counts.messages, 0);
}

TEST(DisturbedIteration, TwoOnOneNetworkHaveHalfOfALinkEach)
{
  const Fabric fabric = fabric_of(gpu_fabric(2, 4));
  Agenda agenda;
  FabricRoutes routes(fabric);
  FlowNetwork network(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count());
  const Workload all = one_message();
  int over           = 0;
  const IterationOptions options{.execute_all = true};
  const auto place = [&] { return IterationPlace{{0, 1, 2, 3, 4}, agenda, network, [&over] { ++over; }, true}; };
  Iteration one(all, fabric, options, place());
  Iteration other(all, fabric, options, place());
  one.begin();
  other.begin();
  agenda.run_until(Seconds(1));
  EXPECT_EQ(over, 2);
  EXPECT_NEAR(one.take_times().end, 0.004, 1e-12);
  EXPECT_NEAR(other.take_times().end, 0.004, 1e-12);
}

TEST(DisturbedIteration, OneOfSeveralReportsItsErrors)
{
  const Fabric fabric = fabric_of(gpu_fabric(2, 4));
  Agenda agenda;
  FabricRoutes routes(fabric);
  FlowNetwork network(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count());
  Program sends(true);
  sends.add_send(0, 1, 1 * MEGA);
  Program receives(true);
  receives.add_receive(0, -1, 2 * MEGA);
  const Workload all = of_programs({sends, receives});
  Iteration its(all, fabric, {.execute_all = true}, {{0, 1}, agenda, network, {}, true});
  its.begin();
  EXPECT_TRUE(its.is_over());
  const IterationTimes times = its.take_times();
  EXPECT_EQ(times.outcome, "mismatch");
  EXPECT_NE(times.message.find("2000000"), std::string::npos) << times.message;
}

} // namespace
} // namespace weft
