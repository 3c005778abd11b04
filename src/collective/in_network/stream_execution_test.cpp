// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream_execution.hpp"

#include "collective/in_network/quiet_carrier_test.hpp"
#include "fabric/fabric_test.hpp"
#include "faults/recovery.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Switches of a tree over all hosts of a fabric, and an Allreduce that they execute. */
class StreamOnTree : public StreamOwner {
  std::vector<Aggregation> switches_;
  std::function<void(const ServedPart&)> count()
  {
    return [this](const ServedPart& part) {
      served.push_back(part.index);
      reduced += part.reduced.value();
      EXPECT_EQ(part.collective, "Allreduce");
      EXPECT_EQ(part.end, carrier.now());
    };
  }

public:
  const Fabric& fabric;
  QuietCarrier carrier;
  RecoveryModel model{Seconds(), Seconds(), Seconds(1e-3), 3, 2};
  FabricState actual;
  LinkLosses losses;
  std::optional<CallRecovery> recovery;
  ReductionTree tree;
  TreeCall call;
  std::shared_ptr<const StreamPlan> plan;
  std::vector<int> served;
  double reduced = 0;
  std::vector<double> ends;
  std::optional<TreeService> service;
  std::optional<StreamExecution> execution;

  StreamOnTree(const Fabric& its_fabric, double message, bool faults = false)
      : fabric(its_fabric), carrier(fabric), actual(fabric), call{Movement::allreduce, Bytes(message), -1, {}}
  {
    for (int index = 0; std::cmp_less(index, fabric.topology().switch_count()); ++index)
      switches_.emplace_back(fabric.switch_model(index));
    std::vector<VertexId> hosts(static_cast<std::size_t>(fabric.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    tree = *build_reduction_tree(fabric, hosts, 0).tree;
    plan = std::make_shared<StreamPlan>(plan_streams(fabric, tree, call, fabric.nic().offload_copy_rate));
    if (faults)
      recovery.emplace(CallRecovery{CallPolicy::resend, model, actual, losses});
    service.emplace(TreeService{carrier, fabric, switches_, recovery ? &*recovery : nullptr, 0, count()});
    execution.emplace(*service, *this, call);
  }

  void start(double part = 1) { execution->start({{&tree, plan, plan->base_latency, 0}}, part, carrier.now()); }
  const SwitchCounters& counters(int index) const { return switches_[static_cast<std::size_t>(index)].counters(); }

  std::string collective() const override { return "Allreduce"; }
  FlowEnd when_arrived(std::function<void()> next) override
  {
    return [next = std::move(next)](const FlowResult& result) {
      EXPECT_TRUE(result.arrived());
      next();
    };
  }
  std::shared_ptr<void> keep() override { return {}; }
  void stream_ended() override { ends.push_back(carrier.now().value()); }
};

std::string two_levels()
{
  return replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]");
}

/** Network of packets whose calls end when the test says so. */
class KeptCalls : public TreeNetwork {
public:
  std::vector<TreePackets> calls;
  std::vector<Seconds> delays;
  std::vector<std::function<void()>> ends;
  void start(const TreePackets& call, Seconds /*now*/, Seconds jitter, int world, std::function<void()> done) override
  {
    EXPECT_EQ(world, 0);
    calls.push_back(call);
    delays.push_back(call.delay + jitter);
    ends.push_back(std::move(done));
  }
};

TEST(StreamExecution, ANetworkOfPacketsCarriesItWhole)
{
  const Fabric fabric = fabric_of(two_levels() + "[network]\nmodel = \"packets\"\n");
  KeptCalls trees;
  StreamOnTree stream(fabric, 1000);
  stream.carrier.packets = &trees;
  const Seconds jitter(1e-6);
  stream.execution->start({{&stream.tree, stream.plan, stream.plan->base_latency + jitter, 0}}, 1, Seconds());
  ASSERT_EQ(trees.calls.size(), 1U);
  const TreePackets& call = trees.calls.front();
  EXPECT_EQ(call.packets, 10);
  EXPECT_EQ(call.window, 4);
  EXPECT_EQ(call.switches.size(), stream.tree.switches.size());
  EXPECT_EQ(call.members.size(), 4U);
  EXPECT_DOUBLE_EQ(trees.delays.front().value(), (stream.plan->packets->delay + jitter).value());
  stream.carrier.run();
  EXPECT_TRUE(stream.ends.empty());
  trees.ends.front()();
  EXPECT_EQ(stream.ends.size(), 1U);
  EXPECT_EQ(stream.served.size(), stream.tree.switches.size());
}

TEST(StreamExecution, EndsAfterTheDurationOfItsPlan)
{
  for (const std::string& text : {FABRIC, two_levels()})
    for (const double message : {4., 400., 801., 1e6})
      for (const bool faults : {false, true}) {
        const Fabric fabric = fabric_of(text);
        StreamOnTree stream(fabric, message, faults);
        stream.start();
        stream.carrier.run();
        ASSERT_EQ(stream.ends.size(), 1);
        EXPECT_NEAR(stream.ends.front(), stream.plan->duration().value(), 1e-12 * stream.ends.front());
      }
}

TEST(StreamExecution, EachSwitchOfTheTreeCountsTheCallOnce)
{
  const Fabric fabric = fabric_of(two_levels());
  StreamOnTree stream(fabric, 800);
  stream.start();
  EXPECT_TRUE(stream.served.empty());
  stream.carrier.run();
  EXPECT_EQ(stream.served.size(), 3);
  for (const TreeSwitch& node : stream.tree.switches)
    EXPECT_EQ(stream.counters(node.index).offloaded, 1);
  EXPECT_EQ(stream.reduced, (4 + 2) * 800); // four hosts' contributions, and two leaves' at the root
}

// 6,400 B are 16 windows of 4 slots of 100 B. Data after the last complete window is sent again.
TEST(StreamExecution, TheRestAfterAHitBeginsBehindTheLastCompleteWindow)
{
  const Fabric fabric = fabric_of(FABRIC);
  for (const double done : {0., 0.1, 0.37, 0.5, 0.99}) {
    StreamOnTree stream(fabric, 6400, true);
    stream.start();
    const double latency   = stream.plan->base_latency.value();
    const double streaming = stream.plan->streaming.value();
    stream.carrier.run_until(latency + done * streaming);
    const double left = stream.execution->stop(0);
    EXPECT_NEAR(left, 1 - done, 1e-9);
    const double rest = stream.execution->rest(left);
    EXPECT_DOUBLE_EQ(rest, 1 - std::floor(done * 16) / 16);
    stream.start(rest);
    const double again = stream.carrier.now().value();
    stream.carrier.run();
    ASSERT_EQ(stream.ends.size(), 1);
    EXPECT_NEAR(stream.ends.front() - again, latency + rest * streaming, 1e-9 * streaming);
    EXPECT_EQ(stream.counters(0).offloaded, 1);
  }
}

TEST(StreamExecution, AStoppedFlowOfWhichNothingArrivedIsAllLeft)
{
  const Fabric fabric = fabric_of(FABRIC);
  StreamOnTree stream(fabric, 6400, true);
  stream.start();
  stream.carrier.run_until(stream.plan->base_latency.value() + 0.9 * stream.plan->streaming.value());
  EXPECT_EQ(stream.execution->stop(1), 1); // another flow had not begun
  EXPECT_EQ(stream.execution->rest(1), 1);
}

// The last packet of each of 4 slots is lost with probability p on the way up and down. For a number d drawn from [0,
// 1), the number of transmissions is the smallest r with (1 - p^r)^4 > d.
TEST(StreamExecution, LostLastPacketsDelayTheCallByTheirTimeouts)
{
  const Fabric fabric = fabric_of(FABRIC);
  StreamOnTree stream(fabric, 400, true);
  stream.losses.set(0, 0.3);
  LinkLosses same = stream.losses;
  int delayed     = 0;
  for (int call = 0; call < 200; ++call) {
    const double begun = stream.carrier.now().value();
    stream.start();
    stream.carrier.run();
    const double drawn    = same.draw();
    const double least    = std::log(1 - std::pow(drawn, 1. / 4)) / std::log(0.3);
    const int times       = std::max(1, static_cast<int>(std::floor(least)) + 1);
    const double timeouts = 1e-3 * (std::pow(2, times - 1) - 1); // each twice as long as the previous one
    delayed += times > 1 ? 1 : 0;
    ASSERT_EQ(stream.ends.size(), static_cast<std::size_t>(call) + 1);
    EXPECT_NEAR(stream.ends.back() - begun, stream.plan->duration().value() + timeouts, 1e-9);
  }
  EXPECT_GT(delayed, 100); // 1 - 0.7^4 of the calls, 152 on average
}

TEST(StreamExecution, ACallThatIsHitWhileItAwaitsLastPacketsDoesNotEnd)
{
  const Fabric fabric = fabric_of(FABRIC);
  StreamOnTree stream(fabric, 400, true);
  stream.losses.set(0, 0.99);
  stream.start();
  stream.carrier.run_until(2 * stream.plan->duration().value());
  EXPECT_EQ(stream.execution->stop(0), 0);
  stream.carrier.run();
  EXPECT_TRUE(stream.ends.empty());
  EXPECT_EQ(stream.counters(0).offloaded, 0);
}

TEST(StreamExecution, LossesStallASlotByTheMeanOfItsTimeouts)
{
  const Fabric fabric = fabric_of(FABRIC);
  StreamOnTree stream(fabric, 400, true);
  EXPECT_EQ(mean_stall(stream.tree, *stream.recovery), Seconds());
  stream.losses.set(0, 0.1); // host 0's cable, up
  stream.losses.set(3, 0.2); // host 1's, down
  EXPECT_DOUBLE_EQ(loss_probability(stream.tree, stream.losses), 1 - 0.9 * 0.8);
  EXPECT_DOUBLE_EQ(mean_stall(stream.tree, *stream.recovery).value(), 1e-3 * 0.28 / 0.72);
}

TEST(StreamExecution, KnowsItsSwitches)
{
  const Fabric fabric = fabric_of(two_levels());
  StreamOnTree stream(fabric, 400, true);
  EXPECT_FALSE(stream.execution->uses(0)); // not yet
  stream.start();
  for (int device = 0; device < 3; ++device)
    EXPECT_TRUE(stream.execution->uses(device));
  EXPECT_FALSE(stream.execution->uses(3));
}

} // namespace
} // namespace weft
