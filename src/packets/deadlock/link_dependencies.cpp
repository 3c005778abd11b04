// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/deadlock/link_dependencies.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft {
namespace {

enum class Mark : std::uint8_t { unseen, open, closed };

std::vector<LinkId> cycle_from(const std::vector<std::pair<LinkId, std::size_t>>& path, LinkId first)
{
  std::vector<LinkId> cycle;
  auto at = std::ranges::find(path, first, [](const auto& step) { return step.first; });
  for (; at != path.end(); ++at)
    cycle.push_back(at->first);
  return cycle;
}

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
    append_hops(topology_, equal_, at, to, into);
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

} // namespace

void append_hops(const Topology& topology, bool equal, VertexId at, VertexId to, std::vector<Hop>& into)
{
  if (equal)
    topology.equal_hops(at, to, into);
  else
    into.push_back(topology.next_hop(at, to));
}

LinkDependencies LinkDependencies::of(const Topology& topology, std::size_t links, bool equal)
{
  LinkDependencies all(links);
  RoutesTo routes(topology, equal);
  for (VertexId to = 0; to < topology.host_count(); ++to)
    routes.add(to, all);
  return all;
}

void LinkDependencies::add(LinkId link, LinkId onward)
{
  std::vector<LinkId>& all = onward_[static_cast<std::size_t>(link)];
  if (std::ranges::find(all, onward) == all.end())
    all.push_back(onward);
}

std::vector<LinkId> LinkDependencies::find_cycle() const
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

} // namespace weft
