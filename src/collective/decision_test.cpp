// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/decision.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

SwitchModel switch_that_does(const Capability& capability)
{
  SwitchModel model;
  model.capabilities = {capability};
  return model;
}

const SwitchModel INT_SUMS = switch_that_does({{"allreduce"}, {"MPI_INT"}, {"MPI_SUM"}});
const SwitchModel PLAIN;
const SwitchModel MOVES = switch_that_does({{"bcast", "allgather", "barrier"}, {}, {}});

CollectiveCall call(std::string_view kind, std::string datatype, std::string operation, double message)
{
  return {&collective(kind), std::move(datatype), std::move(operation), Bytes(message)};
}

const CollectiveCall SUM   = call("allreduce", "MPI_INT", "MPI_SUM", 4);
const CollectiveCall BCAST = call("bcast", "", "", 4);

/** A run in which everything can be offloaded; each test changes what it is about. */
struct Facts : CallFacts {
  std::vector<const SwitchModel*> models{&INT_SUMS};
  Decision decision()
  {
    switches = models;
    return decide(*this);
  }
};

[[noreturn]] bool must_not_be_asked()
{
  throw std::logic_error("asked for what the decision does not depend on");
}

Facts facts(OffloadMode asked, const CollectiveCall& call, std::vector<const SwitchModel*> models = {&INT_SUMS})
{
  Facts all;
  all.asked           = asked;
  all.call            = call;
  all.ranks           = 4;
  all.models          = std::move(models);
  all.host_is_faster  = [] { return must_not_be_asked(); };
  all.channel_is_free = [] { return true; };
  all.no_multicast    = [] { return Fallback::none; };
  return all;
}

Decision fallback(Fallback reason)
{
  return {Path::host, reason};
}

TEST(Decision, IsWhatWasAskedForWhereTheSwitchCan)
{
  EXPECT_EQ(facts(OffloadMode::stream, SUM).decision(), Decision{Path::stream});
  EXPECT_EQ(facts(OffloadMode::message, SUM).decision(), Decision{Path::message});
  EXPECT_EQ(facts(OffloadMode::off, SUM).decision(), fallback(Fallback::policy));
}

TEST(Decision, OneRankHasNobodyToCall)
{
  for (const OffloadMode mode :
       {OffloadMode::stream, OffloadMode::message, OffloadMode::multicast, OffloadMode::automatic}) {
    Facts alone = facts(mode, BCAST, {&MOVES});
    alone.ranks = 1;
    EXPECT_EQ(alone.decision(), fallback(Fallback::one_rank)) << to_text(mode);
  }
  Facts off = facts(OffloadMode::off, SUM);
  off.ranks = 1;
  EXPECT_EQ(off.decision(), fallback(Fallback::policy));
}

TEST(Decision, SaysWhatTheSwitchLacks)
{
  const auto reason = [](const CollectiveCall& its) { return facts(OffloadMode::stream, its).decision().reason; };
  EXPECT_EQ(reason(call("reduce", "MPI_INT", "MPI_SUM", 4)), Fallback::collective);
  EXPECT_EQ(reason(call("allreduce", "MPI_FLOAT", "MPI_SUM", 4)), Fallback::datatype);
  EXPECT_EQ(reason(call("allreduce", "MPI_INT", "MPI_MAX", 4)), Fallback::operation);
  EXPECT_EQ(reason(call("barrier", "", "", 0)), Fallback::collective);
  EXPECT_EQ(reason(call("scan", "MPI_INT", "MPI_SUM", 4)), Fallback::collective);
}

TEST(Decision, TheFirstThingThatIsLackingCounts)
{
  const auto reason = [](const CollectiveCall& its) { return facts(OffloadMode::stream, its).decision().reason; };
  EXPECT_EQ(reason(call("reduce", "MPI_FLOAT", "MPI_MAX", 0)), Fallback::collective);
  EXPECT_EQ(reason(call("allreduce", "MPI_FLOAT", "MPI_MAX", 0)), Fallback::datatype);
  EXPECT_EQ(reason(call("allreduce", "MPI_INT", "MPI_MAX", 0)), Fallback::operation);
}

TEST(Decision, AReplayedTraceHasNoOperation)
{
  EXPECT_EQ(facts(OffloadMode::stream, call("allreduce", "MPI_INT", "", 4)).decision(), Decision{Path::stream});
}

TEST(Decision, OnlyABarrierMayCarryNothing)
{
  EXPECT_EQ(facts(OffloadMode::stream, call("allreduce", "MPI_INT", "MPI_SUM", 0)).decision(),
            fallback(Fallback::zero_count));
  EXPECT_EQ(facts(OffloadMode::stream, call("barrier", "", "", 0), {&MOVES}).decision(), Decision{Path::stream});
}

TEST(Decision, EverySwitchOfTheTreeMustBeAble)
{
  EXPECT_EQ(facts(OffloadMode::stream, SUM, {&INT_SUMS, &INT_SUMS}).decision(), Decision{Path::stream});
  EXPECT_EQ(facts(OffloadMode::stream, SUM, {&INT_SUMS, &MOVES}).decision(), fallback(Fallback::collective));
  EXPECT_EQ(facts(OffloadMode::stream, SUM, {&PLAIN}).decision(), fallback(Fallback::collective));
}

TEST(Decision, WithoutATreeItSaysSoWhereASwitchCouldHaveDoneTheCall)
{
  Facts none   = facts(OffloadMode::stream, SUM, {&MOVES, &INT_SUMS});
  none.no_tree = Fallback::not_on_tree;
  EXPECT_EQ(none.decision(), fallback(Fallback::not_on_tree));
  none.call = call("allreduce", "MPI_FLOAT", "MPI_SUM", 4);
  EXPECT_EQ(none.decision(), fallback(Fallback::datatype));
  none.models = {};
  EXPECT_EQ(none.decision(), fallback(Fallback::not_on_tree));
}

TEST(Decision, NeedsAFreeChannel)
{
  Facts busy           = facts(OffloadMode::stream, SUM);
  busy.channel_is_free = [] { return false; };
  EXPECT_EQ(busy.decision(), fallback(Fallback::no_free_channel));
}

TEST(Decision, NeedsTheMemoryOfRanksThatDoNotRun)
{
  Facts closed            = facts(OffloadMode::stream, SUM);
  closed.memory_is_shared = false;
  EXPECT_EQ(closed.decision(), Decision{Path::stream}); // each rank reads and writes its own, in its turn
  closed.asked = OffloadMode::message;
  EXPECT_EQ(closed.decision(), fallback(Fallback::privatization));
  closed.asked         = OffloadMode::stream;
  closed.call.blocking = false;
  EXPECT_EQ(closed.decision(), fallback(Fallback::privatization));
  closed.channel_is_free = [] { return must_not_be_asked(); };
  EXPECT_EQ(closed.decision(), fallback(Fallback::privatization));
}

TEST(Decision, AutoTakesWhatIsPredictedToBeFaster)
{
  Facts open          = facts(OffloadMode::automatic, SUM);
  open.host_is_faster = [] { return true; };
  EXPECT_EQ(open.decision(), fallback(Fallback::host_faster));
  open.host_is_faster = [] { return false; };
  EXPECT_EQ(open.decision(), Decision{Path::stream});
}

TEST(Decision, AutoFollowsTheFabricsPolicyFirst)
{
  Facts fixed  = facts(OffloadMode::automatic, SUM); // whose prediction must not be asked
  fixed.policy = OffloadMode::message;
  EXPECT_EQ(fixed.decision(), Decision{Path::message});
  fixed.policy = OffloadMode::off;
  EXPECT_EQ(fixed.decision(), fallback(Fallback::policy));
  fixed.policy = OffloadMode::multicast; // which cannot reduce
  EXPECT_EQ(fixed.decision(), Decision{Path::stream});
  fixed.policy         = OffloadMode::automatic;
  fixed.host_is_faster = [] { return true; };
  EXPECT_EQ(fixed.decision(), fallback(Fallback::host_faster));
}

TEST(Decision, OthersThanAutoDoNotAskThePolicy)
{
  Facts asked  = facts(OffloadMode::stream, SUM);
  asked.policy = OffloadMode::off;
  EXPECT_EQ(asked.decision(), Decision{Path::stream});
}

TEST(Decision, MulticastDoesWhatMovesBytesAndLeavesTheRestToStreams)
{
  EXPECT_EQ(facts(OffloadMode::multicast, BCAST, {&PLAIN}).decision(), Decision{Path::multicast});
  EXPECT_EQ(facts(OffloadMode::multicast, SUM).decision(), Decision{Path::stream});
  EXPECT_EQ(facts(OffloadMode::multicast, call("gather", "", "", 4)).decision(), fallback(Fallback::collective));
  Facts by_policy  = facts(OffloadMode::automatic, BCAST, {&PLAIN});
  by_policy.policy = OffloadMode::multicast;
  EXPECT_EQ(by_policy.decision(), Decision{Path::multicast});
}

TEST(Decision, SaysWhyThereIsNoMulticast)
{
  Facts full        = facts(OffloadMode::multicast, BCAST, {&MOVES});
  full.no_multicast = [] { return Fallback::no_nic_memory; };
  EXPECT_EQ(full.decision(), fallback(Fallback::no_nic_memory));
  full.memory_is_shared = false;
  EXPECT_EQ(full.decision(), fallback(Fallback::privatization));
  full.call = call("bcast", "", "", 0);
  EXPECT_EQ(full.decision(), fallback(Fallback::zero_count));
}

TEST(Decision, HostsMayFallBackToMulticast)
{
  Facts hosts                   = facts(OffloadMode::off, BCAST);
  hosts.falls_back_to_multicast = true;
  EXPECT_EQ(hosts.decision(), Decision{Path::multicast});
  hosts.no_multicast = [] { return Fallback::not_on_tree; };
  EXPECT_EQ(hosts.decision(), fallback(Fallback::policy)); // what kept it from the switches
  hosts.no_multicast = [] { return Fallback::none; };
  hosts.ranks        = 1;
  EXPECT_EQ(hosts.decision(), fallback(Fallback::policy));
}

TEST(Decision, EveryPathHasItsText)
{
  EXPECT_EQ(to_text(Path::host), "fallback");
  EXPECT_EQ(to_text(Path::stream), "stream");
  EXPECT_EQ(to_text(Path::message), "message");
  EXPECT_EQ(to_text(Path::multicast), "multicast");
}

TEST(Decision, EveryReasonHasItsText)
{
  const std::vector<std::pair<Fallback, std::string_view>> texts{
      {Fallback::none, ""},
      {Fallback::policy, "policy"},
      {Fallback::one_rank, "one rank"},
      {Fallback::zero_count, "zero count"},
      {Fallback::collective, "collective"},
      {Fallback::datatype, "datatype"},
      {Fallback::operation, "op"},
      {Fallback::one_host, "one host"},
      {Fallback::not_on_tree, "communicator not on the tree"},
      {Fallback::no_gain, "tree gains nothing"},
      {Fallback::no_free_channel, "no free channel"},
      {Fallback::host_faster, "host is faster"},
      {Fallback::no_nic_memory, "no NIC memory"},
      {Fallback::privatization, "privatization"},
  };
  for (const auto& [reason, text] : texts)
    EXPECT_EQ(to_text(reason), text);
  // The last reason of the enumeration is the last here.
  EXPECT_EQ(static_cast<std::size_t>(Fallback::privatization) + 1, texts.size());
}

} // namespace
} // namespace weft
