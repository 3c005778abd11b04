// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/served_tree.hpp"

#include "collective/in_network/quiet_carrier_test.hpp"
#include "fabric/fabric_test.hpp"
#include "faults/recovery.hpp"

#include <deque>
#include <memory>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Allreduce with one member per host. */
class CallOnSwitches : public ServedCall {
  const TreeCall& call_;
  Traffic traffic_;

public:
  std::int64_t position = 0;
  std::vector<double> results; // times, by member; 0: none yet
  int replies = 0;             // replies that switches have begun to send
  std::string why;             // reason of the interruption
  const CallCarrier& carrier;

  CallOnSwitches(const ReductionTree& tree, const TreeCall& call, const CallCarrier& its_carrier)
      : call_(call), traffic_(tree, call), results(tree.entry.size()), carrier(its_carrier)
  {
  }
  std::int64_t number() const override { return position; }
  std::string collective() const override { return "Allreduce"; }
  const TreeCall& tree_call() const override { return call_; }
  Loads loads(const MemberRange& below, const SwitchModel& model) const override
  {
    return traffic_.loads(model, below, 1);
  }
  void expect_reply() override { ++replies; }
  void replied(int member, const FlowResult& result) override
  {
    EXPECT_TRUE(result.arrived());
    results[static_cast<std::size_t>(member)] = carrier.now().value();
  }
  void fail_with(const FlowResult& /*result*/) override { FAIL(); }
  void interrupt(const std::string& reason) override { why = reason; }
};

/** Tree over all hosts of a fabric, and calls whose members send on command. */
class ServedFabric : Due {
  std::vector<Aggregation> switches_;
  std::deque<CallOnSwitches> calls_;
  std::vector<std::pair<std::size_t, int>> sends_; // call and member, by number

  void due(std::uint64_t number) override
  {
    const auto [index, member] = sends_[number];
    const std::int64_t place   = tree->place[static_cast<std::size_t>(member)];
    ServingSwitch& entry       = served->at(tree->entry[static_cast<std::size_t>(member)]);
    const MemberRange itself{place, place + 1};
    entry.request(
        {&calls_[index], itself, member, calls_[index].loads(itself, entry.model()).up.payload, nullptr, member});
  }

public:
  Fabric fabric;
  QuietCarrier carrier;
  RecoveryModel model{Seconds(), Seconds(), Seconds(1e-3), 3, 2};
  FabricState actual;
  LinkLosses losses;
  CallRecovery recovery{CallPolicy::resend, model, actual, losses};
  TreeCall call;
  std::shared_ptr<ReductionTree> tree = std::make_shared<ReductionTree>();
  std::vector<ServedPart> parts;
  std::shared_ptr<ServedTree> served;
  const std::string name = "Allreduce";

  ServedFabric(const std::string& text, double message)
      : fabric(fabric_of(text)), carrier(fabric), actual(fabric), call{Movement::allreduce, Bytes(message), -1, {}}
  {
    for (int index = 0; index < fabric.topology().switch_count(); ++index)
      switches_.emplace_back(fabric.switch_model(index));
    std::vector<VertexId> hosts(static_cast<std::size_t>(fabric.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    *tree  = *build_reduction_tree(fabric, hosts, 0).tree;
    served = std::make_shared<ServedTree>(TreeService{carrier, fabric, switches_, &recovery, 0,
                                                      [this](const ServedPart& part) {
                                                        parts.push_back({part.index, name, part.bytes, part.reduced,
                                                                         part.multicast, part.start, part.end});
                                                      }},
                                          tree);
  }

  std::size_t begin()
  {
    CallOnSwitches& one = calls_.emplace_back(*tree, call, carrier);
    one.position        = served->add(one);
    return calls_.size() - 1;
  }
  void send(std::size_t number, int member, double time)
  {
    sends_.emplace_back(number, member);
    carrier.agenda.add(Seconds(time), *this, sends_.size() - 1);
  }
  const CallOnSwitches& at(std::size_t number) const { return calls_[number]; }
  const SwitchCounters& counters(int index) const { return switches_[static_cast<std::size_t>(index)].counters(); }
};

// Each message takes the latency of the link and its bytes at 1 GB/s; a switch combines in 3 us.
constexpr double LINK      = 1e-6;
constexpr double COMBINING = 3e-6;

TEST(ServedTree, OnAStarStoresAndForwards)
{
  ServedFabric star(FABRIC, 4000);
  const std::size_t call = star.begin();
  for (int member = 0; member < 4; ++member)
    star.send(call, member, member * 1e-6);
  star.carrier.run();
  const double message = LINK + 4000 / 1e9;
  for (const double end : star.at(call).results)
    EXPECT_NEAR(end, 3e-6 + message + COMBINING + message, 1e-15);
  ASSERT_EQ(star.parts.size(), 1);
  EXPECT_NEAR(star.parts[0].start.value(), 3e-6 + message, 1e-15);
  EXPECT_EQ(star.parts[0].reduced.value(), 4 * 4000);
  EXPECT_EQ(star.counters(0).offloaded, 1);
}

TEST(ServedTree, OverTwoLevelsTakesEachLinkUpAndDown)
{
  ServedFabric tree(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]"),
                    4000);
  const std::size_t call = tree.begin();
  for (int member = 0; member < 4; ++member)
    tree.send(call, member, 0);
  tree.carrier.run();
  // Three switches combine on the way up; on the way down, a leaf forwards the root's result.
  const double forwarding = tree.fabric.switch_model(0).hop_latency().value();
  for (const double end : tree.at(call).results)
    EXPECT_NEAR(end, 4 * (LINK + 4000 / 1e9) + 2 * COMBINING + forwarding, 1e-12);
  EXPECT_EQ(tree.parts.size(), 3);
}

// The messages of the second call wait until the switch has posted receives for it, after the first call is complete.
TEST(ServedTree, ServesCallsOneAfterAnother)
{
  ServedFabric star(FABRIC, 4000);
  const std::size_t first  = star.begin();
  const std::size_t second = star.begin();
  for (const std::size_t call : {first, second})
    for (int member = 0; member < 4; ++member)
      star.send(call, member, 0);
  star.carrier.run();
  const double message = LINK + 4000 / 1e9;
  const double served  = message + COMBINING; // the switch sends results, and posts receives for the second call
  for (int member = 0; member < 4; ++member) {
    EXPECT_NEAR(star.at(first).results[static_cast<std::size_t>(member)], served + message, 1e-15);
    EXPECT_NEAR(star.at(second).results[static_cast<std::size_t>(member)], 2 * served + message, 1e-15);
  }
}

// Receives are matched in FIFO order, so a message of the next call may take one of this call's receives.
TEST(ServedTree, AMessageOfTheNextCallTakesAReceiveAndIsKept)
{
  ServedFabric star(FABRIC, 4000);
  const std::size_t first  = star.begin();
  const std::size_t second = star.begin();
  for (int member = 0; member < 3; ++member)
    star.send(first, member, 0);
  star.send(second, 0, 1e-6);
  star.send(first, 3, 2e-6); // waits for a receive, which is posted when the four have arrived
  for (int member = 1; member < 4; ++member)
    star.send(second, member, 2e-6);
  star.carrier.run();
  const double message = LINK + 4000 / 1e9;
  const double fourth  = 1e-6 + message; // arrival of the four messages that took the receives
  const double last    = fourth + message;
  for (const double end : star.at(first).results)
    EXPECT_NEAR(end, last + COMBINING + message, 1e-15);
  EXPECT_EQ(star.counters(0).offloaded, 2);
}

TEST(ServedTree, ASwitchThatLosesItsStateInterruptsAllCalls)
{
  ServedFabric star(FABRIC, 4000);
  const std::size_t first  = star.begin();
  const std::size_t second = star.begin();
  for (int member = 0; member < 4; ++member)
    star.send(first, member, 0);
  star.carrier.run_until(6e-6); // while it combines
  star.served->lose_state(1);
  EXPECT_FALSE(star.served->is_broken()); // another switch
  star.served->lose_state(0);
  EXPECT_TRUE(star.served->is_broken());
  for (const std::size_t call : {first, second})
    EXPECT_EQ(star.at(call).why, "switch " + star.fabric.topology().switch_name(0) + " has lost its state");
  EXPECT_TRUE(star.recovery.running.empty());
  star.carrier.run();
  EXPECT_EQ(star.at(first).replies, 0);
  EXPECT_TRUE(star.parts.empty());
  EXPECT_EQ(star.counters(0).offloaded, 0);
}

TEST(ServedTree, LivesUntilItsLastCallback)
{
  ServedFabric star(FABRIC, 4000);
  const std::size_t call = star.begin();
  for (int member = 0; member < 4; ++member)
    star.send(call, member, 0);
  star.carrier.run_until(1e-6); // messages are in flight
  const std::weak_ptr<ServedTree> tree = star.served;
  star.served->interrupt("a test");
  star.served.reset();
  EXPECT_FALSE(tree.expired());
  star.carrier.run();
  EXPECT_TRUE(tree.expired());
}

} // namespace
} // namespace weft
