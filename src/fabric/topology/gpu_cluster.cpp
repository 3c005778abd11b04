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

} // namespace

GpuCluster::GpuCluster(const GpuClusterOptions& options)
    : options_(completed(options)), units_((options_.nodes + options_.nodes_per_unit - 1) / options_.nodes_per_unit),
      leaves_(has_rails() ? options_.nics : 1), first_nvswitch_(options_.nodes * options_.gpus),
      first_nic_(first_nvswitch_ + options_.nodes), first_leaf_(first_nic_ + options_.nodes * options_.nics),
      first_spine_(first_leaf_ + units_ * leaves_),
      end_(first_spine_ + options_.spines * (options_.network == GpuNetwork::rail_only ? options_.nics : 1))
{
  connect();
}

/** Makes the cables, by their lower vertex. */
void GpuCluster::connect()
{
  for (VertexId vertex = 0; vertex < end_; ++vertex) {
    first_cable_.push_back(static_cast<int>(cables_.size()));
    const Place at   = place(vertex);
    const auto cable = [&](VertexId upper) { cables_.push_back({vertex, upper, 0}); };
    switch (at.kind) {
      case Kind::gpu:
        cable(nvswitch(at.of));
        cable(nic(at.of, nic_of(at.number)));
        break;
      case Kind::nvswitch:
        for (int number = 0; number < options_.nics; ++number)
          cable(nic(at.of, number));
        break;
      case Kind::nic:
        cable(leaf(unit(at.of), has_rails() ? at.number : 0));
        break;
      case Kind::leaf:
        for (int number = 0; number < options_.spines; ++number)
          cable(spine_of(at, number));
        break;
      case Kind::spine:
        break;
    }
  }
  first_cable_.push_back(static_cast<int>(cables_.size()));
}

GpuCluster::Place GpuCluster::place(VertexId vertex) const
{
  if (vertex < first_nvswitch_)
    return {Kind::gpu, vertex / options_.gpus, vertex % options_.gpus};
  if (vertex < first_nic_)
    return {Kind::nvswitch, vertex - first_nvswitch_, 0};
  if (vertex < first_leaf_)
    return {Kind::nic, (vertex - first_nic_) / options_.nics, (vertex - first_nic_) % options_.nics};
  if (vertex < first_spine_)
    return {Kind::leaf, (vertex - first_leaf_) / leaves_, (vertex - first_leaf_) % leaves_};
  return {Kind::spine, 0, vertex - first_spine_};
}

/** Returns the rail of a vertex: the number of the NIC by which packets for it leave and enter nodes. */
int GpuCluster::rail(Place at) const
{
  switch (at.kind) {
    case Kind::gpu:
      return nic_of(at.number);
    case Kind::nic:
      return at.number;
    case Kind::leaf:
      return has_rails() ? at.number : at.of % options_.nics;
    case Kind::spine:
      return options_.network == GpuNetwork::rail_only ? at.number / options_.spines : at.number % options_.nics;
    case Kind::nvswitch:
      break;
  }
  return ANY_RAIL;
}

/** Returns a spine above a leaf. */
VertexId GpuCluster::spine_of(Place its_leaf, int number) const
{
  return first_spine_ + number + (options_.network == GpuNetwork::rail_only ? its_leaf.number * options_.spines : 0);
}

VertexId GpuCluster::from_gpu(Place at, Place to) const
{
  const VertexId own_nic = nic(at.of, nic_of(at.number));
  if (not in_node(to)) // a tree: the NVSwitch combines
    return nvswitch(at.of);
  if (to.of == at.of)
    return to.kind == Kind::nic && to.number == nic_of(at.number) ? own_nic : nvswitch(at.of);
  return has_rails() && rail(to) != ANY_RAIL && rail(to) != nic_of(at.number) ? nvswitch(at.of) : own_nic;
}

VertexId GpuCluster::from_leaf(Place at, Place to, VertexId goal) const
{
  if (to.kind == Kind::spine)
    return goal;
  if (in_node(to) && unit(to.of) == at.of)
    return nic(to.of, has_rails() ? at.number : std::max(0, rail(to)));
  const int spread = in_node(to) ? to.of * options_.nics + std::max(0, rail(to)) : goal;
  return spine_of(at, spread % options_.spines);
}

VertexId GpuCluster::from_spine(Place at, Place to, VertexId goal) const
{
  if (to.kind == Kind::leaf)
    return goal;
  const int its_rail = options_.network == GpuNetwork::rail_only || rail(to) == ANY_RAIL ? rail(at) : rail(to);
  return leaf(unit(to.of), has_rails() ? its_rail : 0);
}

/** Returns the vertex after @p at on the route to @p goal, which is at @p to. */
VertexId GpuCluster::next(Place at, Place to, VertexId goal) const
{
  switch (at.kind) {
    case Kind::gpu:
      return from_gpu(at, to);
    case Kind::nvswitch:
      if (in_node(to) && to.of == at.of)
        return goal;
      return nic(at.of, std::max(0, rail(to)));
    case Kind::nic:
      if (not in_node(to) || to.of != at.of)
        return leaf(unit(at.of), has_rails() ? at.number : 0);
      return to.kind == Kind::gpu && nic_of(to.number) == at.number ? goal : nvswitch(at.of);
    case Kind::leaf:
      return from_leaf(at, to, goal);
    case Kind::spine:
      return from_spine(at, to, goal);
  }
  throw std::logic_error("a vertex of no kind");
}

/** Returns the hop over the cable between two vertices. */
Hop GpuCluster::hop(VertexId from, VertexId to) const
{
  const VertexId lower = std::min(from, to);
  const VertexId upper = std::max(from, to);
  const auto first     = cables_.begin() + first_cable_[static_cast<std::size_t>(lower)];
  const auto last      = cables_.begin() + first_cable_[static_cast<std::size_t>(lower) + 1];
  const auto found =
      std::lower_bound(first, last, upper, [](const Cable& cable, VertexId wanted) { return cable.upper < wanted; });
  if (found == last || found->upper != upper)
    throw std::logic_error("there is no cable between " + vertex_name(from) + " and " + vertex_name(to));
  const auto number = static_cast<std::size_t>(found - cables_.begin());
  return {from == lower ? up_link(number) : down_link(number), to};
}

Hop GpuCluster::next_hop(VertexId at, VertexId to) const
{
  return hop(at, next(place(at), place(to), to));
}

void GpuCluster::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  const Hop usual = next_hop(at, to);
  if (usual.to < first_spine_ || usual.to == to) {
    into.push_back(usual);
    return;
  }
  for (int number = 0; number < options_.spines; ++number)
    into.push_back(hop(at, spine_of(place(at), number)));
}

int GpuCluster::diameter() const
{
  if (options_.nodes == 1)
    return options_.gpus == 1 ? 0 : 2;
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
    return {nvswitch(node)};
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
  const VertexId vertex = first_nvswitch_ + index;
  const Place its       = place(vertex);
  const std::string of  = numbered("node", its.of, options_.nodes);
  switch (its.kind) {
    case Kind::nvswitch:
      return of + ".nvswitch";
    case Kind::nic:
      return of + "." + numbered("nic", its.number, options_.nics);
    case Kind::leaf:
      return numbered("leaf", vertex - first_leaf_, first_spine_ - first_leaf_);
    default:
      return numbered("spine", its.number, end_ - first_spine_);
  }
}

namespace {

const std::vector<Option<GpuClusterOptions>>& gpu_cluster_options()
{
  using M = GpuClusterOptions;
  static const std::vector<Option<M>> ROWS{
      {"nodes", "number of nodes", &M::nodes},
      {"gpus", "GPUs of a node, which are the hosts", &M::gpus},
      {"nics", "NICs of a node; GPUs share them equally, in order", &M::nics, Need::otherwise("one a GPU")},
      {"nodes_per_unit", "nodes that share leaves", &M::nodes_per_unit, Need::otherwise("all")},
      {"spines", "spines, of each rail if the network is \"rail-only\"", &M::spines, Need::otherwise("none")},
      {"network",
       R"("rail-optimised", a unit has a leaf for NIC 0 of its nodes, one for NIC 1, ..., and spines connect all leaves; "rail-only", spines connect those of one rail; "top-of-rack", a unit has one leaf)",
       &M::network, Need::optional},
  };
  return ROWS;
}

void check_numbers(const OptionTable& table, const GpuClusterOptions& options)
{
  check_cable_count(table, "nodes", 2.0 * options.nodes * options.gpus);
  const GpuClusterOptions all = completed(options);
  if (all.nics > all.gpus || all.gpus % all.nics != 0)
    table.fail("nics", "found " + std::to_string(all.nics) + "; allowed: a divisor of \"gpus\", which is " +
                           std::to_string(all.gpus));
  const int units    = (all.nodes + all.nodes_per_unit - 1) / all.nodes_per_unit;
  const double rails = all.network == GpuNetwork::top_of_rack ? 1 : all.nics;
  check_cable_count(table, "spines", units * rails * all.spines + 2.0 * all.nodes * (all.gpus + all.nics));
  if (units > 1 && all.spines == 0)
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
  return {"gpu_cluster", "nodes of GPUs with an NVSwitch and NICs each; leaves by rail or by unit, and spines",
          describe_options(gpu_cluster_options()), build_gpu_cluster};
}

} // namespace weft
