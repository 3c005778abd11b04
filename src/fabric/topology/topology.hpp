// SPDX-License-Identifier: LGPL-2.1-only
/* Topologies: layout of hosts, switches and cables, and routing.
 *
 * Routing is destination-based: the next hop depends on the current vertex and the destination, never on the source.
 * The routes of many hosts to one vertex therefore form a tree, from which reduction trees are built. Routes are
 * computed hop by hop on demand, without tables.
 *
 * The registry has one row per topology. Fabric files select a topology by its name; help and error messages are
 * derived from the rows.
 */
#pragma once

#include "base/option.hpp"
#include "fabric/topology/forwarding_hash.hpp"
#include "fabric/topology/graph.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Cable. Cable c of a topology consists of link 2c from its lower vertex (nearer to the hosts) to its upper one, and
 *  link 2c + 1 back. */
struct Cable {
  VertexId lower = 0;
  VertexId upper = 0;
  int number     = 0; ///< index among the cables between the same two vertices
};

constexpr LinkId up_link(std::size_t cable)
{
  return static_cast<LinkId>(2 * cable);
}
constexpr LinkId down_link(std::size_t cable)
{
  return static_cast<LinkId>(2 * cable + 1);
}
/** Returns the other direction of the same cable. */
constexpr LinkId reverse(LinkId link)
{
  return link % 2 == 0 ? link + 1 : link - 1;
}

/** Next hop of a packet. */
struct Hop {
  LinkId link = 0;
  VertexId to = 0;
};

class Topology {
public:
  virtual ~Topology() = default;

  virtual int host_count() const   = 0;
  virtual int switch_count() const = 0;
  /** Returns all cables, ordered by the ids of their links. */
  virtual std::vector<Cable> cables() const = 0;
  /** Returns the next hop from @p at to @p to, which must differ; @p at, @p to or the source of the packet must be a
   * host. Repeated hops reach @p to. */
  virtual Hop next_hop(VertexId at, VertexId to) const = 0;
  /** Appends the equal-cost next hops from @p at to @p to, under the conditions of next_hop(): the first links of all
   * routes that are as short as next_hop()'s, including next_hop() itself. Any sequence of them reaches @p to. */
  virtual void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const { into.push_back(next_hop(at, to)); }
  /** Returns the number of cables by which equal-cost routes leave host @p from for another host, and thus the stripes
   * into which a message may be divided. */
  virtual int stripes_between(VertexId from, VertexId to) const;
  /** Returns whether a switch represents its hosts' ends of several cables, over which stripes are distributed. */
  virtual bool divides_stripes(VertexId /*vertex*/) const { return false; }
  /** Returns the pool of each link, by id: the links that the packets of a flow over this link use equally, if every
   * switch sprays them over all equal-cost next hops; -1 for a link that carries all of them. Empty if flows that share
   * a link may have different pools there. */
  virtual std::vector<int> spray_pools() const { return {}; }
  /** Returns whether the topology defines non-minimal routes, see intermediate(). */
  virtual bool has_detours() const { return false; }
  /** Returns the switch, selected by @p random, through which Valiant's routing sends a packet from host @p from to
   * host
   *  @p to: minimally to the switch, and minimally onwards; nothing if all routes between the two hosts are minimal. */
  virtual std::optional<VertexId> intermediate(VertexId /*from*/, VertexId /*to*/, std::uint32_t /*random*/) const
  {
    return std::nullopt;
  }
  /** Returns the maximum number of links on a route between two hosts. */
  virtual int diameter() const = 0;
  /** Returns the switches at which the routes of all @p hosts (at least two, distinct) meet without detour, in
   * increasing order; may be empty. */
  virtual std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const = 0;
  /** Returns whether routes may pass through hosts. */
  virtual bool hosts_forward() const { return false; }
  /** Returns the number of rails: a node of several hosts reaches switches of different rails by different NICs. */
  virtual int rails() const { return 1; }
  /** Returns the rail of a switch. */
  virtual int rail(VertexId /*vertex*/) const { return 0; }
  /** Returns whether a switch never combines, whatever the file says about switches. True for NICs, for example. */
  virtual bool never_combines(VertexId /*vertex*/) const { return false; }
  /** Creates the hash that maps all destinations behind a port to one tag; null if the topology is not regular. Throws
   *  HashError if the topology is too large. */
  virtual std::unique_ptr<const ForwardingHash> forwarding_hash() const { return nullptr; }

  /** Returns "host-07", zero-padded since SimGrid sorts hosts by name and ranks are placed in that order. */
  virtual std::string host_name(int index) const;
  virtual std::string switch_name(int index) const = 0;
  /** Returns the noun for a switch in listings of a fabric, in the singular. */
  virtual std::string_view switch_noun(int /*index*/) const { return "switch"; }
  std::string vertex_name(VertexId vertex) const;
  bool is_host(VertexId vertex) const { return vertex < host_count(); }

  /** Appends the route from @p from to another vertex @p to. */
  void route(VertexId from, VertexId to, Route& into) const;
};

/** Returns "name-07", with @p index zero-padded to the width of @p count - 1. */
std::string numbered(const std::string& name, int index, int count);

/** Maps 32 random bits to a number below @p count. */
constexpr int scaled(std::uint32_t random, int count)
{
  return static_cast<int>((std::uint64_t{random} * static_cast<std::uint64_t>(count)) >> 32U);
}
/** Maps 32 random bits to a number below @p count other than @p one and @p other, which differ. */
int scaled_without(std::uint32_t random, int count, int one, int other);

/** Maximum number of cables, five times that of a three-level fat tree of a million hosts. Ids of links and vertices
 * fit in ints, and a wrong parameter causes an error message instead of exhausting the memory. */
constexpr double MOST_CABLES = 16777216;

/** Throws UserError at @p key of @p table if @p count exceeds MOST_CABLES. Call it before allocating anything. Counts
 * are doubles because products of parameters may overflow integers. */
void check_cable_count(const OptionTable& table, const std::string& key, double count);

/** Row of the registry. */
struct TopologyKind {
  std::string name;
  std::string meaning;
  std::vector<OptionHelp> options; ///< the keys of [topology] other than `kind`
  std::function<std::unique_ptr<Topology>(const OptionTable& topology)> build;
};

const std::vector<TopologyKind>& topology_kinds();
std::vector<std::string> topology_names();

/** Builds the topology of a [topology] table and stores its kind in @p kind. Throws UserError. */
std::unique_ptr<Topology> read_topology(const OptionTable& table, std::string& kind);

} // namespace weft
