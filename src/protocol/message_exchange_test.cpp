// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/message_exchange.hpp"

#include "protocol/exact_matching.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr int NEVER = -1;

/** Times of a message: its start, and the completion of its send and of its receive. */
struct Times {
  int left                                           = NEVER;
  int sent                                           = NEVER; // completion of the send
  int received                                       = NEVER; // completion of the receive
  friend bool operator==(const Times&, const Times&) = default;
};

void PrintTo(const Times& times, std::ostream* out)
{
  *out << "left " << times.left << ", sent " << times.sent << ", received " << times.received;
}

struct Action {
  enum class Kind : std::uint8_t { send, receive, attend, leave_mpi };
  Kind kind;
  int rank;
  int peer      = 0; // sender, for a receive; or ANY_SOURCE
  int tag       = 0; // tag, for a receive; or ANY_TAG
  SendMode mode = {};
  int delay     = 1; // from a message's start to its arrival
};

/** Script: an action at each even time; delays are odd, so that arrivals never coincide with actions. */
using Script = std::vector<Action>;

int time_of(std::size_t action)
{
  return 2 * static_cast<int>(action);
}

struct Sent {
  int to;
  int delay;
  std::size_t action;
};

/** Plays a script with an exchange of messages. */
template <class Matching> class Player : MessageExchange<Player<Matching>, Sent, Matching> {
  using Exchange = MessageExchange<Player, Sent, Matching>;
  friend Exchange;
  using typename Exchange::Endpoint;
  using typename Exchange::Index;
  using typename Exchange::Message;
  std::multimap<int, Index> arrivals_;
  std::map<int, bool> away_;
  int now_ = 0;

  bool may_leave(const Message& message) { return not away_[message.to]; }
  void carry(Index number)
  {
    const Sent& sent        = this->message_of(number);
    times[sent.action].left = now_;
    arrivals_.emplace(now_ + sent.delay, number);
  }
  static void matched(Index /*number*/, int /*source*/, int /*tag*/) {}
  void send_ended(const Message& message) { times[message.action].sent = now_; }
  void receive_ended(const Message& message)
  {
    times[message.action].received = now_;
    receives.emplace(message.receive, message.action);
  }
  void run_until(int time)
  {
    while (not arrivals_.empty() && arrivals_.begin()->first < time) {
      const auto [at, number] = *arrivals_.begin();
      arrivals_.erase(arrivals_.begin());
      now_ = at;
      this->arrive(number);
    }
    now_ = time;
  }
  void take(const Action& its, std::size_t at)
  {
    switch (its.kind) {
      case Action::Kind::send:
        if (its.mode.detached)
          times[at].sent = now_;
        this->post_send(this->add_message(its.mode, {its.peer, its.delay, at}), static_cast<Endpoint>(its.peer),
                        its.rank, its.tag);
        break;
      case Action::Kind::receive:
        this->post_receive(static_cast<Endpoint>(its.rank), at, its.peer, its.tag);
        break;
      case Action::Kind::attend:
        away_[its.rank] = false;
        this->release_held([&](const Message& message) { return message.to == its.rank; });
        break;
      case Action::Kind::leave_mpi:
        away_[its.rank] = true;
    }
  }

public:
  std::vector<Times> times;                      ///< by action
  std::map<std::uint64_t, std::size_t> receives; ///< index of a receive's action → index of its message's action
  bool ended = false;

  explicit Player(const Script& script) : times(script.size())
  {
    for (std::size_t at = 0; at < script.size(); ++at) {
      run_until(time_of(at));
      take(script[at], at);
    }
    run_until(1 << 30);
    ended = this->state_of_messages().is_idle();
  }
};

using Played = Player<MessageMatching>;

/** Reference by definition: the first matching partner, and the times that follow from it. */
class Naive {
  const Script& script_;

  bool match(std::size_t send, std::size_t receive) const
  {
    const Action& one   = script_[send];
    const Action& other = script_[receive];
    return one.peer == other.rank && (other.peer == MessageMatching::ANY_SOURCE || other.peer == one.rank) &&
           (other.tag == MessageMatching::ANY_TAG || other.tag == one.tag);
  }
  /** Returns the first time, at least @p time, at which a rank attends; NEVER if it does not. */
  int attends_from(int rank, int time) const
  {
    bool away = false;
    for (std::size_t at = 0; at < script_.size(); ++at) {
      if (time_of(at) > time && not away)
        return time;
      if (script_[at].rank == rank && script_[at].kind == Action::Kind::leave_mpi)
        away = true;
      if (script_[at].rank == rank && script_[at].kind == Action::Kind::attend)
        away = false;
      if (time_of(at) >= time && not away)
        return std::max(time, time_of(at));
    }
    return NEVER;
  }
  Times times_of(std::size_t send, int receive_posted) const
  {
    const Action& its = script_[send];
    Times of_send;
    if (its.mode.eager)
      of_send.left = time_of(send);
    else if (receive_posted != NEVER)
      of_send.left = attends_from(its.peer, std::max(time_of(send), receive_posted));
    const int arrival = of_send.left == NEVER ? NEVER : of_send.left + its.delay;
    of_send.sent      = its.mode.detached ? time_of(send) : arrival;
    if (receive_posted != NEVER && arrival != NEVER)
      of_send.received = std::max(receive_posted, arrival);
    return of_send;
  }

public:
  std::vector<Times> times;
  std::map<std::uint64_t, std::size_t> receives;

  explicit Naive(const Script& script) : script_(script), times(script.size())
  {
    std::vector<std::size_t> sends;
    std::vector<std::size_t> posted;
    for (std::size_t at = 0; at < script.size(); ++at) {
      const bool sends_one = script[at].kind == Action::Kind::send;
      if (not sends_one && script[at].kind != Action::Kind::receive)
        continue;
      auto& partners   = sends_one ? posted : sends;
      const auto found = std::ranges::find_if(
          partners, [&](std::size_t other) { return sends_one ? match(at, other) : match(other, at); });
      if (found == partners.end()) {
        (sends_one ? sends : posted).push_back(at);
        if (sends_one)
          times[at] = times_of(at, NEVER);
        continue;
      }
      const std::size_t send    = sends_one ? at : *found;
      const std::size_t receive = sends_one ? *found : at;
      partners.erase(found);
      times[send] = times_of(send, time_of(receive));
      if (times[send].received != NEVER)
        receives.emplace(receive, send);
    }
  }
};

Script random_script(std::mt19937& random, bool wildcards)
{
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  const int ranks  = 2 + below(3);
  Script script;
  for (int number = 4 + below(60); number > 0; --number) {
    const int kind = below(10);
    Action action{Action::Kind::send, below(ranks), below(ranks), below(3), {below(2) == 0, below(2) == 0},
                  1 + 2 * below(8)};
    if (kind >= 8)
      action.kind = kind == 8 ? Action::Kind::attend : Action::Kind::leave_mpi;
    else if (kind >= 4)
      action.kind = Action::Kind::receive;
    if (wildcards && action.kind == Action::Kind::receive && below(4) == 0)
      action.peer = MessageMatching::ANY_SOURCE;
    if (wildcards && action.kind == Action::Kind::receive && below(4) == 0)
      action.tag = MessageMatching::ANY_TAG;
    script.push_back(action);
  }
  return script;
}

template <class Matching> void play_random_scripts(bool wildcards)
{
  std::mt19937 random(1);
  std::size_t received = 0;
  for (int round = 0; round < 2000; ++round) {
    const Script script = random_script(random, wildcards);
    const Player<Matching> player(script);
    const Naive naive(script);
    ASSERT_EQ(player.times, naive.times) << "round " << round;
    ASSERT_EQ(player.receives, naive.receives) << "round " << round;
    received += player.receives.size();
  }
  EXPECT_GT(received, 2000);
}

TEST(MessageExchange, RandomScriptsEndAsByDefinition)
{
  play_random_scripts<MessageMatching>(true);
}

TEST(MessageExchange, RandomScriptsWithoutWildcardsEndAsByDefinition)
{
  play_random_scripts<ExactMatching>(false);
}

constexpr Action SEND{Action::Kind::send, 0, 1, 7, {}, 5};
constexpr Action RECEIVE{Action::Kind::receive, 1, 0, 7};

Action send(bool detached, bool eager)
{
  Action action = SEND;
  action.mode   = {detached, eager};
  return action;
}

TEST(MessageExchange, AnEagerMessageArrivesBeforeItsReceive)
{
  const Script script{
      send(true, true), {Action::Kind::attend, 3}, {Action::Kind::attend, 3}, {Action::Kind::attend, 3}, RECEIVE};
  EXPECT_EQ(Played(script).times[0], (Times{0, 0, 8}));
}

TEST(MessageExchange, AnEagerSendThatIsNotDetachedEndsWithTheArrival)
{
  const Played player({send(false, true)});
  EXPECT_EQ(player.times[0], (Times{0, 5, NEVER}));
  EXPECT_FALSE(player.ended);
}

TEST(MessageExchange, ARendezvousMessageLeavesOnceItsReceiveIsPosted)
{
  EXPECT_EQ(Played({send(false, false)}).times[0], (Times{NEVER, NEVER, NEVER}));
  const Played later({send(false, false), RECEIVE});
  EXPECT_EQ(later.times[0], (Times{2, 7, 7}));
  EXPECT_TRUE(later.ended);
  EXPECT_EQ(Played({RECEIVE, send(false, false)}).times[1], (Times{2, 7, 7}));
}

TEST(MessageExchange, ARendezvousMessageIsHeldUntilItsReceiverAttends)
{
  const Script script{
      RECEIVE, {Action::Kind::leave_mpi, 1}, send(false, false), {Action::Kind::attend, 0}, {Action::Kind::attend, 1}};
  EXPECT_EQ(Played(script).times[2], (Times{8, 13, 13}));
}

TEST(MessageExchange, AnEagerMessageDoesNotNeedItsReceiversAttention)
{
  const Script script{RECEIVE, {Action::Kind::leave_mpi, 1}, send(true, true)};
  EXPECT_EQ(Played(script).times[2], (Times{4, 4, 9}));
}

struct Nothing {};

/** Rank that receives its own message after its send has completed, like a program that waits for the send first. */
class Selfish : MessageExchange<Selfish, Nothing> {
  friend class MessageExchange<Selfish, Nothing>;
  static bool may_leave(const Message& /*message*/) { return true; }
  static void carry(Index /*number*/) {}
  static void matched(Index /*number*/, int /*source*/, int /*tag*/) {}
  void send_ended(const Message& /*message*/) { MessageExchange::post_receive(0, 1, 0, 0); }
  void receive_ended(const Message& /*message*/) { ++received; }

public:
  int received = 0;
  bool ended() { return state_of_messages().is_idle(); }
  void run()
  {
    const Index number = add_message({false, true}, {});
    post_send(number, 0, 0, 0);
    arrive(number);
  }
};

TEST(MessageExchange, TheEndOfASendMayPostTheReceive)
{
  Selfish rank;
  rank.run();
  EXPECT_EQ(rank.received, 1);
  EXPECT_TRUE(rank.ended());
}

TEST(ExactMatching, ClearForgetsReceivesAndMessages)
{
  ExactMatching matching;
  EXPECT_FALSE(matching.post(0, 1, 0, 0).found);
  EXPECT_FALSE(matching.arrive(1, 2, 0, 0));
  matching.clear();
  EXPECT_FALSE(matching.arrive(0, 3, 0, 0));
  EXPECT_FALSE(matching.post(1, 4, 0, 0).found);
  EXPECT_EQ(matching.post(0, 5, 0, 0).found.value_or(MessageMatching::Found{}).message, 3U);
}

} // namespace
} // namespace weft
