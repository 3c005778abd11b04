// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream_packets.hpp"

#include "collective/in_network/stream.hpp"
#include "model/switch/streaming.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

using Crossing = TreePackets::Crossing;

constexpr BytesPerSecond UNLIMITED{std::numeric_limits<double>::infinity()};

/** Finds the edges of a tree. */
class Edges {
  const Fabric& fabric_;
  const ReductionTree& tree_;
  const TreeCall& call_;
  std::unordered_map<VertexId, int> switches_; // position by vertex
  TreePackets& packets_;

public:
  Edges(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, TreePackets& packets)
      : fabric_(fabric), tree_(tree), call_(call), packets_(packets)
  {
    for (std::size_t position = 0; position < tree.switches.size(); ++position)
      switches_.emplace(vertex(position), static_cast<int>(position));
  }

  void find()
  {
    for (std::size_t position = 0; position < tree_.switches.size(); ++position) {
      const TreeSwitch& node   = tree_.switches[position];
      const SwitchModel& model = fabric_.switch_model(node.index);
      const bool streams       = call_.streams_through(model);
      packets_.switches.push_back({vertex(position), {}, node.combining, streams ? UNLIMITED : model.aggregation_rate});
    }
    for (std::size_t position = 0; position < tree_.switches.size(); ++position)
      find_below(static_cast<int>(position));
  }

private:
  VertexId vertex(std::size_t position) const { return tree_.switches[position].index + fabric_.host_count(); }

  /** Finds the edges between a switch and the switches and members below it. */
  void find_below(int position)
  {
    const TreeSwitch& node = tree_.switches[static_cast<std::size_t>(position)];
    std::unordered_map<VertexId, LinkId> above;
    for (const TreeLink& link : node.links)
      above.emplace(fabric_.link(link.up).from, link.up);
    for (const TreeLink& link : node.links) {
      const VertexId from = fabric_.link(link.up).from;
      const auto its      = switches_.find(from);
      const bool member   = fabric_.topology().is_host(from);
      if (not member && its == switches_.end())
        continue; // a switch that only forwards
      TreePackets::Edge edge{position, {}, Crossing::both};
      for (VertexId at = from; at != vertex(static_cast<std::size_t>(position));
           at          = fabric_.link(edge.links.back()).to)
        edge.links.push_back(above.at(at));
      if (not member) {
        edge.crossing                                                 = crossing(link.below);
        packets_.switches[static_cast<std::size_t>(its->second)].edge = std::move(edge);
        continue;
      }
      for (std::int64_t one = link.below.first; one < link.below.last; ++one) {
        edge.crossing = crossing({one, one + 1});
        packets_.members.push_back(edge);
      }
    }
  }

  /** Returns in which directions packets cross an edge with members @p below. */
  Crossing crossing(const MemberRange& below) const
  {
    if (not call_.movement.rooted())
      return Crossing::both;
    const bool has_root = below.contains(tree_.place[static_cast<std::size_t>(call_.root)]);
    const bool to_root  = call_.movement.receivers == Participants::root;
    return has_root == to_root ? Crossing::down : Crossing::up;
  }
};

} // namespace

bool has_packets(const Movement& movement)
{
  return not movement.in_parts();
}

bool can_resend(const Movement& movement)
{
  return movement.combines && not movement.rooted();
}

TreePackets packets_of(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, Seconds base_latency,
                       BytesPerSecond host_rate)
{
  if (not has_packets(call.movement))
    throw std::logic_error("packets of parts and blocks cross only some links of a tree");
  TreePackets packets;
  Edges(fabric, tree, call, packets).find();
  SwitchModel model = fabric.switch_model(tree.switches.front().index); // with the fewest slots
  for (const TreeSwitch& node : tree.switches)
    if (const SwitchModel& its = fabric.switch_model(node.index); its.slots < model.slots)
      model = its;
  const std::int64_t whole = packet_train(model, call.message).packets;
  packets.combines         = call.movement.combines;
  packets.packets          = std::max<std::int64_t>(whole, 1);
  packets.payload          = std::min(call.message, model.payload);
  packets.last_payload     = call.message - model.payload * static_cast<double>(packets.packets - 1);
  packets.overhead         = model.packet_overhead;
  packets.member_rate      = host_rate;
  packets.delay            = base_latency - longest_way(tree, call);
  if (packets.combines && not call.streams_through(model)) {
    const int sharing = std::min(tree.sharing, call.trees); // trees of the call that share a switch's slots
    packets.window    = std::max(1, model.slots / sharing);
    packets.reuse     = model.turnaround + tree.beyond_first;
  }
  return packets;
}

} // namespace weft
