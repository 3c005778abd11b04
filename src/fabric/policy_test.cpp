// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/policy.hpp"

#include "fabric/analysis/description.hpp"
#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

Fabric with_policy(const std::string& tables)
{
  return fabric_of(FABRIC + tables);
}

/** Returns the error message for a [[policy]] table with @p lines, without the prefix. */
std::string policy_message(const std::string& lines)
{
  const std::string place   = "FILE: [policy] ";
  const std::string message = fabric_message(FABRIC + "[[policy]]\n" + lines);
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

TEST(PolicyTables, AreOptional)
{
  EXPECT_EQ(fabric_of(FABRIC).policy_for("allreduce", Bytes(8)), std::nullopt);
}

TEST(PolicyTables, MatchCollectivesAndSizes)
{
  const Fabric fabric = with_policy("[[policy]]\ncollectives = ['allreduce', 'reduce']\nat_least = '8B'\n"
                                    "below = '1KiB'\noffload = 'off'\n");
  EXPECT_EQ(fabric.policy_for("allreduce", Bytes(7)), std::nullopt);
  EXPECT_EQ(fabric.policy_for("allreduce", Bytes(8)), OffloadMode::off());
  EXPECT_EQ(fabric.policy_for("reduce", Bytes(1023)), OffloadMode::off());
  EXPECT_EQ(fabric.policy_for("reduce", Bytes(1024)), std::nullopt);
  EXPECT_EQ(fabric.policy_for("bcast", Bytes(8)), std::nullopt);
}

TEST(PolicyTables, MatchAllSizesByDefault)
{
  const Fabric fabric = with_policy("[[policy]]\ncollectives = ['all']\noffload = 'message'\n");
  for (const double size : {0.0, 1.0, 1e15})
    EXPECT_EQ(fabric.policy_for("barrier", Bytes(size)), OffloadMode(mechanism_kind("message")));
  EXPECT_EQ(fabric.policy_for("gather", Bytes(8)), std::nullopt); // switches cannot execute it
}

TEST(PolicyTables, TheFirstMatchWins)
{
  const Fabric fabric = with_policy("[[policy]]\ncollectives = ['allreduce']\nbelow = '100B'\noffload = 'auto'\n"
                                    "[[policy]]\ncollectives = ['allreduce']\noffload = 'stream'\n"
                                    "[[policy]]\ncollectives = ['all']\noffload = 'off'\n");
  EXPECT_EQ(fabric.policy_for("allreduce", Bytes(99)), OffloadMode::automatic());
  EXPECT_EQ(fabric.policy_for("allreduce", Bytes(100)), OffloadMode(mechanism_kind("stream")));
  EXPECT_EQ(fabric.policy_for("bcast", Bytes(100)), OffloadMode::off());
}

TEST(PolicyTables, AreShown)
{
  const std::string text = describe(with_policy("[[policy]]\ncollectives = ['allreduce', 'bcast']\nat_least = '1KiB'\n"
                                                "below = '1MiB'\noffload = 'stream'\n"
                                                "[[policy]]\ncollectives = ['barrier']\noffload = 'auto'\n"));
  for (const std::string line :
       {"  policy allreduce, bcast of at least 1KiB below 1MiB: stream\n", "  policy barrier: auto\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in:\n" << text;
}

TEST(PolicyTables, AreChecked)
{
  const std::string collectives = "collectives = ['allreduce']\n";
  EXPECT_EQ(policy_message(collectives),
            "offload: is missing; it says: mechanism of these calls; \"auto\": the fastest by prediction");
  EXPECT_EQ(policy_message("offload = 'off'\n"),
            "collectives: is missing; it says: collectives that it applies to, as in [[switch.offload]]");
  EXPECT_EQ(
      policy_message("collectives = ['bcats']\noffload = 'off'\n"),
      "collectives: found \"bcats\"; did you mean \"bcast\"? allowed: allreduce, reduce, reduce_scatter, barrier, "
      "bcast, allgather, allgatherv, alltoall; or \"all\"");
  EXPECT_EQ(policy_message(collectives + "offload = 'sream'\n"),
            "offload: found \"sream\"; did you mean \"stream\"? allowed: stream, message, multicast, auto, off");
  EXPECT_EQ(policy_message(collectives + "offload = 'off'\nat_least = '1KiB'\nbelow = '1KiB'\n"),
            "below: found \"1KiB\"; allowed: more than at_least, which is 1KiB");
  EXPECT_EQ(policy_message(collectives + "offload = 'off'\nbelow = '0B'\n"),
            "below: found \"0B\"; allowed: more than zero");
  EXPECT_EQ(policy_message(collectives + "offload = 'off'\nabove = '1B'\n"),
            "above: unknown key; allowed: collectives, at_least, below, offload");
  EXPECT_EQ(fabric_message(FABRIC + "[policy]\noffload = 'off'\n"),
            "FILE: policy: found a table; allowed: tables, each written as [[policy]]");
}

} // namespace
} // namespace weft
