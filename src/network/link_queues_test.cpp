// SPDX-License-Identifier: LGPL-2.1-only
#include "network/link_queues.hpp"

#include "network/flow_network.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace weft {
namespace {

constexpr int HOSTS           = 300;
constexpr double RATE         = 1e9; // bytes per second of each cable
constexpr double LATENCY      = 1e-6;
constexpr double SHORT        = 100; // bytes
constexpr std::size_t SHARING = LinkQueues::CROWD + 1;
constexpr TimeResolution AUTOMATIC{Seconds(4e-6), true};

/** Star of cables up (by host) and down. */
class Star : public MessageRoutes, public Receiving, public CutFlows {
  Agenda agenda_;
  const std::vector<int> none_;
  FlowNetwork network_{agenda_, *this, std::vector<double>(std::size_t{2} * HOSTS, RATE), HOSTS};

public:
  std::map<std::uint64_t, double> ends;
  std::vector<CutFlow> rests;

  explicit Star(TimeResolution resolution)
  {
    network_.set_resolution(resolution);
    network_.cut_into(*this);
  }
  void find(int from, int to, Bytes bytes, double /*missed*/, FlowRoute& into) override
  {
    into.latency   = LATENCY;
    into.volume    = bytes.value();
    into.bound     = RATE;
    into.resources = {from, HOSTS + to};
  }
  const std::vector<int>* known_route(int /*from*/, int /*to*/) override { return &none_; }
  void arrived(std::uint64_t message) override { ends[message] = agenda_.now().value(); }
  void cut(CutFlow rest) override { rests.push_back(std::move(rest)); }
  void send(int from, int to, double bytes, std::uint64_t message)
  {
    network_.send(from, to, Bytes(bytes), 1, *this, message);
  }
  void run(double until = 1) { agenda_.run_until(Seconds(until)); }
  void turn_off(int resource) { network_.turn_off({resource}); }
  std::size_t queued() const { return network_.work().queued; }
  double last() const
  {
    return std::ranges::max_element(ends, {}, [](const auto& one) { return one.second; })->second;
  }
};

TEST(LinkQueues, ShortMessagesOfACrowdEndOneByOneAndTheLastAsIfAllShared)
{
  Star star(AUTOMATIC);
  for (int to = 1; to < HOSTS; ++to)
    star.send(0, to, SHORT, static_cast<std::uint64_t>(to));
  star.run();
  EXPECT_EQ(star.queued(), HOSTS - 1 - SHARING);
  for (std::uint64_t to = 1; to <= SHARING; ++to) // these messages share the cable
    EXPECT_NEAR(star.ends[to], LATENCY + SHARING * SHORT / RATE, 1e-12);
  for (std::uint64_t to = SHARING + 1; to < HOSTS; ++to)
    EXPECT_NEAR(star.ends[to], LATENCY + static_cast<double>(to) * SHORT / RATE, 1e-12);
}

TEST(LinkQueues, MessagesShareWhereFewDoOrOneIsLong)
{
  Star few(AUTOMATIC);
  for (int to = 1; to <= static_cast<int>(SHARING); ++to)
    few.send(0, to, SHORT, static_cast<std::uint64_t>(to));
  few.run();
  EXPECT_EQ(few.queued(), 0U);

  Star stream(AUTOMATIC);
  stream.send(0, HOSTS - 1, 1e6, 0);
  for (int to = 1; to < HOSTS - 1; ++to)
    stream.send(0, to, SHORT, static_cast<std::uint64_t>(to));
  stream.run();
  EXPECT_EQ(stream.queued(), 0U);
  for (int to = 1; to < HOSTS - 1; ++to) // the stream has ended: these messages queue
    stream.send(0, to, SHORT, static_cast<std::uint64_t>(to));
  stream.run(2);
  EXPECT_EQ(stream.queued(), HOSTS - 2 - SHARING);
}

TEST(LinkQueues, NothingQueuesWithAFixedResolution)
{
  for (const TimeResolution resolution : {TimeResolution{}, TimeResolution{Seconds(1e-9)}}) {
    Star star(resolution);
    for (int to = 1; to < HOSTS; ++to)
      star.send(0, to, SHORT, static_cast<std::uint64_t>(to));
    star.run();
    EXPECT_EQ(star.queued(), 0U);
    EXPECT_NEAR(star.last(), LATENCY + (HOSTS - 1) * SHORT / RATE, 1e-9);
  }
}

TEST(LinkQueues, MessagesOnALinkThatFailsAreCut)
{
  Star star(AUTOMATIC);
  for (int to = 1; to < HOSTS; ++to)
    star.send(0, to, SHORT, static_cast<std::uint64_t>(to));
  star.run(LATENCY + 0.5 * HOSTS * SHORT / RATE);
  const std::size_t ended = star.ends.size();
  EXPECT_NEAR(static_cast<double>(ended), 0.5 * HOSTS, 1);
  star.turn_off(0);
  star.run();
  EXPECT_EQ(star.ends.size(), ended);
  ASSERT_EQ(star.rests.size(), HOSTS - 1 - ended);
  for (const CutFlow& rest : star.rests)
    EXPECT_EQ(rest.part, 1);
}

TEST(LinkQueues, RandomCrowdsTakeAsLongAsIfTheyShared)
{
  for (const unsigned seed : {1U, 2U, 3U}) {
    Star exact({});
    Star queuing(AUTOMATIC);
    std::mt19937 random(seed);
    const auto below = [&random](unsigned most) { return static_cast<int>(random() % most); };
    for (std::uint64_t message = 0; message < 2000; ++message) {
      const int from     = below(3);
      const int to       = 3 + below(HOSTS - 3);
      const double bytes = 1 + below(500);
      for (Star* const star : {&exact, &queuing})
        star->send(from, to, bytes, message);
    }
    exact.run();
    queuing.run();
    EXPECT_GT(queuing.queued(), 1000U);
    ASSERT_EQ(queuing.ends.size(), exact.ends.size());
    EXPECT_NEAR(queuing.last(), exact.last(), 0.03 * exact.last());
  }
}

} // namespace
} // namespace weft
