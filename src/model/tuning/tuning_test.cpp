// SPDX-License-Identifier: LGPL-2.1-only
#include "model/tuning/tuning.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string_view>

namespace weft {
namespace {

const SimGridVersion KNOWN{.major = 4, .minor = 1};

std::vector<std::string> off(const std::string& choice, SimGridVersion version = KNOWN)
{
  return tuning_names(known_tunings(chosen_tunings(choice), version), false);
}

std::string refusal(const std::string& choice)
{
  try {
    chosen_tunings(choice);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Returns true for words of a to z separated by single dashes. Hand-written: gcc 12 warns within <regex> under
// sanitizers.
bool is_kebab(std::string_view name)
{
  return !name.empty() && name.front() != '-' && name.back() != '-' && name.find("--") == std::string_view::npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

TEST(Tuning, RowsAreSortedByNameAndStandWhereTheirIdSays)
{
  EXPECT_TRUE(std::ranges::is_sorted(tunings(), {}, &TuningRow::name));
  for (std::size_t index = 0; index < tunings().size(); ++index)
    EXPECT_EQ(static_cast<std::size_t>(tunings()[index].id), index);
}

TEST(Tuning, RowsAreComplete)
{
  for (const TuningRow& row : tunings()) {
    EXPECT_TRUE(is_kebab(row.name)) << row.name;
    EXPECT_FALSE(row.simgrid.empty() || row.weft.empty() || row.gain.empty()) << row.name;
    EXPECT_LE(row.oldest, row.newest) << row.name;
  }
}

TEST(Tuning, AllAreChosenByDefault)
{
  EXPECT_TRUE(off("").empty());
  EXPECT_TRUE(off("all").empty());
  EXPECT_EQ(off("none").size(), TUNING_COUNT);
}

TEST(Tuning, NamesChooseOnlyTheseOrAllButThese)
{
  EXPECT_EQ(off("-waits,-stacks"), (std::vector<std::string>{"stacks", "waits"}));
  EXPECT_EQ(tuning_names(chosen_tunings("waits,stacks"), true), (std::vector<std::string>{"stacks", "waits"}));
}

TEST(Tuning, UnknownNamesAreRefusedWithACloseOne)
{
  EXPECT_TRUE(refusal("-wait").starts_with("found \"-wait\"; did you mean \"waits\"? allowed: all, none, or "));
  EXPECT_NE(refusal("nothing-like-it").find("message-numbers"), std::string::npos);
  EXPECT_TRUE(refusal("waits,-stacks").starts_with("found \"waits,-stacks\"; allowed: "));
  EXPECT_TRUE(refusal("-").starts_with("found \"-\"; allowed: "));
  EXPECT_TRUE(refusal("waits,,stacks").starts_with("found \"\"; allowed: "));
}

TEST(Tuning, OnAnUnknownVersionAllAreOff)
{
  EXPECT_EQ(off("", {.major = 4, .minor = 2}).size(), TUNING_COUNT);
  EXPECT_EQ(off("", {.major = 5, .minor = 0}).size(), TUNING_COUNT);
  EXPECT_EQ(off("", {.major = 4, .minor = 0}).size(), TUNING_COUNT);
}

TEST(Tuning, VersionsAreRead)
{
  EXPECT_EQ(SimGridVersion::parse("4.1"), KNOWN);
  EXPECT_EQ(SimGridVersion::parse("4.1.2"), KNOWN);
  EXPECT_EQ(KNOWN.text(), "4.1");
  EXPECT_THROW(SimGridVersion::parse("4"), std::logic_error);
  EXPECT_THROW(SimGridVersion::parse("x.1"), std::logic_error);
}

} // namespace
} // namespace weft
