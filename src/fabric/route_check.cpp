// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/route_check.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace weft {
namespace {

/** Checks routes one at a time and throws UserError on the first invalid one. */
class RouteChecker {
  const Fabric& fabric_;
  Route route_;
  std::vector<std::int64_t> visited_; // by vertex: number of the last route that visited it
  std::int64_t routes_ = 0;
  bool direct_         = false; // some hosts are connected directly

  [[noreturn]] void fail(VertexId from, VertexId to, const std::string& problem) const
  {
    const Topology& topology = fabric_.topology();
    throw UserError("fabric " + fabric_.name() + ": the route from " + topology.vertex_name(from) + " to " +
                    topology.vertex_name(to) + " " + problem);
  }

public:
  explicit RouteChecker(const Fabric& fabric)
      : fabric_(fabric), visited_(static_cast<std::size_t>(fabric.host_count() + fabric.switch_count()), -1)
  {
  }
  std::int64_t routes() const { return routes_; }
  bool direct() const { return direct_; }

  void check(VertexId from, VertexId to)
  {
    const Topology& topology = fabric_.topology();
    route_.clear();
    fabric_.route(from, to, route_);
    VertexId at                              = from;
    visited_[static_cast<std::size_t>(from)] = routes_;
    for (const LinkId id : route_.links) {
      if (id < 0 || static_cast<std::size_t>(id) >= fabric_.links().size())
        fail(from, to, "takes a cable that does not exist");
      const Link& link = fabric_.link(id);
      if (link.from != at)
        fail(from, to, "takes " + link.name + " from " + topology.vertex_name(at) + ", where it does not begin");
      at = link.to;
      if (visited_[static_cast<std::size_t>(at)] == routes_)
        fail(from, to, "visits " + topology.vertex_name(at) + " twice");
      visited_[static_cast<std::size_t>(at)] = routes_;
      if (topology.is_host(at) && at != to && not topology.hosts_forward())
        fail(from, to, "passes through the host " + topology.vertex_name(at));
    }
    if (at != to)
      fail(from, to, "ends at " + topology.vertex_name(at));
    if (topology.is_host(from) && topology.is_host(to)) {
      direct_ = direct_ || route_.through.empty();
      if (static_cast<int>(route_.links.size()) > topology.diameter())
        fail(from, to,
             "has " + std::to_string(route_.links.size()) + " links, and the topology's diameter is " +
                 std::to_string(topology.diameter()));
    }
    ++routes_;
  }
};

} // namespace

namespace {

/** Checks the hashes of forwarding caches and returns a summary of the proof; empty without caches. */
std::string check_hashes(const Fabric& fabric)
{
  constexpr std::int64_t MOST_PAIRS = 32'000'000;
  std::vector<std::pair<const ForwardingHash*, std::vector<int>>> switches;
  for (int index = 0; index < fabric.switch_count(); ++index)
    if (const ForwardingHash* const hash = fabric.forwarding_hash(index)) {
      auto found = std::ranges::find(switches, hash, &decltype(switches)::value_type::first);
      if (found == switches.end())
        found = switches.insert(found, {hash, {}});
      found->second.push_back(index);
    }
  std::string text;
  for (const auto& [hash, all] : switches) {
    const auto step = static_cast<std::size_t>(1 + std::ssize(all) * fabric.host_count() / MOST_PAIRS);
    std::vector<int> some;
    for (std::size_t at = 0; at < all.size(); at += step)
      some.push_back(all[at]);
    const HashProof proof = prove(*hash, fabric.topology(), some);
    if (proof.misroute)
      throw UserError(fabric.name() + ": switch " + fabric.topology().switch_name(proof.misroute->switch_index) +
                      ": hosts " + fabric.topology().host_name(proof.misroute->one) + " and " +
                      fabric.topology().host_name(proof.misroute->other) + " have one tag of the hash " + hash->name() +
                      " but leave by two ports; use hash = \"crc\"");
    text += "\nhash " + hash->name() + " of forwarding caches: " + grouped(proof.pairs) +
            " pairs of a switch and a host" +
            (step > 1 ? ", every " + grouped(static_cast<std::int64_t>(step)) + "th switch" : "") +
            ": equal tags leave by the same port; at most " + grouped(proof.most_tags) + " tags at a switch";
  }
  return text;
}

} // namespace

std::string check(const Fabric& fabric)
{
  constexpr int ALL_PAIRS_LIMIT  = 1024;
  constexpr int SAMPLED_PARTNERS = 16;
  constexpr unsigned SEED        = 1;
  const int hosts                = fabric.host_count();
  const bool all                 = hosts <= ALL_PAIRS_LIMIT;
  RouteChecker checker(fabric);
  std::mt19937 random(SEED);
  for (VertexId from = 0; from < hosts; ++from) {
    for (int step = 1; step <= (all ? hosts - 1 : SAMPLED_PARTNERS); ++step) {
      const int distance = all ? step : 1 + static_cast<int>(random() % static_cast<unsigned>(hosts - 1));
      checker.check(from, (from + distance) % hosts);
    }
  }
  const std::int64_t pairs = checker.routes();
  for (int index = 0; index < fabric.switch_count(); ++index) {
    const auto host = static_cast<VertexId>(random() % static_cast<unsigned>(hosts));
    checker.check(host, hosts + index);
    checker.check(hosts + index, host);
  }
  return grouped(pairs) + (all ? " routes, every pair of hosts" : " routes, a seeded sample of every host's") +
         ", and to and from each of " + grouped(fabric.switch_count()) +
         (fabric.switch_count() == 1 ? " switch" : " switches") +
         ": each is connected end to end over existing cables, visits nothing twice, passes a switch" +
         (checker.direct() ? " or is one cable between two hosts," : "") + " and has at most " +
         std::to_string(fabric.topology().diameter()) + " links" + check_hashes(fabric);
}

} // namespace weft
