// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace weft {
namespace {

/** Prefix sums over the places of a tree: bytes and packets of the roots' blocks. */
class PrefixSums {
  std::vector<double> bytes_;
  std::vector<double> packets_;

public:
  PrefixSums(const MulticastModel& model, const MulticastGroup& group, const ReductionTree& tree,
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

  double bytes(const MemberRange& below) const { return difference(bytes_, below); }
  double packets(const MemberRange& below) const { return difference(packets_, below); }
  double all_bytes() const { return bytes_.back(); }
  double all_packets() const { return packets_.back(); }

private:
  static double difference(const std::vector<double>& before, const MemberRange& below)
  {
    return before[static_cast<std::size_t>(below.last)] - before[static_cast<std::size_t>(below.first)];
  }
};

/** Directed link of a tree, and its load. */
struct Branch {
  FlowLink link;
  Bytes payload;
  Seconds pace;      ///< time to carry the load, no less than that of the links that feed it
  Seconds switching; ///< the same without the cables of roots
  std::size_t flow;  ///< index in the plan
};

/** Load of a link over all trees. */
struct LinkLoad {
  FlowLink link;
  Bytes payload;
};
using LinkLoads = std::map<LinkId, LinkLoad>;

/** Plans the flows over one tree. */
class TreePlanner {
  const Fabric& fabric_;
  const MulticastGroup& group_;
  const int number_; // of the tree
  const ReductionTree& tree_;
  std::span<const MulticastRoot> roots_;
  const PrefixSums before_;
  const LinkUse& use_;
  const LinkLoads& loads_;
  MulticastPlan& plan_;
  std::map<VertexId, std::size_t> position_;       // by switch of the tree
  std::vector<int> member_at_;                     // by place
  std::vector<std::vector<std::size_t>> roots_at_; // by member
  std::map<double, Seconds> longest_up_;           // longest path of the roots, by the latency factor of their chunks
  std::vector<std::vector<Branch>> up_;            // by position: loaded links from below
  std::vector<std::optional<Branch>> down_;        // by position: link from above

  /** Flows of one switch and direction, by the properties that their links share. */
  using Groups = std::map<std::tuple<double, double, double>, std::size_t>;

  const TreeSwitch& node(std::size_t position) const { return tree_.switches[position]; }

  std::optional<Branch> branch(LinkId id, double bytes, double packets) const
  {
    if (bytes <= 0)
      return std::nullopt;
    const Bytes wire(bytes + fabric_.multicast().packet_overhead.value() * packets);
    return Branch{{id, 1, wire, packets}, Bytes(bytes), Seconds(), Seconds(), 0};
  }
  std::optional<Branch> up(const TreeLink& link) const
  {
    return branch(link.up, before_.bytes(link.below), before_.packets(link.below));
  }
  std::optional<Branch> down(const TreeLink& link) const
  {
    return branch(reverse(link.up), before_.all_bytes() - before_.bytes(link.below),
                  before_.all_packets() - before_.packets(link.below));
  }

  /** Returns the time in which an otherwise idle link carries its load. */
  Seconds time_of(const Branch& branch) const { return time_on(fabric_, loads_.at(branch.link.link).link); }

  int member_of(const MulticastRoot& root) const { return group_.member_of[static_cast<std::size_t>(root.rank)]; }
  /** Returns the member behind a host's cable. */
  int member_below(const TreeLink& link) const { return member_at_[static_cast<std::size_t>(link.below.first)]; }

  /** Returns the time in which the progress engines of a member's roots send their blocks. */
  Seconds sending(int member) const
  {
    Seconds longest;
    for (const std::size_t root : roots_at_[static_cast<std::size_t>(member)])
      longest = std::max(longest, roots_[root].block / roots_[root].send_rate);
    return longest;
  }

  /** Adds @p branch, which by itself takes @p own, to the flow of equal branches. */
  void join(Branch& branch, Seconds own, Groups& groups)
  {
    const auto key             = std::tuple(branch.link.wire.value(), branch.pace.value(), use_(branch.link.link));
    const auto [found, is_new] = groups.try_emplace(key, plan_.flows.size());
    branch.flow                = found->second;
    if (is_new) {
      const Bytes wire(std::max(1.0, std::floor(branch.link.wire.value()))); // SimGrid needs a positive integer
      plan_.flows.push_back({{{}, wire, wire / branch.pace}, {}, number_, own});
      plan_.members.emplace_back();
    }
    plan_.flows[branch.flow].flow.links.push_back(branch.link);
  }

  void follow(const Branch& branch, std::size_t feeding)
  {
    std::vector<std::size_t>& after = plan_.flows[branch.flow].after;
    if (feeding != branch.flow && std::ranges::find(after, feeding) == after.end())
      after.push_back(feeding);
  }

  /** Adds the upward branches; children are ordered after their parents. */
  void add_ups()
  {
    up_.resize(tree_.switches.size());
    for (std::size_t position = tree_.switches.size(); position-- > 0;) {
      Groups groups;
      for (const TreeLink& link : node(position).links) {
        std::optional<Branch> its = up(link);
        if (not its)
          continue;
        add_up(*its, link, groups);
        up_[position].push_back(*its);
      }
    }
  }

  void add_up(Branch& its, const TreeLink& link, Groups& groups)
  {
    const VertexId below = fabric_.link(link.up).from;
    if (fabric_.topology().is_host(below)) {
      its.pace = std::max(time_of(its), sending(member_below(link)));
      join(its, its.pace, groups);
      for (const std::size_t root : roots_at_[static_cast<std::size_t>(member_below(link))])
        plan_.leaving[root].push_back(its.flow);
      return;
    }
    std::vector<const Branch*> feeding;
    for (const Branch& one : up_[position_.at(below)])
      feeding.push_back(&one);
    pass_on(its, feeding, groups);
  }

  /** Adds a branch that a switch feeds from @p feeding. */
  void pass_on(Branch& its, const std::vector<const Branch*>& feeding, Groups& groups)
  {
    its.pace = its.switching = time_of(its);
    for (const Branch* one : feeding) {
      its.pace      = std::max(its.pace, one->pace);
      its.switching = std::max(its.switching, one->switching);
    }
    join(its, time_of(its), groups);
    for (const Branch* one : feeding)
      follow(its, one->flow);
  }

  /** Adds the downward branches: each carries all that enters its switch by other links. */
  void add_downs()
  {
    down_.resize(tree_.switches.size());
    for (std::size_t position = 0; position < tree_.switches.size(); ++position) {
      Groups groups;
      for (const TreeLink& link : node(position).links) {
        std::optional<Branch> its = down(link);
        if (its)
          add_down(*its, link, position, groups);
      }
    }
  }

  void add_down(Branch& its, const TreeLink& link, std::size_t position, Groups& groups)
  {
    std::vector<const Branch*> feeding;
    if (down_[position])
      feeding.push_back(&*down_[position]);
    for (const Branch& up : up_[position])
      if (up.link.link != link.up)
        feeding.push_back(&up);
    pass_on(its, feeding, groups);
    const VertexId below = fabric_.link(link.up).from;
    if (fabric_.topology().is_host(below))
      add_arrival(member_below(link), its);
    else
      down_[position_.at(below)] = its;
  }

  void add_arrival(int member, const Branch& branch)
  {
    Seconds way;
    for (const auto& [factor, up] : longest_up_)
      way = std::max(way, (up + tree_.ways[static_cast<std::size_t>(member)].down_forwarded) * factor);
    MulticastArrival& its = plan_.arrivals[static_cast<std::size_t>(member)];
    its.way               = std::max(its.way, way);
    its.wire += branch.link.wire;
    its.switching = std::max(its.switching, branch.switching);
    ++its.flows;
    plan_.members[branch.flow].push_back(member);
  }

public:
  TreePlanner(const Fabric& fabric, const MulticastGroup& group, int number, std::span<const MulticastRoot> roots,
              const LinkUse& use, const LinkLoads& loads, MulticastPlan& plan)
      : fabric_(fabric), group_(group), number_(number), tree_(group.trees[static_cast<std::size_t>(number)]),
        roots_(roots), before_(fabric.multicast(), group, tree_, roots, number), use_(use), loads_(loads), plan_(plan)
  {
    for (std::size_t position = 0; position < tree_.switches.size(); ++position)
      position_.emplace(fabric.host_count() + node(position).index, position);
    member_at_.resize(tree_.place.size());
    for (std::size_t member = 0; member < tree_.place.size(); ++member)
      member_at_[static_cast<std::size_t>(tree_.place[member])] = static_cast<int>(member);
    roots_at_.resize(tree_.place.size());
    for (std::size_t root = 0; root < roots.size(); ++root)
      roots_at_[static_cast<std::size_t>(member_of(roots[root]))].push_back(root);
    for (const MulticastRoot& root : roots) {
      const double factor = fabric.segment(std::min(root.block, fabric.multicast().chunk)).latency_factor;
      Seconds& longest    = longest_up_[factor];
      longest             = std::max(longest, tree_.ways[static_cast<std::size_t>(member_of(root))].up_forwarded);
    }
  }

  /** Adds the loads of the tree's links to @p loads. */
  void add_to(LinkLoads& loads) const
  {
    for (const TreeSwitch& its : tree_.switches)
      for (const TreeLink& link : its.links)
        for (const std::optional<Branch>& branch : {up(link), down(link)})
          if (branch) {
            LinkLoad& load =
                loads.try_emplace(branch->link.link, LinkLoad{{branch->link.link, 1, Bytes()}, Bytes()}).first->second;
            load.link.wire += branch->link.wire;
            load.link.packets += branch->link.packets;
            load.payload += branch->payload;
          }
  }

  void make()
  {
    if (before_.all_bytes() == 0)
      return;
    plan_.forwarding = std::max(plan_.forwarding, tree_.forwarding);
    add_ups();
    add_downs();
  }
};

/** Returns the position of the root's child through which the switch at @p position is reached; the root's is its own.
 */
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
  group.epoch = state.epoch();
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

MulticastPlan plan_multicast(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
                             const LinkUse& use)
{
  MulticastPlan plan;
  plan.epoch = group.epoch;
  plan.leaving.resize(roots.size());
  plan.arrivals.resize(group.ranks_at.size());
  LinkLoads loads;
  std::vector<TreePlanner> trees;
  for (int number = 0; std::cmp_less(number, group.trees.size()); ++number)
    trees.emplace_back(fabric, group, number, roots, use, loads, plan).add_to(loads);
  for (TreePlanner& tree : trees)
    tree.make();
  for (const auto& [id, load] : loads) {
    plan.links.push_back(load.link);
    plan.payloads.push_back(load.payload);
  }
  return plan;
}

} // namespace weft
