// SPDX-License-Identifier: LGPL-2.1-only
#include "network/agenda.hpp"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace weft {
namespace {

class Diary : public Due, public Settling {
  Agenda& agenda_;

public:
  std::vector<std::pair<double, int>> entries; ///< time and number of each entry; -1: end of an instant
  explicit Diary(Agenda& agenda) : agenda_(agenda) { agenda.tell(*this); }
  void due(std::uint64_t what) override { entries.emplace_back(agenda_.now().value(), static_cast<int>(what)); }
  void settle() override { entries.emplace_back(agenda_.now().value(), -1); }
};

using Entries = std::vector<std::pair<double, int>>;

TEST(AgendaTest, TellsInTheOrderOfTimeAndThenOfAdding)
{
  Agenda agenda;
  Diary diary(agenda);
  agenda.add(Seconds(2), diary, 1);
  agenda.add(Seconds(1), diary, 2);
  agenda.add(Seconds(2), diary, 3);
  EXPECT_EQ(agenda.next(), Seconds(1));
  agenda.run_until(Seconds(3));
  EXPECT_EQ(diary.entries, (Entries{{1, 2}, {1, -1}, {2, 1}, {2, 3}, {2, -1}}));
  EXPECT_EQ(agenda.now(), Seconds(3));
  EXPECT_EQ(agenda.next(), Seconds(std::numeric_limits<double>::infinity()));
}

TEST(AgendaTest, LeavesWhatIsDueLater)
{
  Agenda agenda;
  Diary diary(agenda);
  agenda.add(Seconds(1), diary, 1);
  agenda.add(Seconds(2), diary, 2);
  agenda.run_until(Seconds(1.5));
  EXPECT_EQ(diary.entries, (Entries{{1, 1}, {1, -1}}));
  agenda.run_until(Seconds(2));
  EXPECT_EQ(diary.entries.size(), 4U);
}

TEST(AgendaTest, TimesThatDifferByRoundingAreOneInstant)
{
  Agenda agenda;
  Diary diary(agenda);
  agenda.add(Seconds(1), diary, 1);
  agenda.add(Seconds(1 + 1e-15), diary, 2);
  agenda.add(Seconds(2), diary, 3);
  agenda.add(Seconds(1 + 2e-15), diary, 4);
  agenda.add(Seconds(1 + 1e-9), diary, 5);
  agenda.run_until(Seconds(3));
  EXPECT_EQ(diary.entries, (Entries{{1, 1}, {1, 2}, {1, 4}, {1, -1}, {1 + 1e-9, 5}, {1 + 1e-9, -1}, {2, 3}, {2, -1}}));
}

TEST(AgendaTest, ForgetsWhenItIsTold)
{
  Agenda agenda;
  Diary diary(agenda);
  agenda.add(Seconds(1), diary, 1);
  agenda.clear();
  EXPECT_EQ(agenda.next(), Seconds(std::numeric_limits<double>::infinity()));
  agenda.add(Seconds(2), diary, 2);
  agenda.run_until(Seconds(3));
  EXPECT_EQ(diary.entries, (Entries{{2, 2}, {2, -1}}));
}

/** Re-adds itself for the current instant a given number of times. */
class Chain : public Due {
  Agenda& agenda_;

public:
  int told = 0;
  explicit Chain(Agenda& agenda) : agenda_(agenda) {}
  void due(std::uint64_t left) override
  {
    ++told;
    if (left > 0)
      agenda_.add(Seconds(0), *this, left - 1); // a time in the past counts as now
  }
};

TEST(AgendaTest, WhatIsAddedToAnInstantHappensInIt)
{
  Agenda agenda;
  Chain chain(agenda);
  const Diary diary(agenda);
  agenda.add(Seconds(1), chain, 5);
  agenda.run_until(Seconds(1));
  EXPECT_EQ(chain.told, 6);
  EXPECT_EQ(diary.entries, (Entries{{1, -1}}));
}

TEST(AgendaTest, FindsEntriesOfOtherReceivers)
{
  Agenda agenda;
  Chain excluded(agenda);
  Chain other(agenda);
  const auto is_excluded = [&excluded](const Due& due) { return &due == &excluded; };
  agenda.add(Seconds(1), excluded, 0);
  EXPECT_FALSE(agenda.any_but(is_excluded));
  agenda.add(Seconds(1), other, 0);
  EXPECT_TRUE(agenda.any_but(is_excluded));
  agenda.run_until(Seconds(1));
  EXPECT_FALSE(agenda.any_but(is_excluded));
}

} // namespace
} // namespace weft
