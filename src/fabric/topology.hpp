/* Topologies: how hosts, switches and links are laid out and how packets find their way.
 *
 * The registry holds one row a topology; fabric files choose by the row's name, and the help and the messages about
 * an unknown name derive from the rows.
 */
#pragma once

#include "base/option_file.hpp"
#include "fabric/graph.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/** What a cable of the fabric is like. */
struct LinkModel {
  BytesPerSecond bandwidth;
  Seconds latency;
};

/** The keys of a [link] table. */
const std::vector<Option<LinkModel>>& link_options();
LinkModel read_link(const OptionTable& table);

class Topology {
public:
  virtual ~Topology() = default;

  virtual int host_count() const   = 0;
  virtual int switch_count() const = 0;
  /** Cables that end at a switch. */
  virtual int ports_used(int switch_index) const = 0;
  /** All links, in the order of their ids. */
  virtual std::vector<Link> links() const = 0;
  /** Append the way from @p from to another vertex @p to. Deterministic, computed on demand. */
  virtual void route(VertexId from, VertexId to, Route& into) const = 0;

  std::string host_name(int index) const;
  virtual std::string switch_name(int index) const = 0;
  std::string vertex_name(VertexId vertex) const;
};

/** A row of the registry. */
struct TopologyKind {
  std::string name;
  std::string meaning;
  std::vector<OptionHelp> options; ///< the keys of [topology], beside `kind`
  std::function<std::unique_ptr<Topology>(const OptionTable& topology, const LinkModel& link)> build;
};

const std::vector<TopologyKind>& topology_kinds();

/** Build the topology that a [topology] table describes. Throws UserError. */
std::unique_ptr<Topology> read_topology(const OptionTable& table, const LinkModel& link, std::string& kind);

} // namespace weft
