// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/deadlock/credit_cycles.hpp"

#include "base/error.hpp"
#include "fabric/forwarding_state.hpp"
#include "packets/deadlock/link_dependencies.hpp"
#include "packets/deadlock/virtual_lanes.hpp"

#include <algorithm>
#include <string>

namespace weft {
namespace {

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

/** Throws UserError if a fabric has too few virtual lanes for its routes. */
void check_lanes(const Fabric& fabric)
{
  const int lanes = fabric.packets().lanes;
  const int least = VirtualLanes(fabric).least();
  if (lanes < least)
    throw UserError(fabric.file() + ": [network] lanes: found " + std::to_string(lanes) + ", with which routes by \"" +
                    fabric.routing().policy + "\" can deadlock; allowed: " + std::to_string(least) +
                    R"( or more, or flow_control = "none")");
}

} // namespace

std::vector<LinkId> find_credit_cycle(const Topology& topology, std::size_t links, bool equal)
{
  return LinkDependencies::of(topology, links, equal).find_cycle();
}

void check_packets(const Fabric& fabric)
{
  if (fabric.sprays())
    refuse_packets(fabric, R"([routing] policy = "spray")", "spreads flows over pools of links");
  if (const std::string& policy = fabric.routing().policy;
      fabric.packets().balances() && policy != "static" && not policy.starts_with("ecmp"))
    throw UserError(fabric.file() + ": [network] load_balancing: found \"" +
                    std::string(to_text(fabric.packets().load_balancing)) + "\" with [routing] policy = \"" + policy +
                    R"(", which also balances loads; allowed: a policy of "static", "ecmp" or "ecmp-message", or )" +
                    R"(load_balancing = "route")");
  if (not fabric.shared().empty())
    refuse_packets(fabric, "[[shared]]", "is bandwidth that only flows share");
  if (fabric.sharing() != LinkSharing::flow)
    refuse_packets(fabric, "[link] sharing = \"" + std::string(to_text(fabric.sharing())) + "\"",
                   "is a share of flows");
  if (ForwardingState::needed(fabric))
    refuse_packets(fabric, "[switch.forwarding]", "is modelled for flows only");
  if (fabric.packets().flow_control == FlowControl::none || is_tree(fabric))
    return;
  if (fabric.packets().lanes_in_use() > 1) {
    check_lanes(fabric);
    return;
  }
  if (takes_detours(fabric))
    refuse_packets(fabric, "[routing] policy = \"" + fabric.routing().policy + "\"",
                   "takes detours, which can deadlock lossless links without virtual lanes ([network] lanes)");
  const std::vector<LinkId> cycle =
      find_credit_cycle(fabric.topology(), fabric.links().size(), takes_equal_routes(fabric));
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
      "and again " + fabric.link(cycle.front()).name +
      "; allowed: lanes = " + std::to_string(VirtualLanes(fabric).least()) + R"( or more, or flow_control = "none")");
}

} // namespace weft
