// SPDX-License-Identifier: LGPL-2.1-only
#include "network/nic_queues.hpp"

#include <gtest/gtest.h>
#include <map>

namespace weft {
namespace {

constexpr double LATENCY = 10;
constexpr int HOSTS      = 3;

/** Network of links that never contend: each message takes the same time. */
class QuietMessages : public Messages, public Due {
  struct Sent {
    Receiving* receiver;
    std::uint64_t message;
  };
  Agenda& agenda_;
  std::vector<Sent> sent_;

public:
  bool fails = false;
  std::vector<int> to_sockets; // for messages whose sockets are known
  std::vector<double> since;   // for messages that began earlier
  explicit QuietMessages(Agenda& agenda) : agenda_(agenda) {}
  void send(int /*from*/, int /*to*/, Bytes /*bytes*/, double /*missed*/, Receiving& receiver,
            std::uint64_t message) override
  {
    sent_.push_back({&receiver, message});
    agenda_.add(agenda_.now() + Seconds(LATENCY), *this, sent_.size() - 1);
  }
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override
  {
    to_sockets.push_back(message.to_socket);
    if (message.since)
      since.push_back(message.since->value());
    send(message.from, message.to, message.bytes, message.missed, receiver, number);
  }
  void due(std::uint64_t what) override
  {
    const Sent one = sent_[what];
    if (fails)
      one.receiver->failed(one.message, "cut");
    else
      one.receiver->arrived(one.message);
  }
};

class Arrivals : public Receiving {
  Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  std::map<std::uint64_t, std::string> failures;
  explicit Arrivals(Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
  void failed(std::uint64_t message, const std::string& why) override { failures[message] = why; }
};

class BackgroundArrivals : public BackgroundReceiver {
public:
  int number = 0;
  void arrived(std::uint64_t /*message*/) override { ++number; }
  void due(std::uint64_t /*what*/) override {}
};

class NicQueuesTest : public testing::Test {
protected:
  Agenda agenda_;
  QuietMessages network_{agenda_};
  Arrivals arrivals_{agenda_};
  NicQueues nics_{agenda_, Hertz(0.5), HOSTS}; // a message every 2 s
  QueuedMessages messages_{nics_, network_};

  void send(int from, int to, std::uint64_t message) { messages_.send(from, to, Bytes(8), 1, arrivals_, message); }
  std::map<std::uint64_t, double> arrivals()
  {
    agenda_.run_until(agenda_.now() + Seconds(1000));
    return arrivals_.times;
  }
  using Times = std::map<std::uint64_t, double>;
};

TEST_F(NicQueuesTest, AMessageAloneIsNotDelayed)
{
  send(0, 1, 1);
  agenda_.run_until(Seconds(5));
  send(0, 1, 2);
  EXPECT_EQ(arrivals(), (Times{{1, 10}, {2, 15}}));
}

TEST_F(NicQueuesTest, AHostSendsOneMessageAfterTheOther)
{
  for (std::uint64_t message = 0; message < 4; ++message)
    send(0, 1 + static_cast<int>(message % 2), message);
  EXPECT_EQ(arrivals(), (Times{{0, 10}, {1, 12}, {2, 14}, {3, 16}}));
}

TEST_F(NicQueuesTest, AHostReceivesOneMessageAfterTheOther)
{
  send(0, 2, 0);
  send(1, 2, 1);
  send(1, 0, 2); // leaves after message 1, to another host
  EXPECT_EQ(arrivals(), (Times{{0, 10}, {1, 12}, {2, 12}}));
}

// Each direction has a queue of its own.
TEST_F(NicQueuesTest, SendingDoesNotDelayReceiving)
{
  send(0, 1, 0);
  send(1, 0, 1);
  EXPECT_EQ(arrivals(), (Times{{0, 10}, {1, 10}}));
}

TEST_F(NicQueuesTest, MessagesWithinAHostAndOfSwitchesPass)
{
  for (std::uint64_t message = 0; message < 3; ++message)
    send(0, 0, message);
  send(0, HOSTS, 3);
  send(HOSTS, 0, 4);
  EXPECT_EQ(arrivals(), (Times{{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}}));
}

TEST_F(NicQueuesTest, SocketsOfMessagesAreKept)
{
  for (std::uint64_t number = 0; number < 2; ++number)
    messages_.send_on_sockets({.from = 0, .to = 1, .from_socket = 0, .to_socket = 1, .bytes = Bytes(8)}, arrivals_,
                              number);
  messages_.send_on_sockets({.from = 2, .to = 2, .from_socket = 1, .to_socket = 0, .bytes = Bytes(8)}, arrivals_, 2);
  EXPECT_EQ(arrivals(), (Times{{0, 10}, {1, 12}, {2, 10}}));
  EXPECT_EQ(network_.to_sockets, (std::vector{1, 0, 1}));
}

TEST_F(NicQueuesTest, AQueueDelaysWhatBeganEarlier)
{
  agenda_.run_until(Seconds(5));
  for (std::uint64_t number = 0; number < 2; ++number)
    messages_.send_on_sockets({.from = 0, .to = 1, .bytes = Bytes(8), .since = Seconds(4)}, arrivals_, number);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(network_.since, (std::vector<double>{4, 6}));
}

TEST_F(NicQueuesTest, AFailedMessageIsReported)
{
  network_.fails = true;
  send(0, 1, 7);
  agenda_.run_until(Seconds(1000));
  EXPECT_EQ(arrivals_.failures, (std::map<std::uint64_t, std::string>{{7, "cut"}}));
  network_.fails = false;
  send(0, 1, 8);
  EXPECT_EQ(arrivals(), (Times{{8, 1010}}));
}

// The queue's own events must not keep a run alive for background traffic.
TEST_F(NicQueuesTest, BackgroundTrafficStaysInTheBackground)
{
  BackgroundArrivals background;
  const auto only_background = [this] {
    return not agenda_.any_but([this](const Due& due) {
      return &due == static_cast<const Due*>(&network_) || dynamic_cast<const BackgroundReceiver*>(&due) != nullptr;
    });
  };
  for (std::uint64_t message = 0; message < 2; ++message)
    messages_.send(0, 1, Bytes(8), 1, background, message);
  EXPECT_TRUE(only_background());
  send(0, 1, 0);
  EXPECT_FALSE(only_background());
  EXPECT_EQ(arrivals(), (Times{{0, 14}}));
  EXPECT_EQ(background.number, 2);
}

} // namespace
} // namespace weft
