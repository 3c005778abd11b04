// SPDX-License-Identifier: LGPL-2.1-only
#include "base/error.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Words = std::vector<std::string>;

TEST(Nearest, FindsWhatWasMeant)
{
  const Words known{"bandwidth", "latency", "hosts"};
  EXPECT_EQ(nearest("latency", known), "latency");
  EXPECT_EQ(nearest("latncy", known), "latency");      // a letter is missing
  EXPECT_EQ(nearest("latencyy", known), "latency");    // one letter too many
  EXPECT_EQ(nearest("lotency", known), "latency");     // one letter replaced
  EXPECT_EQ(nearest("latecny", known), "latency");     // two letters swapped
  EXPECT_EQ(nearest("badnwitdh", known), "bandwidth"); // two errors
}

TEST(Nearest, AcceptsEditsOfAThirdOfTheWordOrOne)
{
  const Words known{"abcdefghi"};
  EXPECT_EQ(nearest("xyzdefghi", known), "abcdefghi");
  EXPECT_EQ(nearest("wxyzefghi", known), "");
  EXPECT_EQ(nearest("a", Words{"b"}), "b");
  EXPECT_EQ(nearest("ab", Words{"cd"}), "");
  EXPECT_EQ(nearest("star", Words{"stra"}), "stra");
}

TEST(Nearest, TakesTheNearestAndOfEqualsTheFirst)
{
  EXPECT_EQ(nearest("switch", Words{"switches", "switch"}), "switch");
  EXPECT_EQ(nearest("ax", Words{"ab", "ac"}), "ab");
}

TEST(Nearest, FindsNothingInNothing)
{
  EXPECT_EQ(nearest("word", Words{}), "");
  EXPECT_EQ(nearest("", Words{"word"}), "");
}

TEST(DidYouMean, IsAQuestionOrNothing)
{
  const Words known{"tofino", "l2"};
  EXPECT_EQ(did_you_mean("tofnio", known), "did you mean \"tofino\"? ");
  EXPECT_EQ(did_you_mean("quux", known), "");
}

TEST(Join, PutsSeparatorsBetween)
{
  EXPECT_EQ(join(Words{}), "");
  EXPECT_EQ(join(Words{"a"}), "a");
  EXPECT_EQ(join(Words{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join(Words{"a", "b"}, " or "), "a or b");
  EXPECT_EQ(join(Words{"", "a", ""}), ", a, ");
}

} // namespace
} // namespace weft
