// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream.hpp"

#include "collective/in_network/stream_packets.hpp"
#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace weft {
namespace {

/** Above this number of message sizes on a switch's links, sizes within a factor of two are merged, since more flows
 * cost more than they add in accuracy. The time on a quiet fabric and the bytes on the links stay exact. */
constexpr std::size_t MOST_FLOWS = 8;

/** Returns the links of a switch that carry messages. */
std::vector<FlowLink> busy_links(const Traffic& traffic, const SwitchModel& model, const ReductionTree& tree,
                                 const TreeCall& call, std::size_t position, SwitchPlan& plan)
{
  const bool combined    = call.movement.combines;
  const TreeSwitch& node = tree.switches[position];
  std::vector<FlowLink> links;
  links.reserve(2 * node.links.size());
  for (const TreeLink& tree_link : node.links) {
    Loads loads = traffic.loads(model, position, tree_link);
    if (combined)
      plan.reduced += loads.up.payload * (1 - call.passed_on);
    if (call.passed_on > 0)
      loads = traffic.with_passed_on(model, tree_link, loads);
    plan.multicast += loads.down.payload;
    if (loads.up.wire > Bytes())
      links.push_back({tree_link.up, loads.up.messages, loads.up.wire, loads.up.packets});
    if (loads.down.wire > Bytes())
      links.push_back({reverse(tree_link.up), loads.down.messages, loads.down.wire, loads.down.packets});
  }
  return links;
}

SwitchModel with_slots(SwitchModel model, int slots)
{
  model.slots = slots;
  return model;
}

/** Returns the packets' time on a switch's links without other traffic. If the switch computes, every packet passes its
 * slots; for a Reduce_scatter, this includes the packets of all parts. */
Seconds streaming(const Fabric& fabric, const ReductionTree& tree, const TreeSwitch& node, const TreeCall& call,
                  const Traffic& traffic, const std::vector<FlowLink>& links, BytesPerSecond host_rate)
{
  const SwitchModel& model = fabric.switch_model(node.index);
  Seconds busiest;
  for (const FlowLink& link : links)
    busiest = std::max(busiest, time_on(fabric, link));
  if (call.message == Bytes() || busiest == Seconds())
    return busiest;
  busiest = std::max(busiest, call.message / host_rate);
  if (not call.movement.combines || call.streams_through(model))
    return busiest;
  const Bytes combined     = call.message * static_cast<double>(node.contributions);
  const Bytes served       = call.message * static_cast<double>(tree.place.size() - 1) * call.passed_on;
  const int sharing        = std::min(tree.sharing, call.trees); // trees of the call that share the switch
  busiest                  = std::max({busiest, combined * (1 - call.passed_on) * sharing / model.aggregation_rate,
                                       served * static_cast<double>(call.trees) / fabric.host().reduction_rate});
  const Seconds turnaround = model.turnaround + tree.beyond_first + call.stall;
  const SwitchModel& its   = sharing > 1 ? with_slots(model, std::max(1, model.slots / sharing)) : model;
  if (call.movement.gets == Share::part)
    return streaming_time(its, traffic.packets_of_parts(its), busiest, turnaround);
  return streaming_time(its, call.message, packet_train(its, call.message).wire / busiest, turnaround);
}

/** Returns the time that the hosts take for the data before the first packet leaves and after the last one has
 * arrived. */
Seconds copying(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, const NicCalls& costs)
{
  if (call.message == Bytes())
    return {};
  const Bytes payload = fabric.switch_model(tree.switches.front().index).payload;
  Seconds all         = std::min(call.message, payload) / costs.packet_copy_rate;
  if (call.copied > Bytes())
    all += fabric.nic().registration(call.message * static_cast<double>(call.trees)) +
           call.copied / fabric.nic().part_copy_rate;
  return all;
}

/** Returns the latency of a packet without a slot from the tree's root to the server and of its result back, times the
 * probability that the call has such packets. A server that is the root of the call sends nothing back. */
Seconds server_latency(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, const NicCalls& costs)
{
  if (call.passed_on == 0 || call.movement.receivers == Participants::root)
    return {};
  const SwitchModel& model   = fabric.switch_model(tree.switches.front().index);
  const MemberDelays& server = tree.ways[static_cast<std::size_t>(call.server())];
  const auto packets         = static_cast<double>(packet_train(model, call.message).packets);
  return (server.down_forwarded + costs.offload_overhead + server.up_forwarded) *
         (1 - std::pow(1 - call.passed_on, packets));
}

} // namespace

Seconds longest_way(const ReductionTree& tree, const TreeCall& call)
{
  const MemberDelays& longest = tree.longest;
  const auto root             = [&]() -> const MemberDelays& { return tree.ways[static_cast<std::size_t>(call.root)]; };
  const Movement& movement    = call.movement;
  const MemberDelays& senders = movement.senders == Participants::root ? root() : longest;
  const MemberDelays& receivers = movement.receivers == Participants::root ? root() : longest;
  return (movement.combines ? senders.up_combined : senders.up_forwarded) +
         (movement.combines_on_the_way_down() ? receivers.down_combined : receivers.down_forwarded);
}

Seconds time_on(const Fabric& fabric, const FlowLink& its)
{
  const Link& link = fabric.link(its.link);
  const Seconds interval =
      fabric.topology().is_host(link.to) ? Seconds() : fabric.model_at(link.to).forwarding.interval;
  return std::max(its.wire / link.bandwidth, interval * its.packets);
}

std::vector<StreamFlow> flows_by_size(const std::vector<FlowLink>& links, Seconds duration)
{
  const auto each = [](const FlowLink& link) { return link.wire.value() / static_cast<double>(link.messages); };
  std::map<double, std::vector<FlowLink>> by_size;
  for (const FlowLink& link : links)
    by_size[each(link)].push_back(link);
  if (by_size.size() > MOST_FLOWS) {
    by_size.clear();
    for (const FlowLink& link : links)
      by_size[std::exp2(std::ceil(std::log2(each(link))))].push_back(link);
  }
  std::vector<StreamFlow> flows;
  flows.reserve(by_size.size());
  for (auto& [size, its_links] : by_size) {
    double largest = 1;
    for (const FlowLink& link : its_links)
      largest = std::max(largest, each(link));
    const Bytes wire(std::floor(largest)); // SimGrid requires a whole number; the rate limit keeps the time exact
    flows.push_back({std::move(its_links), wire, wire / duration});
  }
  return flows;
}

Seconds base_latency(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call)
{
  const NicCalls costs = fabric.nic().costs(call.message);
  return costs.offload_overhead + longest_way(tree, call) + copying(fabric, tree, call, costs) +
         fabric.nic().message_gap * static_cast<double>(tree.members_a_nic - 1) +
         server_latency(fabric, tree, call, costs);
}

StreamPlan plan_streams(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, BytesPerSecond host_rate)
{
  const Traffic traffic(tree, call);
  StreamPlan plan{tree.epoch, base_latency(fabric, tree, call), Seconds(), {}, {}};
  std::vector<std::vector<FlowLink>> links; // by switch
  plan.switches.reserve(tree.switches.size());
  links.reserve(tree.switches.size());
  for (std::size_t position = 0; position < tree.switches.size(); ++position) {
    SwitchPlan& its          = plan.switches.emplace_back();
    const SwitchModel& model = fabric.switch_model(tree.switches[position].index);
    links.push_back(busy_links(traffic, model, tree, call, position, its));
    plan.streaming = std::max(plan.streaming,
                              streaming(fabric, tree, tree.switches[position], call, traffic, links.back(), host_rate));
  }
  for (std::size_t at = 0; at < links.size(); ++at)
    plan.switches[at].flows = flows_by_size(links[at], plan.streaming);
  if (fabric.packets().carries() && has_packets(call.movement))
    plan.packets = std::make_shared<TreePackets>(packets_of(fabric, tree, call, plan.base_latency, host_rate));
  return plan;
}

} // namespace weft
