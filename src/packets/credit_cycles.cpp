// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/credit_cycles.hpp"

#include "base/error.hpp"
#include "fabric/forwarding_state.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace weft {
namespace {

/** Links on which each link depends. */
class LinkDependencies {
  std::vector<std::vector<LinkId>> onward_; // by link

  enum class Mark : std::uint8_t { unseen, open, closed };

public:
  explicit LinkDependencies(std::size_t links) : onward_(links) {}

  void add(LinkId link, LinkId onward)
  {
    std::vector<LinkId>& all = onward_[static_cast<std::size_t>(link)];
    if (std::ranges::find(all, onward) == all.end())
      all.push_back(onward);
  }

  /** Returns the first cycle that a depth-first search finds. */
  std::vector<LinkId> find_cycle() const
  {
    std::vector<Mark> marks(onward_.size(), Mark::unseen);
    std::vector<std::pair<LinkId, std::size_t>> path; // with the next dependency to follow
    for (std::size_t start = 0; start < onward_.size(); ++start) {
      if (marks[start] == Mark::unseen)
        path.emplace_back(static_cast<LinkId>(start), 0);
      while (not path.empty()) {
        auto& [link, at] = path.back();
        Mark& mark       = marks[static_cast<std::size_t>(link)];
        const auto& next = onward_[static_cast<std::size_t>(link)];
        mark             = Mark::open;
        if (at == next.size()) {
          mark = Mark::closed;
          path.pop_back();
          continue;
        }
        const LinkId onward = next[at++];
        if (marks[static_cast<std::size_t>(onward)] == Mark::open)
          return cycle_from(path, onward);
        if (marks[static_cast<std::size_t>(onward)] == Mark::unseen)
          path.emplace_back(onward, 0);
      }
    }
    return {};
  }

private:
  static std::vector<LinkId> cycle_from(const std::vector<std::pair<LinkId, std::size_t>>& path, LinkId first)
  {
    std::vector<LinkId> cycle;
    auto at = std::ranges::find(path, first, [](const auto& step) { return step.first; });
    for (; at != path.end(); ++at)
      cycle.push_back(at->first);
    return cycle;
  }
};

/** Walks from all hosts towards one. */
class RoutesTo {
  const Topology& topology_;
  const bool equal_;
  std::vector<int> visited_; // by vertex: the destination for which it was visited last, plus one
  std::vector<VertexId> open_;
  std::vector<Hop> here_;
  std::vector<Hop> there_;

  void find(VertexId at, VertexId to, std::vector<Hop>& into) const
  {
    into.clear();
    if (equal_)
      topology_.equal_hops(at, to, into);
    else
      into.push_back(topology_.next_hop(at, to));
  }

public:
  RoutesTo(const Topology& topology, bool equal)
      : topology_(topology), equal_(equal),
        visited_(static_cast<std::size_t>(topology.host_count() + topology.switch_count()))
  {
  }

  void add(VertexId to, LinkDependencies& dependencies)
  {
    for (VertexId host = 0; host < topology_.host_count(); ++host)
      if (host != to)
        visit(host, to);
    while (not open_.empty()) {
      const VertexId at = open_.back();
      open_.pop_back();
      find(at, to, here_);
      for (const Hop& hop : here_) {
        if (hop.to == to)
          continue;
        visit(hop.to, to);
        find(hop.to, to, there_);
        for (const Hop& onward : there_)
          dependencies.add(hop.link, onward.link);
      }
    }
  }

private:
  void visit(VertexId vertex, VertexId to)
  {
    int& seen = visited_[static_cast<std::size_t>(vertex)];
    if (seen == to + 1)
      return;
    seen = to + 1;
    open_.push_back(vertex);
  }
};

/** Routes of trees go up, then down: no link up depends on a link down. */
bool is_tree(const Fabric& fabric)
{
  return fabric.topology_kind() == "star" || fabric.topology_kind() == "fat_tree";
}

[[noreturn]] void refuse_packets(const Fabric& fabric, const std::string& key, const std::string& why)
{
  throw UserError(fabric.file() + ": [network] model: found \"packets\", but " + key + " " + why +
                  R"(; allowed: without it, or model = "flows")");
}

} // namespace

std::vector<LinkId> find_credit_cycle(const Topology& topology, std::size_t links, bool equal)
{
  LinkDependencies dependencies(links);
  RoutesTo routes(topology, equal);
  for (VertexId to = 0; to < topology.host_count(); ++to)
    routes.add(to, dependencies);
  return dependencies.find_cycle();
}

void check_packets(const Fabric& fabric)
{
  if (fabric.sprays())
    refuse_packets(fabric, R"([routing] policy = "spray")", "spreads flows over pools of links");
  if (not fabric.shared().empty())
    refuse_packets(fabric, "[[shared]]", "is bandwidth that only flows share");
  if (fabric.sharing() != LinkSharing::flow)
    refuse_packets(fabric, "[link] sharing = \"" + std::string(to_text(fabric.sharing())) + "\"",
                   "is a share of flows");
  if (ForwardingState::needed(fabric))
    refuse_packets(fabric, "[switch.forwarding]", "is modelled for flows only");
  if (fabric.packets().flow_control == FlowControl::none || is_tree(fabric))
    return;
  if (fabric.topology().has_detours() && not fabric.routing().is_static() &&
      not fabric.routing().policy.starts_with("ecmp"))
    refuse_packets(fabric, "[routing] policy = \"" + fabric.routing().policy + "\"",
                   "takes detours, which can deadlock lossless links without virtual lanes");
  const std::vector<LinkId> cycle =
      find_credit_cycle(fabric.topology(), fabric.links().size(), not fabric.routing().is_static());
  if (cycle.empty())
    return;
  constexpr std::size_t MOST_NAMED = 8;
  std::string names;
  for (std::size_t at = 0; at < std::min(MOST_NAMED, cycle.size()); ++at)
    names += fabric.link(cycle[at]).name + ", ";
  if (cycle.size() > MOST_NAMED)
    names += std::to_string(cycle.size() - MOST_NAMED) + " more, ";
  throw UserError(
      fabric.file() + ": [network] flow_control: found \"" + std::string(to_text(fabric.packets().flow_control)) +
      "\", with which routes can deadlock: packets on each of these links may wait for the next one: " + names +
      "and again " + fabric.link(cycle.front()).name + R"(; allowed: flow_control = "none")");
}

} // namespace weft
