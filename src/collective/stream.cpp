#include "collective/stream.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

BytesPerSecond line_rate(const Fabric& fabric, const TreeSwitch& node)
{
  BytesPerSecond slowest{std::numeric_limits<double>::infinity()};
  for (const TreeLink& tree_link : node.links)
    for (const LinkId link : {tree_link.up, reverse(tree_link.up)})
      slowest = std::min(slowest, fabric.link(link).bandwidth / static_cast<double>(tree_link.messages));
  return slowest;
}

} // namespace

Seconds base_latency(const Fabric& fabric, const ReductionTree& tree)
{
  return fabric.nic().offload_overhead + tree.up + tree.down +
         fabric.nic().message_gap * static_cast<double>(tree.ranks_a_nic - 1);
}

std::vector<StreamPlan> plan_streams(const Fabric& fabric, const ReductionTree& tree, Bytes message)
{
  std::vector<StreamPlan> plans;
  plans.reserve(tree.switches.size());
  for (const TreeSwitch& node : tree.switches) {
    const SwitchModel& model = fabric.switch_model(node.index);
    const Bytes wire         = packet_train(model, message).wire;
    const Seconds streaming =
        streaming_time(model, message, line_rate(fabric, node), model.turnaround + tree.beyond_first);
    plans.push_back({wire, std::min(wire / streaming, fabric.nic().offload_copy_rate * (wire / message))});
  }
  return plans;
}

} // namespace weft
