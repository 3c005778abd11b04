// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/gpu_cluster.hpp"

#include <set>
#include <stdexcept>

namespace weft {
namespace {

GpuClusterOptions completed(GpuClusterOptions options)
{
  if (options.nics == 0)
    options.nics = options.gpus;
  if (options.nodes_per_unit == 0)
    options.nodes_per_unit = options.nodes;
  return options;
}

/** Returns the number of leaves of a unit. */
int leaves_of(const GpuClusterOptions& options)
{
  switch (options.network) {
    case GpuNetwork::rail_optimised:
    case GpuNetwork::rail_only:
      return options.nics * options.planes;
    case GpuNetwork::top_of_rack:
      return options.planes;
    case GpuNetwork::dragonfly:
      return options.routers;
  }
  throw std::logic_error("no kind of network");
}

} // namespace

GpuCluster::GpuCluster(const GpuClusterOptions& options)
    : options_(completed(options)), units_((options_.nodes + options_.nodes_per_unit - 1) / options_.nodes_per_unit),
      leaves_(leaves_of(options_)),
      spine_groups_(options_.network == GpuNetwork::rail_only ? leaves_ : options_.planes),
      first_hub_(options_.nodes * options_.gpus), first_nic_(first_hub_ + options_.nodes),
      first_leaf_(first_nic_ + options_.nodes * options_.nics), first_spine_(first_leaf_ + units_ * leaves_),
      end_(first_spine_ + options_.spines * spine_groups_)
{
  connect();
}

/** Creates the cables, sorted by their lower vertex, then by their upper one. */
void GpuCluster::connect()
{
  for (VertexId vertex = 0; vertex < end_; ++vertex) {
    first_cable_.push_back(static_cast<int>(cables_.size()));
    const Place at   = place(vertex);
    const auto cable = [&](VertexId upper) { cables_.push_back({vertex, upper, 0}); };
    switch (at.kind) {
      case Kind::gpu:
        for (int other = at.number + 1; other < options_.gpus; ++other)
          if (linked(at.number, other))
            cable(gpu(at.of, other));
        cable(hub(at.of));
        cable(nic(at.of, nic_of(at.number)));
        break;
      case Kind::hub:
        for (int number = 0; number < options_.nics; ++number)
          cable(nic(at.of, number));
        break;
      case Kind::nic:
        for (int its_plane = 0; its_plane < options_.planes; ++its_plane)
          cable(leaf_of(at.of, at.number, its_plane));
        break;
      case Kind::leaf:
        connect_leaf(vertex, at);
        break;
      case Kind::spine:
        break;
    }
  }
  first_cable_.push_back(static_cast<int>(cables_.size()));
}

void GpuCluster::connect_leaf(VertexId vertex, Place at)
{
  if (not is_dragonfly()) {
    for (int number = 0; number < options_.spines; ++number)
      cables_.push_back({vertex, spine_of(at, number), 0});
    return;
  }
  for (int other = at.number + 1; other < leaves_; ++other)
    cables_.push_back({vertex, leaf(at.of, other), 0});
  for (int other = at.of + 1; other < units_; ++other)
    for (int cable = 0; cable < options_.global_cables; ++cable)
      if (gateway(at.of, other, cable) == at.number)
        cables_.push_back({vertex, leaf(other, gateway(other, at.of, cable)), cable / leaves_});
}

/** Returns whether two different GPUs of a node have a direct link. */
bool GpuCluster::linked(int gpu, int other) const
{
  constexpr int QUAD = 4;
  switch (options_.inside) {
    case GpuInterconnect::all_to_all:
      return true;
    case GpuInterconnect::cube_mesh:
      return gpu / QUAD == other / QUAD || gpu % QUAD == other % QUAD;
    default:
      return false;
  }
}

GpuCluster::Place GpuCluster::place(VertexId vertex) const
{
  if (vertex < first_hub_)
    return {Kind::gpu, vertex / options_.gpus, vertex % options_.gpus};
  if (vertex < first_nic_)
    return {Kind::hub, vertex - first_hub_, 0};
  if (vertex < first_leaf_)
    return {Kind::nic, (vertex - first_nic_) / options_.nics, (vertex - first_nic_) % options_.nics};
  if (vertex < first_spine_)
    return {Kind::leaf, (vertex - first_leaf_) / leaves_, (vertex - first_leaf_) % leaves_};
  return {Kind::spine, (vertex - first_spine_) / options_.spines, (vertex - first_spine_) % options_.spines};
}

/** Returns the rail of a vertex: the index of the NIC by which packets for it leave and enter nodes. */
int GpuCluster::rail(Place at) const
{
  switch (at.kind) {
    case Kind::gpu:
      return nic_of(at.number);
    case Kind::nic:
      return at.number;
    case Kind::leaf:
      if (has_rails())
        return at.number / options_.planes;
      return (is_dragonfly() ? at.number : at.of) % options_.nics;
    case Kind::spine:
      return options_.network == GpuNetwork::rail_only ? at.of / options_.planes : at.number % options_.nics;
    case Kind::hub:
      break;
  }
  return ANY_RAIL;
}

/** Returns the plane of a leaf or spine or, for a node, the plane by which packets for it enter. */
int GpuCluster::plane(Place at) const
{
  switch (at.kind) {
    case Kind::leaf:
    case Kind::spine: // its group is a plane, or a plane of a rail
      return (at.kind == Kind::leaf ? at.number : at.of) % options_.planes;
    default:
      return (at.of + std::max(0, rail(at))) % options_.planes;
  }
}

int GpuCluster::rail(VertexId vertex) const
{
  const Place at = place(vertex);
  const int nic  = std::max(0, rail(at));
  return has_rails() && not in_node(at) ? nic * options_.planes + plane(at) : nic;
}

bool GpuCluster::never_combines(VertexId vertex) const
{
  const Kind kind = place(vertex).kind;
  return kind == Kind::nic || (kind == Kind::hub && options_.inside != GpuInterconnect::nvswitch);
}

/** Returns the leaf of a port of a NIC. */
VertexId GpuCluster::leaf_of(int node, int nic, int its_plane) const
{
  int number = its_plane;
  if (has_rails())
    number += nic * options_.planes;
  else if (is_dragonfly())
    number = (node % options_.nodes_per_unit * options_.nics + nic) % leaves_;
  return leaf(unit(node), number);
}

/** Returns a spine above a leaf. */
VertexId GpuCluster::spine_of(Place its_leaf, int number) const
{
  const int group = options_.network == GpuNetwork::rail_only ? its_leaf.number : plane(its_leaf);
  return first_spine_ + group * options_.spines + number;
}

/** Returns the index, in its group, of the router with a cable to another group. */
int GpuCluster::gateway(int its_unit, int other, int cable) const
{
  const int peer = other < its_unit ? other : other - 1;
  return (peer * options_.global_cables + cable) % leaves_;
}

VertexId GpuCluster::from_gpu(Place at, Place to, VertexId goal) const
{
  const VertexId own_nic = nic(at.of, nic_of(at.number));
  if (not in_node(to)) // within a tree: the NVSwitch combines
    return hub(at.of);
  if (to.of != at.of)
    return has_rails() && rail(to) != ANY_RAIL && rail(to) != nic_of(at.number) ? hub(at.of) : own_nic;
  if (to.kind == Kind::gpu && linked(at.number, to.number))
    return goal;
  return to.kind == Kind::nic && to.number == nic_of(at.number) ? own_nic : hub(at.of);
}

VertexId GpuCluster::from_nic(Place at, Place to, VertexId goal) const
{
  if (not in_node(to) || to.of != at.of)
    return leaf_of(at.of, at.number, plane(to));
  return to.kind == Kind::gpu && nic_of(to.number) == at.number ? goal : hub(at.of);
}

VertexId GpuCluster::from_leaf(Place at, Place to, VertexId goal) const
{
  if (to.kind == Kind::spine)
    return goal;
  if (in_node(to) && unit(to.of) == at.of)
    return nic(to.of, has_rails() ? rail(at) : std::max(0, rail(to)));
  return spine_of(at, spread(to, goal) % options_.spines);
}

VertexId GpuCluster::from_spine(Place at, Place to, VertexId goal) const
{
  if (to.kind == Kind::leaf)
    return goal;
  const int its_rail = options_.network == GpuNetwork::rail_only || rail(to) == ANY_RAIL ? rail(at) : rail(to);
  return leaf_of(to.of, its_rail, plane(at));
}

/** Returns the number by which a destination selects among spines, or among cables between groups. */
int GpuCluster::spread(Place to, VertexId goal) const
{
  return in_node(to) ? to.of * options_.nics + std::max(0, rail(to)) : goal;
}

/** Returns the next hop from a router of a Dragonfly. */
Hop GpuCluster::from_router(VertexId vertex, VertexId goal) const
{
  const Place at          = place(vertex);
  const Place to          = place(goal);
  const int nic_there     = std::max(0, rail(to));
  const VertexId last     = in_node(to) ? leaf_of(to.of, nic_there, 0) : goal;
  const int its_unit      = place(last).of;
  const int cable         = spread(to, goal) % options_.global_cables;
  const VertexId crossing = its_unit == at.of ? last : leaf(at.of, gateway(at.of, its_unit, cable));
  if (vertex == last)
    return hop(vertex, nic(to.of, nic_there));
  if (vertex != crossing)
    return hop(vertex, crossing);
  return hop(vertex, leaf(its_unit, gateway(its_unit, at.of, cable)), cable / leaves_);
}

/** Returns the vertex after @p at on the route to @p goal. @p to is the place of @p goal. */
VertexId GpuCluster::next(Place at, Place to, VertexId goal) const
{
  switch (at.kind) {
    case Kind::gpu:
      return from_gpu(at, to, goal);
    case Kind::hub:
      if (in_node(to) && to.of == at.of)
        return goal;
      return nic(at.of, std::max(0, rail(to)));
    case Kind::nic:
      return from_nic(at, to, goal);
    case Kind::leaf:
      return from_leaf(at, to, goal);
    case Kind::spine:
      return from_spine(at, to, goal);
  }
  throw std::logic_error("a vertex of no kind");
}

/** Returns the hop over a cable between two vertices. */
Hop GpuCluster::hop(VertexId from, VertexId to, int number) const
{
  const VertexId lower = std::min(from, to);
  const VertexId upper = std::max(from, to);
  const auto first     = cables_.begin() + first_cable_[static_cast<std::size_t>(lower)];
  const auto last      = cables_.begin() + first_cable_[static_cast<std::size_t>(lower) + 1];
  const auto found =
      std::lower_bound(first, last, upper, [](const Cable& cable, VertexId wanted) { return cable.upper < wanted; }) +
      number;
  if (found >= last || found->upper != upper)
    throw std::logic_error("there is no cable between " + vertex_name(from) + " and " + vertex_name(to));
  const auto cable = static_cast<std::size_t>(found - cables_.begin());
  return {from == lower ? up_link(cable) : down_link(cable), to};
}

Hop GpuCluster::next_hop(VertexId at, VertexId to) const
{
  const Place here = place(at);
  if (is_dragonfly() && here.kind == Kind::leaf)
    return from_router(at, to);
  return hop(at, next(here, place(to), to));
}

void GpuCluster::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  const Hop usual  = next_hop(at, to);
  const Place here = place(at);
  const Place next = place(usual.to);
  if (here.kind == Kind::nic && next.kind == Kind::leaf && in_node(place(to))) {
    for (int its_plane = 0; its_plane < options_.planes; ++its_plane)
      into.push_back(hop(at, leaf_of(here.of, here.number, its_plane)));
  } else if (here.kind == Kind::leaf && next.kind == Kind::spine && usual.to != to) {
    for (int number = 0; number < options_.spines; ++number)
      into.push_back(hop(at, spine_of(here, number)));
  } else if (here.kind == Kind::leaf && next.kind == Kind::leaf && next.of != here.of) {
    const int first = gateway(std::min(here.of, next.of), std::max(here.of, next.of), 0); // gateway of the lower router
    const int cable = ((here.of < next.of ? here : next).number - first + leaves_) % leaves_;
    for (int number = 0; cable + number * leaves_ < options_.global_cables; ++number)
      into.push_back(hop(at, usual.to, number));
  } else {
    into.push_back(usual);
  }
}

int GpuCluster::stripes_between(VertexId from, VertexId to) const
{
  return place(from).of == place(to).of ? 1 : options_.planes;
}

int GpuCluster::diameter() const
{
  if (options_.nodes == 1) {
    const bool direct = options_.inside == GpuInterconnect::all_to_all;
    return options_.gpus == 1 ? 0 : direct ? 1 : 2;
  }
  if (is_dragonfly()) {
    const int inside = leaves_ > 1 ? 1 : 0;
    return 4 + (units_ > 1 ? 2 * inside + 1 : inside);
  }
  const int inside = has_rails() && options_.nics > 1 ? 1 : 0; // to the destination's rail
  return 4 + inside + (units_ > 1 ? 2 : 0);
}

std::vector<VertexId> GpuCluster::meeting_switches(std::span<const VertexId> hosts) const
{
  const int node = place(hosts.front()).of;
  const auto all = [&](auto&& holds) {
    return std::ranges::all_of(hosts, [&](VertexId host) { return holds(place(host).of); });
  };
  if (all([node](int other) { return other == node; }))
    return {hub(node)};
  std::set<VertexId> routers;
  if (is_dragonfly()) {
    for (const VertexId host : hosts)
      routers.insert(leaf_of(place(host).of, nic_of(place(host).number), 0));
    return {routers.begin(), routers.end()};
  }
  const bool one_unit = all([&](int other) { return unit(other) == unit(node); });
  std::vector<VertexId> switches;
  for (VertexId one = one_unit ? leaf(unit(node), 0) : first_spine_;
       one < (one_unit ? leaf(unit(node), leaves_) : end_); ++one)
    switches.push_back(one);
  return switches;
}

std::string GpuCluster::host_name(int index) const
{
  const Place its = place(index);
  return numbered("node", its.of, options_.nodes) + "." + numbered("gpu", its.number, options_.gpus);
}

std::string GpuCluster::switch_name(int index) const
{
  const VertexId vertex = first_hub_ + index;
  const Place its       = place(vertex);
  const std::string of  = numbered("node", its.of, options_.nodes);
  switch (its.kind) {
    case Kind::hub:
      return of + (options_.inside == GpuInterconnect::nvswitch ? ".nvswitch" : ".pcie");
    case Kind::nic:
      return of + "." + numbered("nic", its.number, options_.nics);
    case Kind::leaf:
      if (is_dragonfly())
        return numbered(numbered("group", its.of, units_) + "-router", its.number, leaves_);
      return numbered("leaf", vertex - first_leaf_, first_spine_ - first_leaf_);
    default:
      return numbered("spine", vertex - first_spine_, end_ - first_spine_);
  }
}

std::string_view GpuCluster::switch_noun(int index) const
{
  switch (place(first_hub_ + index).kind) {
    case Kind::hub:
      return options_.inside == GpuInterconnect::nvswitch ? "NVSwitch" : "PCIe root";
    case Kind::nic:
      return "NIC";
    default:
      return "switch";
  }
}

namespace {

const std::vector<Option<GpuClusterOptions>>& gpu_cluster_options()
{
  using M = GpuClusterOptions;
  static const std::vector<Option<M>> ROWS{
      {"nodes", "number of nodes", &M::nodes},
      {"gpus", "GPUs of a node, which are the hosts", &M::gpus},
      {"inside",
       R"(links between the GPUs of a node: "nvswitch"; "all-to-all", a direct link between any two; "cube-mesh", those of a DGX-1 with 8 GPUs; "pcie", none. GPUs without a direct link reach each other over the PCIe root)",
       &M::inside, Need::optional},
      {"nics", "NICs of a node; GPUs share them equally, in order", &M::nics, Need::otherwise("one a GPU")},
      {"planes", "ports of a NIC, each of which is cabled to a leaf of its own, in a plane of its own", &M::planes,
       Need::optional},
      {"nodes_per_unit", "nodes that share leaves, or of a group", &M::nodes_per_unit, Need::otherwise("all")},
      {"spines", "spines of each plane, and of each rail if the network is \"rail-only\"", &M::spines,
       Need::otherwise("none")},
      {"network",
       R"("rail-optimised", a unit has a leaf for NIC 0 of its nodes, one for NIC 1, ..., and spines connect all leaves; "rail-only", spines connect those of one rail; "top-of-rack", a unit has one leaf; "dragonfly", a unit is a group of routers, which are cabled all to all, as the groups are)",
       &M::network, Need::optional},
      {"routers", "routers of a group, for the network \"dragonfly\" only", &M::routers, Need::otherwise("none")},
      {"global_cables", "cables between two groups, for the network \"dragonfly\" only", &M::global_cables,
       Need::optional},
  };
  return ROWS;
}

/** Refuses keys that do not apply to the kind of network. */
void check_network(const OptionTable& table, const GpuClusterOptions& options)
{
  const std::string network = "\"" + std::string(to_text(options.network)) + "\"";
  const auto refuse         = [&](const std::string& key, int found, const std::string& allowed) {
    table.fail(key, "found " + std::to_string(found) + " for the network " + network + "; allowed: " + allowed);
  };
  if (options.network == GpuNetwork::dragonfly) {
    const int nics = options.nodes_per_unit * options.nics;
    if (options.routers == 0 || options.routers > nics)
      refuse("routers", options.routers, "1 to " + std::to_string(nics) + ", the NICs of a group");
    if (options.spines > 0)
      refuse("spines", options.spines, "none");
    if (options.planes > 1)
      refuse("planes", options.planes, "1");
    return;
  }
  if (options.routers > 0)
    refuse("routers", options.routers, "none; \"dragonfly\" has routers");
  if (options.global_cables > 1)
    refuse("global_cables", options.global_cables, "none; \"dragonfly\" has such cables");
}

double pairs_of_gpu_units(double count)
{
  return count * (count - 1) / 2;
}

void check_numbers(const OptionTable& table, const GpuClusterOptions& options)
{
  constexpr int CUBE_MESH = 8;
  if (options.inside == GpuInterconnect::cube_mesh && options.gpus != CUBE_MESH)
    table.fail("gpus", "found " + std::to_string(options.gpus) + "; allowed: 8, with inside = \"cube-mesh\"");
  const double links =
      options.inside == GpuInterconnect::all_to_all ? pairs_of_gpu_units(options.gpus) : 2.0 * options.gpus;
  check_cable_count(table, "nodes", options.nodes * (2.0 * options.gpus + links));
  const GpuClusterOptions all = completed(options);
  if (all.nics > all.gpus || all.gpus % all.nics != 0)
    table.fail("nics", "found " + std::to_string(all.nics) + "; allowed: a divisor of \"gpus\", which is " +
                           std::to_string(all.gpus));
  const int units    = (all.nodes + all.nodes_per_unit - 1) / all.nodes_per_unit;
  const double ports = static_cast<double>(all.nodes) * all.nics * all.planes;
  check_cable_count(table, "planes", ports);
  check_network(table, all);
  const double rails = all.network == GpuNetwork::top_of_rack ? 1 : all.nics;
  check_cable_count(table, "spines", units * rails * all.planes * all.spines + ports + 2.0 * all.nodes * all.gpus);
  check_cable_count(table, "routers", units * pairs_of_gpu_units(all.routers) + ports);
  check_cable_count(table, "global_cables", pairs_of_gpu_units(units) * all.global_cables);
  if (units > 1 && all.spines == 0 && all.network != GpuNetwork::dragonfly)
    table.fail("nodes_per_unit", "makes " + std::to_string(units) +
                                     " units that no spines connect; allowed: \"spines\" of at least 1, or one unit");
}

std::unique_ptr<Topology> build_gpu_cluster(const OptionTable& table)
{
  GpuClusterOptions options;
  require_options(table, gpu_cluster_options(), read_options(table, gpu_cluster_options(), {"kind"}, options));
  check_numbers(table, options);
  return std::make_unique<GpuCluster>(options);
}

} // namespace

TopologyKind gpu_cluster_kind()
{
  return {
      "gpu_cluster",
      "nodes of GPUs with NVSwitches or direct links, and NICs; leaves by rail or by unit and spines, or a Dragonfly",
      describe_options(gpu_cluster_options()), build_gpu_cluster};
}

} // namespace weft
