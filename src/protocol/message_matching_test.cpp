// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/message_matching.hpp"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr int ANY_SOURCE = MessageMatching::ANY_SOURCE;
constexpr int ANY_TAG    = MessageMatching::ANY_TAG;

TEST(MessageMatchingTest, TheEarliestPostedReceiveWins)
{
  MessageMatching matching;
  matching.post(0, 1, 5, 7);
  matching.post(0, 2, ANY_SOURCE, 7);
  matching.post(0, 3, 5, 7);
  EXPECT_EQ(matching.waiting_receives(0), 3U);
  EXPECT_EQ(matching.arrive(0, 10, 5, 7), 1U);
  EXPECT_EQ(matching.arrive(0, 11, 5, 7), 2U);
  EXPECT_EQ(matching.arrive(0, 12, 5, 7), 3U);
  EXPECT_EQ(matching.arrive(0, 13, 5, 7), std::nullopt);
  EXPECT_EQ(matching.unexpected_messages(0), 1U);
}

TEST(MessageMatchingTest, TheEarliestMessageWins)
{
  MessageMatching matching;
  matching.arrive(0, 10, 5, 7);
  matching.arrive(0, 11, 6, 7);
  matching.arrive(0, 12, 5, 8);
  EXPECT_EQ(matching.probe(0, 6, ANY_TAG), (MessageMatching::Found{11, 6, 7}));
  EXPECT_EQ(matching.extract(0, ANY_SOURCE, 8), (MessageMatching::Found{12, 5, 8}));
  EXPECT_EQ(matching.post(0, 1, ANY_SOURCE, ANY_TAG).found, (MessageMatching::Found{10, 5, 7}));
  EXPECT_EQ(matching.post(0, 2, 6, 7).found, (MessageMatching::Found{11, 6, 7}));
  EXPECT_EQ(matching.probe(0, ANY_SOURCE, ANY_TAG), std::nullopt);
}

TEST(MessageMatchingTest, EndpointsAreApart)
{
  MessageMatching matching;
  matching.post(1, 1, ANY_SOURCE, ANY_TAG);
  EXPECT_EQ(matching.arrive(2, 10, 5, 7), std::nullopt);
  EXPECT_EQ(matching.arrive(1, 11, 5, 7), 1U);
}

TEST(MessageMatchingTest, CollectedMessagesArriveInTheOrderOfSources)
{
  MessageMatching matching;
  matching.arrive(0, 10, 9, 7);
  matching.arrive(0, 11, 6, 7); // all other messages are of this instant
  matching.arrive(0, 12, 5, 7);
  matching.arrive(0, 13, 6, 7);
  EXPECT_FALSE(matching.collects(0));
  matching.begin_collecting(0, [](std::uint64_t message) { return message > 10; });
  EXPECT_TRUE(matching.collects(0));
  EXPECT_EQ(matching.unexpected_messages(0), 4U);
  EXPECT_EQ(matching.post(0, 1, ANY_SOURCE, 7).found, (MessageMatching::Found{10, 9, 7}));
  EXPECT_EQ(matching.post(0, 2, ANY_SOURCE, 7).found, std::nullopt);
  EXPECT_EQ(matching.post(0, 3, 6, 7).found, std::nullopt);
  matching.collect(0, 14, 2, 8);
  matching.collect(0, 15, 3, 7);
  EXPECT_TRUE(matching.withdraw(0, 14, 2, 8));
  EXPECT_FALSE(matching.withdraw(0, 14, 2, 8));
  EXPECT_EQ(matching.end_instant(), (std::vector<MessageMatching::Match>{{15, 2, 3, 7}, {11, 3, 6, 7}}));
  EXPECT_EQ(matching.unexpected_messages(0), 2U);
  EXPECT_EQ(matching.probe(0, ANY_SOURCE, ANY_TAG), (MessageMatching::Found{12, 5, 7}));
  EXPECT_EQ(matching.end_instant(), std::vector<MessageMatching::Match>{});
}

TEST(MessageMatchingTest, WaitingReceivesAndMessagesAreListed)
{
  MessageMatching matching;
  matching.post(3, 1, 5, 7);
  matching.post(2, 2, ANY_SOURCE, ANY_TAG);
  matching.arrive(1, 10, 5, 7);
  matching.arrive(1, 11, 4, 8);
  std::set<std::uint64_t> receives;
  matching.for_each_receive([&](auto, std::uint64_t receive, int, int) { receives.insert(receive); });
  EXPECT_EQ(receives, (std::set<std::uint64_t>{1, 2}));
  std::vector<std::pair<std::uint64_t, int>> messages;
  matching.for_each_message(
      [&](auto, std::uint64_t message, int source, int) { messages.emplace_back(message, source); });
  EXPECT_EQ(messages, (std::vector<std::pair<std::uint64_t, int>>{{10, 5}, {11, 4}}));
}

TEST(MessageMatchingTest, AnyTagLeavesTheLibrarysOwnMessages)
{
  MessageMatching matching;
  matching.arrive(0, 10, 5, -3);
  EXPECT_EQ(matching.post(0, 1, 5, ANY_TAG).found, std::nullopt);
  EXPECT_EQ(matching.arrive(0, 11, 5, -3), std::nullopt);
  EXPECT_EQ(matching.post(0, 2, ANY_SOURCE, -3).found, (MessageMatching::Found{10, 5, -3}));
}

TEST(MessageMatchingTest, ACancelledReceiveGetsNothing)
{
  MessageMatching matching;
  const auto posted = matching.post(0, 1, 5, ANY_TAG);
  matching.post(0, 2, 5, 7);
  matching.cancel(posted.place);
  EXPECT_EQ(matching.arrive(0, 10, 5, 7), 2U);
  EXPECT_EQ(matching.waiting_receives(0), 0U);
}

TEST(MessageMatchingTest, AWithdrawnMessageIsFoundByNobody)
{
  MessageMatching matching;
  for (const std::uint64_t message : {1U, 2U, 3U})
    matching.arrive(0, message, 4, 5);
  EXPECT_TRUE(matching.probe(0, MessageMatching::ANY_SOURCE, MessageMatching::ANY_TAG));
  EXPECT_FALSE(matching.withdraw(0, 1, 4, 6));
  EXPECT_FALSE(matching.withdraw(0, 9, 4, 5));
  EXPECT_TRUE(matching.withdraw(0, 2, 4, 5));
  EXPECT_FALSE(matching.withdraw(0, 2, 4, 5));
  EXPECT_EQ(matching.unexpected_messages(0), 2U);
  EXPECT_EQ(matching.extract(0, MessageMatching::ANY_SOURCE, 5), (MessageMatching::Found{1, 4, 5}));
  EXPECT_EQ(matching.extract(0, 4, MessageMatching::ANY_TAG), (MessageMatching::Found{3, 4, 5}));
}

// Extracts in the order of arrival, in reverse order, and by wildcards; a linear search would take minutes.
TEST(MessageMatchingTest, ManyUnexpectedMessagesAreFoundAtOnce)
{
  constexpr int MANY = 100000;
  MessageMatching matching;
  for (int message = 0; message < MANY; ++message)
    matching.arrive(0, static_cast<std::uint64_t>(message), message % 100, message / 100);
  for (int message = MANY - 1; message >= MANY / 2; --message)
    ASSERT_EQ(matching.extract(0, message % 100, message / 100)->message, static_cast<std::uint64_t>(message));
  for (int message = 0; message < MANY / 2; ++message)
    ASSERT_EQ(matching.post(0, 1, ANY_SOURCE, ANY_TAG).found->message, static_cast<std::uint64_t>(message));
  EXPECT_EQ(matching.unexpected_messages(0), 0U);
}

/** Reference implementation with linear search. */
class NaiveMatching {
  struct Receive {
    MessageMatching::Endpoint endpoint;
    std::uint64_t number;
    int source;
    int tag;
  };
  struct Message {
    MessageMatching::Endpoint endpoint;
    MessageMatching::Found what;
  };
  std::deque<Receive> receives_;
  std::deque<Message> messages_;

  static bool match(int source, int tag, const MessageMatching::Found& message)
  {
    return (source == ANY_SOURCE || source == message.source) &&
           (tag == message.tag || (tag == ANY_TAG && message.tag >= 0));
  }

public:
  std::optional<MessageMatching::Found> probe(MessageMatching::Endpoint endpoint, int source, int tag, bool remove)
  {
    const auto found = std::ranges::find_if(
        messages_, [&](const Message& one) { return one.endpoint == endpoint && match(source, tag, one.what); });
    if (found == messages_.end())
      return std::nullopt;
    const MessageMatching::Found message = found->what;
    if (remove)
      messages_.erase(found);
    return message;
  }
  std::optional<MessageMatching::Found> post(MessageMatching::Endpoint endpoint, std::uint64_t number, int source,
                                             int tag)
  {
    const auto message = probe(endpoint, source, tag, true);
    if (not message)
      receives_.push_back({endpoint, number, source, tag});
    return message;
  }
  std::optional<std::uint64_t> arrive(MessageMatching::Endpoint endpoint, const MessageMatching::Found& message)
  {
    const auto found = std::ranges::find_if(
        receives_, [&](const Receive& one) { return one.endpoint == endpoint && match(one.source, one.tag, message); });
    if (found == receives_.end()) {
      messages_.push_back({endpoint, message});
      return std::nullopt;
    }
    const std::uint64_t number = found->number;
    receives_.erase(found);
    return number;
  }
  void cancel(std::uint64_t number)
  {
    std::erase_if(receives_, [&](const Receive& one) { return one.number == number; });
  }
};

/** Compares random operations. One in @p wild names is a wildcard; with 0, none is. */
void compare(unsigned seed, int wild)
{
  struct Waiting {
    std::uint64_t number;
    MessageMatching::Place place;
  };
  std::mt19937 random(seed);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  const auto any   = [&] { return wild > 0 && below(wild) == 0; };
  MessageMatching matching;
  NaiveMatching naive;
  std::vector<Waiting> waiting;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const auto endpoint  = static_cast<MessageMatching::Endpoint>(below(3));
    const int source     = below(4);
    const int tag        = below(5) - 1;
    const int its_source = any() ? ANY_SOURCE : source;
    const int its_tag    = any() ? ANY_TAG : tag;
    const int what       = below(20);
    if (what < 9) {
      const auto receive = matching.arrive(endpoint, step, source, tag);
      ASSERT_EQ(receive, naive.arrive(endpoint, {step, source, tag}));
      std::erase_if(waiting, [&](const Waiting& one) { return one.number == receive; });
    } else if (what < 17) {
      const auto posted = matching.post(endpoint, step, its_source, its_tag);
      ASSERT_EQ(posted.found, naive.post(endpoint, step, its_source, its_tag));
      if (not posted.found)
        waiting.push_back({step, posted.place});
    } else if (what == 17) {
      ASSERT_EQ(matching.probe(endpoint, its_source, its_tag), naive.probe(endpoint, its_source, its_tag, false));
    } else if (what == 18) {
      ASSERT_EQ(matching.extract(endpoint, its_source, its_tag), naive.probe(endpoint, its_source, its_tag, true));
    } else if (not waiting.empty()) {
      const auto position = static_cast<std::size_t>(below(static_cast<int>(waiting.size())));
      naive.cancel(waiting[position].number);
      matching.cancel(waiting[position].place);
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(position));
    }
  }
}

TEST(MessageMatchingTest, EqualsANaiveSearch)
{
  for (unsigned seed = 0; seed < 200; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    ASSERT_NO_FATAL_FAILURE(compare(seed, static_cast<int>(seed % 4) * 2));
  }
}

} // namespace
} // namespace weft
