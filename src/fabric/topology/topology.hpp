// SPDX-License-Identifier: LGPL-2.1-only
/* Topologies: how hosts, switches and cables are laid out and how packets find their way.
 *
 * Routing is destination-based: where a packet goes next depends on where it is and where it wants to go, never on
 * where it comes from. So the ways of many hosts to one vertex form a tree, which is what reduction trees are made of,
 * and a route is computed hop by hop on demand, with no table.
 *
 * The registry holds one row per topology; fabric files choose by the row's name, and the help and the messages about
 * an unknown name derive from the rows.
 */
#pragma once

#include "base/option.hpp"
#include "fabric/topology/forwarding_hash.hpp"
#include "fabric/topology/graph.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/** A cable: link 2c goes from its lower vertex (nearer to the hosts) to its upper one, link 2c + 1 back, where c is its
 *  position among the topology's cables. */
struct Cable {
  VertexId lower = 0;
  VertexId upper = 0;
  int number     = 0; ///< counts the cables between the same two vertices
};

constexpr LinkId up_link(std::size_t cable)
{
  return static_cast<LinkId>(2 * cable);
}
constexpr LinkId down_link(std::size_t cable)
{
  return static_cast<LinkId>(2 * cable + 1);
}
/** The other direction of the same cable. */
constexpr LinkId reverse(LinkId link)
{
  return link % 2 == 0 ? link + 1 : link - 1;
}

/** One step of a packet. */
struct Hop {
  LinkId link = 0;
  VertexId to = 0;
};

class Topology {
public:
  virtual ~Topology() = default;

  virtual int host_count() const   = 0;
  virtual int switch_count() const = 0;
  /** All cables, in the order of their links' ids. */
  virtual std::vector<Cable> cables() const = 0;
  /** Where a packet for @p to goes from @p at; the two differ and at least one of them, or where the packet began, is a
   *  host. Ends at @p to after finitely many steps. */
  virtual Hop next_hop(VertexId at, VertexId to) const = 0;
  /** Most links on a way between two hosts. */
  virtual int diameter() const = 0;
  /** The switches at which the ways of all of @p hosts (two at least, each once) meet without detour; none where there
   *  are no such. Rising order. */
  virtual std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const = 0;
  /** The hash that makes one tag of all destinations beyond a port; null where the topology is not regular. Throws
   *  HashError where the topology is too large for it. */
  virtual std::unique_ptr<const ForwardingHash> forwarding_hash() const { return nullptr; }

  /** Hosts are "host-07": zero-padded, since SimGrid lists hosts by name and ranks are placed in that order. */
  virtual std::string host_name(int index) const;
  virtual std::string switch_name(int index) const = 0;
  std::string vertex_name(VertexId vertex) const;
  bool is_host(VertexId vertex) const { return vertex < host_count(); }

  /** Append the way from @p from to another vertex @p to. */
  void route(VertexId from, VertexId to, Route& into) const;
};

/** "name-07": @p index padded to the width of the last of @p count. */
std::string numbered(const std::string& name, int index, int count);

/** Cables that a fabric may have at most, five times those of a fat tree of a million hosts and three levels. So ids of
 *  links and vertices fit in ints, and a wrong parameter ends in a message, not in all memory taken. */
constexpr double MOST_CABLES = 16777216;

/** Throws at @p key of @p table unless @p count cables are few enough. For topologies whose parameters multiply: counts
 *  are doubles so that the product of any parameters can be said, and nothing is allocated before. */
void check_cable_count(const OptionTable& table, const std::string& key, double count);

/** A row of the registry. */
struct TopologyKind {
  std::string name;
  std::string meaning;
  std::vector<OptionHelp> options; ///< the keys of [topology], beside `kind`
  std::function<std::unique_ptr<Topology>(const OptionTable& topology)> build;
};

const std::vector<TopologyKind>& topology_kinds();
std::vector<std::string> topology_names();

/** Build the topology that a [topology] table describes; its kind into @p kind. Throws UserError. */
std::unique_ptr<Topology> read_topology(const OptionTable& table, std::string& kind);

} // namespace weft
