#include "collective/stream.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

BytesPerSecond line_rate(const Fabric& fabric, const TreeSwitch& node)
{
  BytesPerSecond slowest{std::numeric_limits<double>::infinity()};
  for (const TreeChild& child : node.children)
    for (const LinkId link : {child.up, child.down})
      slowest = std::min(slowest, fabric.links()[static_cast<std::size_t>(link)].bandwidth /
                                      static_cast<double>(child.contributions));
  return slowest;
}

} // namespace

Seconds base_latency(const Fabric& fabric, const ReductionTree& tree)
{
  Seconds latency = fabric.nic().offload_overhead + tree.up + tree.down +
                    fabric.nic().message_gap * static_cast<double>(tree.ranks_a_nic - 1);
  for (const TreeSwitch& node : tree.switches)
    latency += fabric.switch_model(node.index).processing_latency;
  return latency;
}

StreamPlan plan_stream(const Fabric& fabric, const ReductionTree& tree, Bytes message)
{
  StreamPlan plan{base_latency(fabric, tree), {}, BytesPerSecond(std::numeric_limits<double>::infinity())};
  for (const TreeSwitch& node : tree.switches) {
    const SwitchModel& model = fabric.switch_model(node.index);
    plan.wire                = packet_train(model, message).wire;
    plan.rate_limit = std::min(plan.rate_limit, plan.wire / streaming_time(model, message, line_rate(fabric, node)));
  }
  plan.rate_limit = std::min(plan.rate_limit, fabric.nic().offload_copy_rate * (plan.wire / message));
  return plan;
}

} // namespace weft
