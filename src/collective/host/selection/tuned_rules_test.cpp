// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/tuned_rules.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr std::string_view FILE_OF_TWO = R"(2 # collectives
7   # Bcast
2   # communicator sizes
8   # ranks
3   # message sizes
0 6 0 0         # binomial
1024 2 3 256    # chain
4096 0 0 0      # as Open MPI would without this file
16
1
0 3 5 8192
2   # Allreduce
1
4 1  0 4 9 0
)";

std::string chosen(const TunedRules& rules, const HostCall& call)
{
  const TunedRule* rule = rules.rule_for(call);
  return rule ? std::string(rule->algorithm->name) : "none";
}

std::string failure_of(std::string_view text)
{
  try {
    TunedRules::read_text(text, "rules.conf");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TunedRules, ChooseByRanksAndBytes)
{
  const TunedRules rules = TunedRules::read_text(FILE_OF_TWO, "rules.conf");
  EXPECT_EQ(rules.version(), 1);
  EXPECT_EQ(chosen(rules, {"bcast", 8, 0, 1023}), "binomial");
  EXPECT_EQ(chosen(rules, {"bcast", 15, 0, 1024}), "chain");
  EXPECT_EQ(chosen(rules, {"bcast", 8, 0, 4096}), "none");
  EXPECT_EQ(chosen(rules, {"bcast", 100, 0, 4096}), "pipeline");
  EXPECT_EQ(chosen(rules, {"bcast", 2, 0, 1}), "binomial"); // the first size also applies below it
  EXPECT_EQ(chosen(rules, {"allreduce", 2, 0, 1}), "ring");
  EXPECT_EQ(chosen(rules, {"reduce", 8, 0, 1}), "none");
}

TEST(TunedRules, SegmentsAreOfAllAlgorithmsFanOutOfChains)
{
  const TunedRules rules = TunedRules::read_text(FILE_OF_TWO, "rules.conf");
  const TunedRule* chain = rules.rule_for({"bcast", 8, 0, 1024});
  EXPECT_EQ(chain->tuning.segment, Bytes(256));
  EXPECT_EQ(chain->tuning.fan_out, 3);
  const TunedRule* pipeline = rules.rule_for({"bcast", 16, 0, 1024});
  EXPECT_EQ(pipeline->tuning.segment, Bytes(8192));
  EXPECT_EQ(pipeline->tuning.fan_out, 0);
}

TEST(TunedRules, Version2MayLimitRequests)
{
  const TunedRules rules =
      TunedRules::read_text("rule-file-version-2\n1 3 1 2 2\n0 4 0 0 16\n1000 2 0 0\n", "rules.conf");
  EXPECT_EQ(rules.version(), 2);
  EXPECT_EQ(chosen(rules, {"alltoall", 4, 0, 249}), "linear_sync"); // the size is the sum of all blocks
  EXPECT_EQ(chosen(rules, {"alltoall", 4, 0, 250}), "pairwise");
}

TEST(TunedRules, NumbersMayBeHexadecimal)
{
  const TunedRules rules = TunedRules::read_text("1 7 1 0x10 2 0 6 0 0 0x400 3 0 0", "rules.conf");
  EXPECT_EQ(chosen(rules, {"bcast", 16, 0, 1023}), "binomial");
  EXPECT_EQ(chosen(rules, {"bcast", 16, 0, 1024}), "pipeline");
}

TEST(TunedRules, WrongFilesAreToldWithTheirLine)
{
  EXPECT_EQ(failure_of("1\n7\n1\n8\n1\n0 11 0 0\n"),
            "rules.conf:6: algorithm of bcast: found \"11\"; allowed: a whole number from 0 to 9");
  EXPECT_EQ(failure_of("1\n7\n1\n8\n1\n0 six 0 0\n"),
            "rules.conf:6: algorithm of bcast: found \"six\"; allowed: a whole number from 0 to 9");
  EXPECT_EQ(failure_of("1\n22\n"), "rules.conf:2: collective: found \"22\"; allowed: a whole number from 0 to 21");
  EXPECT_EQ(failure_of("1\n7\n1\n8\n1\n8 6 0 0\n"),
            "rules.conf:6: first message size of bcast: found \"8\"; allowed: 0");
  EXPECT_EQ(failure_of("1\n7\n1\n8\n2\n0 6 0 0\n"),
            "rules.conf:6: message size of bcast: found the end of the file; allowed: a whole number from 0 on");
  EXPECT_EQ(failure_of("1\n7\n0\n8\n"), "rules.conf:4: what follows the 1 collectives: found \"8\"; allowed: nothing");
  EXPECT_EQ(failure_of("rule-file-version-3\n"),
            "rules.conf:1: version of the file: found \"3\"; allowed: a whole number from 1 to 2");
  EXPECT_EQ(failure_of("1 10 1 2 1 0 1 0 0"),
            "rules.conf:1: algorithm of gatherv: found \"1\"; allowed: 0, because Open MPI has one only");
  EXPECT_EQ(failure_of("1 7 1 -2 1 0 1 0 0"),
            "rules.conf:1: communicator size of bcast: found \"-2\"; allowed: a whole number from 0 on");
  EXPECT_EQ(failure_of(""),
            "rules.conf:1: number of collectives: found the end of the file; allowed: a whole number from 0 to 22");
  EXPECT_THROW(TunedRules::read_file("/nowhere"), UserError);
}

} // namespace
} // namespace weft
