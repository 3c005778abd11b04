// SPDX-License-Identifier: LGPL-2.1-only
#include "traffic/goal_schedule.hpp"

#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Kind = GoalOperation::Kind;

GoalOperation compute(double seconds, std::vector<int> after = {}, int cpu = 0)
{
  GoalOperation made;
  made.time       = Seconds(seconds);
  made.cpu        = cpu;
  made.after_ends = std::move(after);
  return made;
}

GoalOperation message(Kind kind, double bytes, int peer, std::vector<int> after = {}, int tag = 0)
{
  GoalOperation made;
  made.kind       = kind;
  made.bytes      = Bytes(bytes);
  made.peer       = peer;
  made.tag        = tag;
  made.after_ends = std::move(after);
  return made;
}

/** Port on which a message takes a second per byte. */
class Clock : public GoalPort {
  struct Event {
    std::size_t operation;
    bool is_message;
  };
  std::multimap<double, Event> events_;

public:
  double now       = 0;
  std::size_t sent = 0;

  void send(int /*from*/, int /*to*/, Bytes bytes, std::size_t operation) override
  {
    ++sent;
    events_.emplace(now + bytes.value(), Event{operation, true});
  }
  void compute(Seconds time, std::size_t operation) override
  {
    events_.emplace(now + time.value(), Event{operation, false});
  }
  /** Executes a schedule until no event is left. @return whether it has ended */
  bool run(const GoalSchedule& schedule, double eager = 0)
  {
    GoalExecution execution(schedule, *this, Bytes(eager));
    execution.begin();
    while (not events_.empty()) {
      const auto [time, event] = *events_.begin();
      events_.erase(events_.begin());
      now = time;
      if (event.is_message)
        execution.arrived(event.operation);
      else
        execution.computed(event.operation);
    }
    return execution.ended();
  }
};

TEST(GoalSchedule, required_operations_come_first)
{
  Clock clock;
  EXPECT_TRUE(clock.run({{compute(1), compute(2, {0}), compute(4, {0, 1}, 1)}}));
  EXPECT_DOUBLE_EQ(clock.now, 7);
}

TEST(GoalSchedule, computations_on_one_cpu_follow_each_other)
{
  Clock clock;
  EXPECT_TRUE(clock.run({{compute(1), compute(2), compute(2.5, {}, 1)}}));
  EXPECT_DOUBLE_EQ(clock.now, 3);
}

TEST(GoalSchedule, a_ping_pong_takes_both_messages)
{
  Clock clock;
  EXPECT_TRUE(clock.run({{message(Kind::send, 3, 1), message(Kind::receive, 5, 1, {0})},
                         {message(Kind::receive, 3, 0), message(Kind::send, 5, 0, {0})}}));
  EXPECT_DOUBLE_EQ(clock.now, 8);
  EXPECT_EQ(clock.sent, 2);
}

TEST(GoalSchedule, eager_sends_end_at_once)
{
  const GoalSchedule schedule{{message(Kind::send, 3, 1), compute(1, {0})}, {message(Kind::receive, 3, 0)}};
  Clock eager;
  EXPECT_TRUE(eager.run(schedule, 4));
  EXPECT_DOUBLE_EQ(eager.now, 3);
  Clock rendezvous;
  EXPECT_TRUE(rendezvous.run(schedule));
  EXPECT_DOUBLE_EQ(rendezvous.now, 4);
}

TEST(GoalSchedule, messages_match_by_peer_and_tag)
{
  Clock clock;
  EXPECT_TRUE(
      clock.run({{message(Kind::send, 9, 1, {}, 7), message(Kind::send, 1, 1, {}, 8)},
                 {message(Kind::receive, 1, 0, {}, 8), compute(20, {0}), message(Kind::receive, 9, 0, {}, 7)}}));
  EXPECT_DOUBLE_EQ(clock.now, 21);
}

TEST(GoalSchedule, started_operations_release_others)
{
  GoalOperation second = compute(1, {}, 1);
  second.after_starts  = {0};
  Clock clock;
  EXPECT_TRUE(clock.run({{compute(5), second}}));
  EXPECT_DOUBLE_EQ(clock.now, 5);
}

TEST(GoalSchedule, a_receive_without_message_never_ends)
{
  Clock clock;
  EXPECT_FALSE(clock.run({{message(Kind::receive, 1, 1)}, {}}));
}

TEST(GoalSchedule, unknown_ranks_and_operations_are_misuse)
{
  Clock clock;
  EXPECT_THROW(clock.run({{message(Kind::send, 1, 1)}}), std::logic_error);
  EXPECT_THROW(clock.run({{compute(1, {3})}}), std::logic_error);
}

} // namespace
} // namespace weft
