// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/concurrent.hpp"

#include "collective/host/engine/walk.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace weft {
namespace {

constexpr Bytes WORD{8};

Schedule hear(int from, int then_tell)
{
  co_yield recv(from, WORD);
  if (then_tell >= 0)
    co_yield send(then_tell, WORD);
}

Schedule tell(int to)
{
  co_yield send(to, WORD);
}

Schedule both(Schedule first, Schedule second)
{
  std::vector<ConcurrentSchedule> strands;
  strands.push_back({std::move(first), 1});
  strands.push_back({std::move(second), 2});
  return together(std::move(strands));
}

Step tagged(Step step, int tag)
{
  step.tag = tag;
  return step;
}

Schedule hear_then_tell()
{
  co_yield tagged(recv(0, WORD), 2);
  co_yield tagged(send(0, WORD), 1);
}

Schedule tell_second()
{
  co_yield tagged(send(0, WORD), 2);
}

// Rank 0's first strand waits for rank 1, which waits for a message of rank 0's second strand.
TEST(CoalescedMessages, AStrandGoesOnWhileAnotherOneWaits)
{
  const Walk walked = walk(3, [](int rank) -> Schedule {
    if (rank == 0)
      return both(hear(1, -1), hear(2, 1));
    return rank == 1 ? hear_then_tell() : tell_second();
  });
  EXPECT_EQ(walked.messages.size(), 3U);
}

Schedule wait_for_each(int first, int second)
{
  const Request one   = co_yield irecv(first, WORD);
  const Request other = co_yield irecv(second, WORD);
  co_yield wait(other);
  co_yield wait(one);
  co_yield wait(other);
  co_yield wait_all();
}

TEST(CoalescedMessages, WaitsAreForTheStrandsOwnMessages)
{
  const Walk walked = walk(3, [](int rank) -> Schedule {
    return rank == 0 ? both(wait_for_each(1, 2), hear(1, 2)) : both(tell(0), rank == 1 ? tell(0) : hear(0, -1));
  });
  EXPECT_EQ(walked.messages.size(), 4U);
  for (const int ended : walked.ended)
    EXPECT_GE(ended, 0);
}

Schedule exchange(int peer, Bytes bytes)
{
  co_yield isend(peer, bytes);
  co_yield recv(peer, bytes);
  co_yield wait_all();
}

// Two strands between the same ranks post messages of different lengths in different orders.
TEST(CoalescedMessages, MessagesOfDifferentStrandsDoNotMatch)
{
  const Walk walked = walk(2, [&](int rank) -> Schedule {
    std::vector<ConcurrentSchedule> strands;
    strands.push_back({exchange(1 - rank, Bytes(rank == 0 ? 8 : 16)), rank == 0 ? 1 : 2});
    strands.push_back({exchange(1 - rank, Bytes(rank == 0 ? 16 : 8)), rank == 0 ? 2 : 1});
    return together(std::move(strands));
  });
  EXPECT_EQ(walked.messages.size(), 4U);
}

} // namespace
} // namespace weft
