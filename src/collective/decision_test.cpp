// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/decision.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

const MechanismKind& STREAM    = mechanism_kind("stream");
const MechanismKind& MESSAGE   = mechanism_kind("message");
const MechanismKind& MULTICAST = mechanism_kind("multicast");

constexpr MechanismKind QUICK{.name = "quick", .meaning = "of this test"};

[[noreturn]] bool must_not_be_asked()
{
  throw std::logic_error("asked for what the decision does not depend on");
}

/** Verdicts on a call that every mechanism can execute; each test changes what it examines. */
struct Facts : Verdicts {
  OffloadMode asked;
  std::optional<OffloadMode> policy;
  std::map<const MechanismKind*, Fallback> obstacles;
  std::map<const MechanismKind*, std::function<Fallback()>> shortages;
  std::vector<const MechanismKind*> predictions{&STREAM};
  std::map<const MechanismKind*, Seconds> times; ///< predicted times of the mechanisms that have predictions
  std::function<bool(const MechanismKind&)> host_is_faster = [](const MechanismKind&) { return must_not_be_asked(); };
  std::function<const MechanismKind*()> hosts_take         = [] { return nullptr; };

  explicit Facts(OffloadMode its) : asked(its) {}
  explicit Facts(const MechanismKind& its) : asked(its) {}

  Fallback obstacle(const MechanismKind& mechanism) override
  {
    const auto found = obstacles.find(&mechanism);
    return found == obstacles.end() ? Fallback::none : found->second;
  }
  Fallback shortage(const MechanismKind& mechanism) override
  {
    if (obstacle(mechanism) != Fallback::none)
      must_not_be_asked();
    const auto found = shortages.find(&mechanism);
    return found == shortages.end() ? Fallback::none : found->second();
  }
  const std::vector<const MechanismKind*>& predictable() override { return predictions; }
  Seconds predicted(const MechanismKind& mechanism) override { return times.at(&mechanism); }
  bool hosts_are_faster(const MechanismKind& mechanism) override { return host_is_faster(mechanism); }
  const MechanismKind* hosts_mechanism() override { return hosts_take(); }

  Decision decision() { return decide(asked, policy, *this); }
};

Decision fallback(Fallback reason)
{
  return {nullptr, reason};
}

TEST(Decision, IsWhatWasAskedForWhereThatCan)
{
  for (const MechanismKind* mechanism : mechanism_kinds()) {
    Facts asked(*mechanism);
    asked.hosts_take = []() -> const MechanismKind* { return must_not_be_asked(), nullptr; };
    EXPECT_EQ(asked.decision(), Decision{mechanism}) << mechanism->name;
  }
}

TEST(Decision, AsksNoMechanismWhereNoneIsAskedFor)
{
  Facts off(OffloadMode::off());
  off.obstacles = {{&STREAM, Fallback::datatype}};
  off.policy    = OffloadMode(MESSAGE);
  EXPECT_EQ(off.decision(), fallback(Fallback::policy));
}

TEST(Decision, OneRankHasNobodyToCall)
{
  for (const auto& [mode, name] : Names<OffloadMode>::rows())
    EXPECT_EQ(decide_alone(mode), fallback(mode.is_off() ? Fallback::policy : Fallback::one_rank)) << name;
}

TEST(Decision, SaysWhyTheMechanismCannot)
{
  for (const Fallback reason : {Fallback::collective, Fallback::datatype, Fallback::operation, Fallback::not_on_tree}) {
    Facts unable(STREAM);
    unable.obstacles = {{&STREAM, reason}};
    EXPECT_EQ(unable.decision(), fallback(reason)) << to_text(reason);
  }
}

TEST(Decision, NeedsWhatTheMechanismLacksForTheCall)
{
  for (const Fallback reason : {Fallback::no_free_channel, Fallback::no_nic_memory})
    for (const MechanismKind* mechanism : mechanism_kinds()) {
      Facts busy(*mechanism);
      busy.shortages = {{mechanism, [reason] { return reason; }}};
      EXPECT_EQ(busy.decision(), fallback(reason)) << mechanism->name;
    }
}

TEST(Decision, HandsOverCollectivesThatAMechanismDoesNotDo)
{
  Facts reduction(MULTICAST);
  reduction.obstacles = {{&MULTICAST, Fallback::collective}};
  EXPECT_EQ(reduction.decision(), Decision{&STREAM});
  reduction.shortages = {{&STREAM, [] { return Fallback::no_free_channel; }}};
  EXPECT_EQ(reduction.decision(), fallback(Fallback::no_free_channel));
  reduction.obstacles[&STREAM] = Fallback::datatype;
  EXPECT_EQ(reduction.decision(), fallback(Fallback::datatype));
}

TEST(Decision, HandsOverNothingElse)
{
  for (const Fallback reason : {Fallback::zero_count, Fallback::not_on_tree}) {
    Facts unable(MULTICAST);
    unable.obstacles = {{&MULTICAST, reason}};
    EXPECT_EQ(unable.decision(), fallback(reason)) << to_text(reason);
  }
  Facts reduction(MESSAGE); // a reduction has no fallback mechanism
  reduction.obstacles = {{&MESSAGE, Fallback::collective}};
  EXPECT_EQ(reduction.decision(), fallback(Fallback::collective));
}

TEST(Decision, AutoTakesWhatIsPredictedToBeFaster)
{
  Facts open(OffloadMode::automatic());
  open.host_is_faster = [](const MechanismKind& mechanism) { return &mechanism == &STREAM; };
  EXPECT_EQ(open.decision(), fallback(Fallback::host_faster));
  open.host_is_faster = [](const MechanismKind&) { return false; };
  EXPECT_EQ(open.decision(), Decision{&STREAM});
  open.host_is_faster = [](const MechanismKind&) { return true; };
  open.shortages      = {{&STREAM, [] { return must_not_be_asked() ? Fallback::none : Fallback::none; }}};
  EXPECT_EQ(open.decision(), fallback(Fallback::host_faster));
}

TEST(Decision, AutoSaysWhatKeepsACallFromTheNetworkBeforeThePolicy)
{
  Facts unable(OffloadMode::automatic()); // the prediction must not be requested
  unable.obstacles = {{&STREAM, Fallback::operation}};
  EXPECT_EQ(unable.decision(), fallback(Fallback::operation));
  unable.policy = OffloadMode::off();
  EXPECT_EQ(unable.decision(), fallback(Fallback::operation));
}

TEST(Decision, AutoFollowsTheFabricsPolicyFirst)
{
  Facts fixed(OffloadMode::automatic()); // the prediction must not be requested
  fixed.policy = OffloadMode(MESSAGE);
  EXPECT_EQ(fixed.decision(), Decision{&MESSAGE});
  fixed.policy = OffloadMode::off();
  EXPECT_EQ(fixed.decision(), fallback(Fallback::policy));
  fixed.policy = OffloadMode(MULTICAST);
  EXPECT_EQ(fixed.decision(), Decision{&MULTICAST});
  fixed.obstacles = {{&MULTICAST, Fallback::collective}};
  EXPECT_EQ(fixed.decision(), Decision{&STREAM});
  fixed.policy         = OffloadMode::automatic();
  fixed.host_is_faster = [](const MechanismKind&) { return true; };
  EXPECT_EQ(fixed.decision(), fallback(Fallback::host_faster));
}

TEST(Decision, OthersThanAutoDoNotAskThePolicy)
{
  Facts asked(STREAM);
  asked.policy = OffloadMode::off();
  EXPECT_EQ(asked.decision(), Decision{&STREAM});
}

TEST(Decision, HostsMayTakeAMechanismAsTheirAlgorithm)
{
  Facts hosts(OffloadMode::off());
  hosts.hosts_take = [] { return &MULTICAST; };
  EXPECT_EQ(hosts.decision(), Decision{&MULTICAST});
  hosts.shortages = {{&MULTICAST, [] { return Fallback::no_nic_memory; }}};
  EXPECT_EQ(hosts.decision(), fallback(Fallback::policy)); // the reason why switches were not used
  hosts.obstacles = {{&MULTICAST, Fallback::not_on_tree}};
  EXPECT_EQ(hosts.decision(), fallback(Fallback::policy));
  hosts.asked     = OffloadMode(STREAM);
  hosts.obstacles = {{&STREAM, Fallback::datatype}};
  hosts.shortages.clear();
  EXPECT_EQ(hosts.decision(), Decision{&MULTICAST});
}

TEST(Decision, EveryPathHasItsName)
{
  EXPECT_EQ(path_names(), (std::vector<std::string>{"fallback", "stream", "message", "multicast"}));
  EXPECT_EQ(path_name(nullptr), "fallback");
  EXPECT_EQ(path_name(&MESSAGE), "message");
}

TEST(Decision, AutoComparesThePredictionsOfMechanisms)
{
  Facts open(OffloadMode::automatic());
  open.predictions    = {&STREAM, &QUICK};
  open.host_is_faster = [](const MechanismKind&) { return false; };
  open.times          = {{&STREAM, Seconds(2)}, {&QUICK, Seconds(1)}};
  EXPECT_EQ(open.decision(), Decision{&QUICK});
  open.times[&QUICK] = Seconds(3);
  EXPECT_EQ(open.decision(), Decision{&STREAM});
  open.times     = {}; // with a single candidate no prediction is requested
  open.obstacles = {{&STREAM, Fallback::datatype}};
  EXPECT_EQ(open.decision(), Decision{&QUICK});
  open.obstacles[&QUICK] = Fallback::collective;
  EXPECT_EQ(open.decision(), fallback(Fallback::datatype));
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
      {Fallback::job_quota, "job quota"},
      {Fallback::locked, "locked by another job"},
      {Fallback::reserved, "reserved by other jobs"},
      {Fallback::host_faster, "host is faster"},
      {Fallback::no_nic_memory, "no NIC memory"},
  };
  for (const auto& [reason, text] : texts)
    EXPECT_EQ(to_text(reason), text);
  // Fails if a reason is appended to the enumeration without a text.
  EXPECT_EQ(static_cast<std::size_t>(Fallback::no_nic_memory) + 1, texts.size());
}

} // namespace
} // namespace weft
