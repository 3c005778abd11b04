// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft {
namespace {

/** Bytes and packets of the blocks of the roots that stand before each place of a tree. */
class BeforePlaces {
  std::vector<double> bytes_;
  std::vector<double> packets_;

public:
  BeforePlaces(const MulticastModel& model, const MulticastGroup& group, const ReductionTree& tree,
               std::span<const MulticastRoot> roots, int number)
      : bytes_(tree.place.size() + 1), packets_(tree.place.size() + 1)
  {
    const int trees = static_cast<int>(group.trees.size());
    for (const MulticastRoot& root : roots) {
      const Bytes share = bytes_of(model, root.block, share_of_tree(chunks_of(model, root.block), number, trees));
      const auto member = static_cast<std::size_t>(group.member_of[static_cast<std::size_t>(root.rank)]);
      const auto place  = static_cast<std::size_t>(tree.place[member]);
      bytes_[place + 1] += share.value();
      packets_[place + 1] += model.packets(share);
    }
    for (std::size_t place = 1; place < bytes_.size(); ++place) {
      bytes_[place] += bytes_[place - 1];
      packets_[place] += packets_[place - 1];
    }
  }

  double bytes(const Below& below) const { return difference(bytes_, below); }
  double packets(const Below& below) const { return difference(packets_, below); }
  double all_bytes() const { return bytes_.back(); }
  double all_packets() const { return packets_.back(); }

private:
  static double difference(const std::vector<double>& before, const Below& below)
  {
    return before[static_cast<std::size_t>(below.last)] - before[static_cast<std::size_t>(below.first)];
  }
};

/** What a link carries. */
struct LinkLoad {
  FlowLink all; // trees together
  Bytes payload;
};

class Planner {
  const Fabric& fabric_;
  const MulticastModel& model_;
  const MulticastGroup& group_;
  std::span<const MulticastRoot> roots_;
  const EngineRates& rates_;
  std::vector<std::vector<FlowLink>> by_switch_; // of all trees
  std::map<LinkId, LinkLoad> loads_;
  Seconds busiest_;

public:
  Planner(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
          const EngineRates& rates)
      : fabric_(fabric), model_(fabric.multicast()), group_(group), roots_(roots), rates_(rates)
  {
  }

  MulticastPlan make()
  {
    MulticastPlan plan;
    for (int number = 0; std::cmp_less(number, group_.trees.size()); ++number)
      add_tree(number, plan);
    for (const auto& [id, load] : loads_) {
      plan.links.push_back(load.all);
      plan.payloads.push_back(load.payload);
      busiest_ = std::max(busiest_, time_on(fabric_, load.all));
    }
    for (const MulticastRoot& root : roots_)
      busiest_ = std::max(busiest_, root.block / rates_.send);
    plan.injection = busiest_;
    for (const std::vector<FlowLink>& links : by_switch_)
      for (StreamFlow& flow : flows_by_size(links, busiest_))
        plan.flows.push_back(std::move(flow));
    return plan;
  }

private:
  void add_tree(int number, MulticastPlan& plan)
  {
    const ReductionTree& tree = group_.trees[static_cast<std::size_t>(number)];
    const BeforePlaces before(model_, group_, tree, roots_, number);
    if (before.all_bytes() == 0)
      return;
    for (const TreeSwitch& node : tree.switches) {
      by_switch_.emplace_back();
      for (const TreeLink& link : node.links) {
        const double bytes   = before.bytes(link.below);
        const double packets = before.packets(link.below);
        add_link(link.up, bytes, packets, link);
        add_link(reverse(link.up), before.all_bytes() - bytes, before.all_packets() - packets, link);
      }
    }
    for (const MulticastRoot& root : roots_) {
      const auto member = static_cast<std::size_t>(group_.member_of[static_cast<std::size_t>(root.rank)]);
      const Seconds way = tree.ways[member].up_forwarded + tree.longest.down_forwarded;
      const Bytes one   = std::min(root.block, model_.chunk);
      plan.way          = std::max(plan.way, way * fabric_.segment(one).latency_factor);
    }
    plan.forwarding = std::max(plan.forwarding, tree.forwarding);
  }

  void add_link(LinkId id, double bytes, double packets, const TreeLink& link)
  {
    if (bytes <= 0)
      return;
    const double wire = bytes + model_.packet_overhead.value() * packets;
    FlowLink flow_link{id, 1, Bytes(wire), packets};
    const bool to_host = fabric_.topology().is_host(fabric_.link(id).to);
    if (to_host && std::isfinite(rates_.receive.value())) {
      // All ranks there, each with workers of its own work, share the engine.
      flow_link.receivers = ranks_below(link.below);
      busiest_            = std::max(busiest_, Bytes(bytes * flow_link.receivers) / rates_.receive);
    }
    by_switch_.back().push_back(flow_link);
    LinkLoad& load = loads_.try_emplace(id, LinkLoad{{id, 1, Bytes()}, Bytes()}).first->second;
    load.payload += Bytes(bytes);
    load.all.wire += Bytes(wire);
    load.all.packets += packets;
  }

  /** A cable has one host below it; its place in all trees belongs to the same member. */
  int ranks_below(const Below& below) const
  {
    const ReductionTree& tree = group_.trees.front();
    for (std::size_t member = 0; member < tree.place.size(); ++member)
      if (below.contains(tree.place[member]))
        return group_.ranks_at[member];
    return 1;
  }
};

/** The position in a tree of the switch below the root through which one is reached; the root's is its own. */
int below_root(const ReductionTree& tree, int position)
{
  while (position != 0 && tree.switches[static_cast<std::size_t>(position)].parent != 0)
    position = tree.switches[static_cast<std::size_t>(position)].parent;
  return position;
}

} // namespace

GroupResult make_multicast_group(const FabricState& state, std::span<const VertexId> rank_hosts, std::size_t spread)
{
  MulticastGroup group;
  std::map<VertexId, int> member_at;
  std::vector<VertexId> hosts;
  for (const VertexId host : rank_hosts) {
    const auto [entry, added] = member_at.try_emplace(host, static_cast<int>(hosts.size()));
    if (added) {
      hosts.push_back(host);
      group.ranks_at.push_back(0);
    }
    group.member_of.push_back(entry->second);
    ++group.ranks_at[static_cast<std::size_t>(entry->second)];
  }
  for (int tree = 0; tree < state.fabric().multicast().trees; ++tree) {
    TreeResult result = build_multicast_tree(state, hosts, spread + static_cast<std::size_t>(tree));
    if (not result.tree)
      return {std::nullopt, result.obstacle};
    group.trees.push_back(std::move(*result.tree));
  }
  const ReductionTree& first = group.trees.front();
  for (const int member : group.member_of) {
    const int rack = first.entry[static_cast<std::size_t>(member)];
    group.rack_of.push_back(rack);
    group.pod_of.push_back(below_root(first, rack));
  }
  return {std::move(group), NoTree::no_common_switch};
}

std::int64_t chunks_of(const MulticastModel& model, Bytes block)
{
  return static_cast<std::int64_t>(std::ceil(block / model.chunk));
}

ChunkRun share_of_tree(std::int64_t chunks, int tree, int trees)
{
  const std::int64_t first = chunks * tree / trees;
  return {first, chunks * (tree + 1) / trees - first};
}

Bytes bytes_of(const MulticastModel& model, Bytes block, ChunkRun run)
{
  const auto bound = [&](std::int64_t chunk) { return std::min(model.chunk * static_cast<double>(chunk), block); };
  return bound(run.first + run.count) - bound(run.first);
}

EngineRates engine_rates(const Fabric& fabric)
{
  const auto& engine              = fabric.progress_engine();
  const MulticastModel& multicast = fabric.multicast();
  if (not engine)
    return {};
  return {engine->send_rate(multicast.transport, multicast.chunk),
          engine->receive_rate(multicast.transport, multicast.chunk)};
}

MulticastPlan plan_multicast(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
                             const EngineRates& rates)
{
  return Planner(fabric, group, roots, rates).make();
}

} // namespace weft
