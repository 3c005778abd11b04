// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/reduction_tree.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace weft {
namespace {

/** Vertex of the tree, host or switch. */
struct Node {
  VertexId vertex       = 0;
  int parent            = -1;    // position of the parent; -1: the root
  LinkId up             = 0;     // link to the parent
  int depth             = 0;     // number of links to the root
  std::int64_t messages = 0;     // messages sent to the parent
  std::int64_t inputs   = 0;     // messages received from the children
  std::int64_t members  = 0;     // members at this vertex or below
  int pipe              = -1;    // pipeline that the first child's messages enter; -1: not known yet
  bool pipes            = false; // true if contributions enter several pipelines
  Seconds combining;             // from the last contribution to the result
  MemberRange below;
  MemberDelays ways;
};

/** Predicate: whether a switch joins incoming messages into one. True for smart switches in a
 * reduction tree and for all switches in a multicast tree; called "smart" below. */
using IsSmart = std::function<bool(VertexId)>;

/** Resources used by other trees of the same call: links from hosts to switches, or rails, if there are several. */
struct Used {
  std::unordered_set<LinkId> links;
  std::set<int> rails;
};

/** Returns the next hop of @p host towards @p root: the topology's, or the first of equal cost over a link that no
 * other tree uses; nothing if all links are used. */
std::optional<Hop> first_hop(const Topology& topology, VertexId host, VertexId root,
                             const std::unordered_set<LinkId>& used)
{
  const Hop usual = topology.next_hop(host, root);
  if (not used.contains(usual.link))
    return usual;
  std::vector<Hop> hops;
  topology.equal_hops(host, root, hops);
  const auto free = std::ranges::find_if(hops, [&used](const Hop& hop) { return not used.contains(hop.link); });
  return free == hops.end() ? std::nullopt : std::optional(*free);
}

IsSmart smart_switches(const Fabric& fabric)
{
  return [&fabric](VertexId vertex) {
    return fabric.model_at(vertex).smart() && not fabric.topology().never_combines(vertex);
  };
}

/** Returns the smart ones among @p switches. */
std::vector<VertexId> smart_ones(const IsSmart& is_smart, std::vector<VertexId> switches)
{
  std::erase_if(switches, [&](VertexId vertex) { return not is_smart(vertex); });
  return switches;
}

/** Returns the smart switches on the members' routes to @p goal, without duplicates. */
std::vector<VertexId> smart_on_the_way(const FabricState& state, const IsSmart& is_smart,
                                       std::span<const VertexId> hosts, VertexId goal)
{
  std::vector<VertexId> found;
  Route route;
  for (const VertexId host : hosts) {
    route.clear();
    state.route(host, goal, route);
    found.insert(found.end(), route.through.begin(), route.through.end());
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return smart_ones(is_smart, std::move(found));
}

/** Returns the candidates for the root, in order of preference. */
std::vector<VertexId> possible_roots(const FabricState& state, const IsSmart& is_smart, std::span<const VertexId> hosts,
                                     std::size_t spread)
{
  const std::vector<VertexId> meeting = state.fabric().topology().meeting_switches(hosts);
  std::vector<VertexId> candidates    = smart_ones(is_smart, meeting);
  if (candidates.empty() && not meeting.empty())
    candidates = smart_on_the_way(state, is_smart, hosts, meeting[spread % meeting.size()]);
  if (not candidates.empty())
    std::ranges::rotate(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(spread % candidates.size()));
  return candidates;
}

/** Union of the routes of some hosts to a root. */
class RouteUnion {
  const Fabric& fabric_;
  const IsSmart& is_smart_;
  std::vector<Node> nodes_;
  std::unordered_map<VertexId, int> position_;

  int add(VertexId vertex)
  {
    const auto [entry, added] = position_.try_emplace(vertex, static_cast<int>(nodes_.size()));
    if (added)
      nodes_.emplace_back().vertex = vertex;
    return entry->second;
  }

public:
  RouteUnion(const Fabric& fabric, const IsSmart& is_smart, VertexId root) : fabric_(fabric), is_smart_(is_smart)
  {
    add(root);
  }

  /** Adds a host's route, which begins with @p first. Routing is destination-based, so the route stays in the tree from
   * where it meets it. */
  void add_way(VertexId host, const Hop& first, std::int64_t members)
  {
    int at                                        = add(host);
    nodes_[static_cast<std::size_t>(at)].messages = members;
    nodes_[static_cast<std::size_t>(at)].members  = members;
    while (at != 0 && nodes_[static_cast<std::size_t>(at)].parent < 0) {
      const VertexId vertex = nodes_[static_cast<std::size_t>(at)].vertex;
      const Hop hop         = vertex == host ? first : fabric_.topology().next_hop(vertex, nodes_[0].vertex);
      const int next        = add(hop.to);
      nodes_[static_cast<std::size_t>(at)].parent = next;
      nodes_[static_cast<std::size_t>(at)].up     = hop.link;
      at                                          = next;
    }
  }

  /** Returns all vertices, parents before their children, with messages and depths filled in. */
  std::vector<Node> finish() &&
  {
    std::vector<int> order = by_depth();
    for (const int at : std::views::reverse(order))
      send_up(nodes_[static_cast<std::size_t>(at)]);
    std::vector<int> rank(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      rank[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    std::vector<Node> sorted;
    sorted.reserve(nodes_.size());
    for (const int at : order) {
      Node node = nodes_[static_cast<std::size_t>(at)];
      if (node.parent >= 0)
        node.parent = rank[static_cast<std::size_t>(node.parent)];
      add_ways(node, sorted);
      sorted.push_back(node);
    }
    give_places(sorted);
    return sorted;
  }

private:
  std::vector<int> by_depth()
  {
    std::vector<int> order;
    order.reserve(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (int at = nodes_[i].parent; at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent)
        ++nodes_[i].depth;
      order.push_back(static_cast<int>(i));
    }
    std::ranges::stable_sort(order, [this](int a, int b) {
      return nodes_[static_cast<std::size_t>(a)].depth < nodes_[static_cast<std::size_t>(b)].depth;
    });
    return order;
  }

  void send_up(Node& node)
  {
    if (not fabric_.topology().is_host(node.vertex))
      node.messages = is_smart_(node.vertex) ? 1 : node.inputs;
    if (node.parent >= 0) {
      Node& parent = nodes_[static_cast<std::size_t>(node.parent)];
      if (not fabric_.topology().is_host(parent.vertex)) {
        const int pipe = fabric_.model_at(parent.vertex).pipe_of(fabric_.link(node.up).port);
        parent.pipes   = parent.pipes || (parent.pipe >= 0 && parent.pipe != pipe);
        parent.pipe    = pipe;
      }
      parent.inputs += node.messages;
      parent.members += node.members;
    }
  }

  void add_ways(Node& node, const std::vector<Node>& sorted) const
  {
    const bool host          = fabric_.topology().is_host(node.vertex);
    const SwitchModel* model = host ? nullptr : &fabric_.model_at(node.vertex);
    const Seconds forward    = host ? Seconds() : model->hop_latency();
    const Seconds combine    = model && is_smart_(node.vertex) ? model->combining_latency(node.pipes) : forward;
    node.combining           = combine;
    if (node.parent < 0) { // the root, always a smart switch
      node.ways = {combine, forward, Seconds(), Seconds()};
      return;
    }
    const MemberDelays& parent = sorted[static_cast<std::size_t>(node.parent)].ways;
    const Seconds up           = fabric_.link(node.up).latency;
    const Seconds down         = fabric_.link(reverse(node.up)).latency;
    node.ways                  = {parent.up_combined + up + combine, parent.up_forwarded + up + forward,
                                  parent.down_combined + down + combine, parent.down_forwarded + down + forward};
  }

  /** Assigns each subtree a contiguous range of its parent's positions. */
  static void give_places(std::vector<Node>& sorted)
  {
    std::vector<std::int64_t> taken(sorted.size()); // by node: positions assigned to its children so far
    for (std::size_t at = 0; at < sorted.size(); ++at) {
      Node& node = sorted[at];
      if (node.parent >= 0) {
        const auto parent = static_cast<std::size_t>(node.parent);
        node.below.first  = sorted[parent].below.first + taken[parent];
        taken[parent] += node.members;
      }
      node.below.last = node.below.first + node.members;
    }
  }
};

/** Assigns each link to the smart switch above it, and each rank's host to its first smart switch. */
class TreeMaker {
  const Fabric& fabric_;
  const IsSmart& is_smart_;
  const std::vector<Node>& nodes_;
  std::vector<int> owner_; // by node: position in tree_.switches of the smart switch at or above it
  ReductionTree tree_;

public:
  std::unordered_map<VertexId, const Node*> host_nodes;

  TreeMaker(const Fabric& fabric, const IsSmart& is_smart, const std::vector<Node>& nodes)
      : fabric_(fabric), is_smart_(is_smart), nodes_(nodes)
  {
  }

  ReductionTree make()
  {
    Seconds shortest{std::numeric_limits<double>::infinity()};
    for (const Node& node : nodes_) {
      const int above = node.parent < 0 ? -1 : owner_[static_cast<std::size_t>(node.parent)];
      if (above >= 0)
        tree_.switches[static_cast<std::size_t>(above)].links.push_back({node.up, node.messages, node.below});
      if (fabric_.topology().is_host(node.vertex))
        add_host(node, above, shortest);
      else if (is_smart_(node.vertex))
        add_switch(node, above);
      else
        owner_.push_back(above);
    }
    tree_.beyond_first = tree_.longest.up_combined + tree_.longest.down_forwarded - shortest;
    return std::move(tree_);
  }

  /** Returns the position of the smart switch above a host. */
  int entry(const Node& host) const { return owner_[static_cast<std::size_t>(host.parent)]; }

private:
  void add_switch(const Node& node, int above)
  {
    owner_.push_back(static_cast<int>(tree_.switches.size()));
    tree_.switches.push_back({node.vertex - fabric_.host_count(), above, {}, node.inputs, node.below, node.combining});
  }

  void add_host(const Node& node, int above, Seconds& shortest)
  {
    owner_.push_back(above);
    host_nodes.emplace(node.vertex, &node);
    MemberDelays& longest  = tree_.longest;
    longest.up_combined    = std::max(longest.up_combined, node.ways.up_combined);
    longest.up_forwarded   = std::max(longest.up_forwarded, node.ways.up_forwarded);
    longest.down_combined  = std::max(longest.down_combined, node.ways.down_combined);
    longest.down_forwarded = std::max(longest.down_forwarded, node.ways.down_forwarded);
    tree_.forwarding       = std::max(tree_.forwarding, node.ways.up_forwarded + node.ways.down_forwarded);

    // The round trip to the first smart switch, since a switch's turnaround is measured with a single switch.
    const VertexId first = tree_.switches[static_cast<std::size_t>(above)].index + fabric_.host_count();
    Seconds trip         = fabric_.model_at(first).processing_latency;
    const Node* at       = &node;
    while (at->vertex != first) {
      trip += fabric_.link(at->up).latency + fabric_.link(reverse(at->up)).latency;
      if (not fabric_.topology().is_host(at->vertex))
        trip += fabric_.model_at(at->vertex).hop_latency() * 2.0;
      at = &nodes_[static_cast<std::size_t>(at->parent)];
    }
    shortest = std::min(shortest, trip);
  }
};

/** Adds the routes of all members; returns whether each member has a route that no other tree uses. */
bool add_ways(RouteUnion& ways, const Topology& topology, VertexId root,
              const std::map<VertexId, std::int64_t>& members_at, const Used& used)
{
  if (used.rails.contains(topology.rail(root)))
    return false;
  for (const auto& [host, members] : members_at) {
    const std::optional<Hop> first = first_hop(topology, host, root, used.links);
    if (not first)
      return false;
    ways.add_way(host, *first, members);
  }
  return true;
}

/** Returns the union of the members' routes to the first root that all can reach by routes that no other tree uses;
 * empty if there is none. */
std::vector<Node> reachable_union(const FabricState& state, const IsSmart& is_smart, std::span<const VertexId> hosts,
                                  const std::map<VertexId, std::int64_t>& members_at, std::size_t spread,
                                  const Used& used)
{
  for (const VertexId root : possible_roots(state, is_smart, hosts, spread)) {
    RouteUnion ways(state.fabric(), is_smart, root);
    if (not add_ways(ways, state.fabric().topology(), root, members_at, used))
      continue;
    std::vector<Node> nodes = std::move(ways).finish();
    if (state.all_up() ||
        std::ranges::all_of(nodes, [&](const Node& node) { return node.parent < 0 || state.cable_is_up(node.up); }))
      return nodes;
  }
  return {};
}

TreeResult build_tree(const FabricState& state, const IsSmart& is_smart, std::span<const VertexId> hosts,
                      std::size_t spread, const Used& used = {})
{
  std::map<VertexId, std::int64_t> members_at;
  for (const VertexId host : hosts)
    ++members_at[host];
  if (members_at.size() == 1)
    return {std::nullopt, NoTree::one_host};
  std::vector<VertexId> once;
  once.reserve(members_at.size());
  for (const auto& [host, members] : members_at)
    once.push_back(host);

  const std::vector<Node> nodes = reachable_union(state, is_smart, once, members_at, spread, used);
  if (nodes.empty())
    return {std::nullopt, NoTree::no_common_switch};
  // If every contribution crosses a link separately, the root combines no better than a host could.
  const auto all = static_cast<std::int64_t>(hosts.size());
  for (const Node& node : nodes)
    if (node.parent >= 0 && node.messages == all)
      return {std::nullopt, NoTree::no_gain};

  TreeMaker maker(state.fabric(), is_smart, nodes);
  ReductionTree tree = maker.make();
  tree.epoch         = state.epoch();
  std::unordered_map<VertexId, std::int64_t> placed;
  for (const VertexId host : hosts) {
    const Node& node = *maker.host_nodes.at(host);
    tree.entry.push_back(maker.entry(node));
    tree.place.push_back(node.below.first + placed[host]++);
    tree.ways.push_back(node.ways);
    tree.members_a_nic = std::max(tree.members_a_nic, node.members);
  }
  return {std::move(tree), NoTree::no_common_switch};
}

/** Returns the links of a tree that leave hosts. */
std::unordered_set<LinkId> host_links(const Fabric& fabric, const ReductionTree& tree)
{
  std::unordered_set<LinkId> links;
  for (const TreeSwitch& node : tree.switches)
    for (const TreeLink& link : node.links)
      if (fabric.topology().is_host(fabric.link(link.up).from))
        links.insert(link.up);
  return links;
}

void count_sharing(std::vector<ReductionTree>& trees)
{
  std::unordered_map<int, int> at; // by switch: number of trees
  for (const ReductionTree& tree : trees)
    for (const TreeSwitch& node : tree.switches)
      ++at[node.index];
  for (ReductionTree& tree : trees)
    for (const TreeSwitch& node : tree.switches)
      tree.sharing = std::max(tree.sharing, at[node.index]);
}

} // namespace

TreeResult build_reduction_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread)
{
  return build_tree(state, smart_switches(state.fabric()), hosts, spread);
}

std::vector<ReductionTree> build_reduction_trees(const FabricState& state, std::span<const VertexId> hosts,
                                                 std::size_t spread, int most)
{
  const Fabric& fabric = state.fabric();
  const IsSmart smart  = smart_switches(fabric);
  std::vector<ReductionTree> trees;
  Used used;
  for (int number = 0; number < most; ++number) {
    TreeResult result = build_tree(state, smart, hosts, spread + static_cast<std::size_t>(number), used);
    if (not result.tree)
      break;
    if (fabric.topology().rails() > 1)
      used.rails.insert(fabric.topology().rail(result.tree->switches.front().index + fabric.host_count()));
    else
      used.links.merge(host_links(fabric, *result.tree));
    trees.push_back(std::move(*result.tree));
  }
  count_sharing(trees);
  return trees;
}

TreeResult build_multicast_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread)
{
  return build_tree(state, [](VertexId) { return true; }, hosts, spread);
}

} // namespace weft
