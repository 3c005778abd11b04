// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/schedule.hpp"

#include "collective/host/engine/tally.hpp"
#include "collective/host/selection/algorithms.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {
namespace {

std::string text(const Step& step)
{
  static const std::vector<std::string> KINDS{"send", "receive", "wait", "wait_all", "reduce", "copy"};
  return KINDS.at(static_cast<std::size_t>(step.kind)) + " " + std::to_string(step.peer) + " #" +
         std::to_string(step.request);
}

std::vector<std::string> steps(Schedule schedule)
{
  std::vector<std::string> said;
  while (schedule.next())
    said.push_back(text(schedule.step()));
  return said;
}

Schedule exchange(int peer)
{
  const Request coming = co_yield irecv(peer, Bytes(8));
  co_yield send(peer, Bytes(8));
  co_yield wait(coming);
}

TEST(Schedule, YieldsStepsInOrder)
{
  EXPECT_EQ(steps(exchange(3)), (std::vector<std::string>{"receive 3 #0", "send 3 #1", "wait -1 #0"}));
}

TEST(Schedule, NumbersMessagesAcrossNestedSchedules)
{
  const auto two = []() -> Schedule {
    co_yield exchange(1);
    co_yield reduce(Bytes(8));
    co_yield exchange(2);
  };
  EXPECT_EQ(steps(two()), (std::vector<std::string>{"receive 1 #0", "send 1 #1", "wait -1 #0", "reduce -1 #-1",
                                                    "receive 2 #2", "send 2 #3", "wait -1 #2"}));
}

TEST(Schedule, AnExchangeIsThreeSteps)
{
  const auto two = []() -> Schedule {
    co_yield send_receive(1, Bytes(8), 2, Bytes(8));
    co_yield send_receive(3, Bytes(8), 4, Bytes(8));
  };
  const auto outer = [&]() -> Schedule {
    co_yield two();
    co_yield isend(5, Bytes(8));
  };
  EXPECT_EQ(steps(outer()), (std::vector<std::string>{"receive 2 #0", "send 1 #1", "wait -1 #0", "receive 4 #2",
                                                      "send 3 #3", "wait -1 #2", "send 5 #4"}));
}

Schedule nested(int depth)
{
  if (depth == 0)
    co_return;
  co_yield nested(depth - 1);
  co_yield isend(depth, Bytes(1));
}

TEST(Schedule, MayBeEmptyAndNestDeeply)
{
  EXPECT_TRUE(steps(nested(0)).empty());
  EXPECT_EQ(steps(nested(1000)).size(), 1000U);
}

TEST(Schedule, MayBeDestroyedBeforeItsEnd)
{
  Schedule schedule = nested(5);
  EXPECT_TRUE(schedule.next());
  schedule = nested(1);
  EXPECT_TRUE(schedule.next());
  EXPECT_FALSE(schedule.next());
}

Schedule broken()
{
  co_yield isend(0, Bytes(1));
  throw std::logic_error("no such rank");
}

TEST(Schedule, ExceptionsReachTheCaller)
{
  const auto outer  = []() -> Schedule { co_yield broken(); };
  Schedule schedule = outer();
  EXPECT_TRUE(schedule.next());
  EXPECT_THROW(schedule.next(), std::logic_error);
}

TEST(Tally, CountsMessagesAndRounds)
{
  const auto tally_of = [](const char* collective, const char* algorithm, int rank) {
    const HostCall call{collective, 8, 0, 800, Bytes(4)};
    Tally tally;
    const Algorithm* const made = find_algorithm(collective, std::string_view(algorithm));
    EXPECT_EQ(steps(tallied(made->schedule(call, rank, {}), tally)), steps(made->schedule(call, rank, {})));
    return std::pair(tally.messages, tally.rounds);
  };
  EXPECT_EQ(tally_of("allreduce", "recursive_doubling", 3), std::pair(3, 3));
  EXPECT_EQ(tally_of("allreduce", "ring", 3), std::pair(14, 14));
  EXPECT_EQ(tally_of("bcast", "binomial", 0), std::pair(3, 0));
  EXPECT_EQ(tally_of("bcast", "binomial", 7), std::pair(0, 1));
  EXPECT_EQ(tally_of("allgather", "nbc_linear", 3), std::pair(7, 1)); // one wait for all receives
}

} // namespace
} // namespace weft
