// SPDX-License-Identifier: LGPL-2.1-only
/* GPU cluster: nodes of several GPUs, which are the hosts, with links inside each node and NICs that belong to GPUs.
 *
 * A node has one NVSwitch, which represents all of its NVSwitch planes, as in NCCL's graph of a node
 * (src/graph/topo.cc). Nodes without NVSwitches have a PCIe root in its place, and direct links between GPUs: between
 * all of them, or as the hybrid cube-mesh of the DGX-1, two fully connected quads with a link between corresponding
 * GPUs. GPU g of G and NIC r of R share a PCIe switch if r = g R / G; the NIC is a vertex that only forwards.
 *
 * Nodes of a unit share leaves: with rails, leaf r of the unit connects NIC r of each of its nodes (NVIDIA's
 * rail-optimised scalable unit, RA-11333; rails without spines between them: Wang et al., arXiv 2307.12169); without
 * rails, one leaf connects all NICs. Spines connect the leaves of all units, or of one rail. If NICs have several
 * ports, each belongs to a plane with leaves and spines of its own (Alibaba HPN: Qian et al., SIGCOMM 2024). In a
 * Dragonfly, a unit is a group whose leaves, the routers, are connected all to all, and so are the groups; NIC r of
 * node n of a group is at router
 * n R + r modulo their number, so that the NICs of a node are at different routers (Slingshot).
 *
 * Routing: GPUs of a node use their direct link, or else its NVSwitch or PCIe root. Otherwise, with rails, a packet
 * leaves its node by the NIC of the destination's rail, over the NVSwitch and the PCIe switch of that NIC's GPU (NCCL's
 * PXN, src/graph/paths.cc), so that it never changes the rail. It never changes the plane either, which the destination
 * selects. Routes to leaves and spines, of which in-network trees consist, pass the NVSwitch, which therefore combines
 * the contributions of its GPUs first; their rail is the rail of the leaf or spine. In a Dragonfly, routes are minimal:
 * to the router with the cable to the destination's group, which the destination selects, and from the router at its
 * end.
 */
#pragma once

#include "base/named.hpp"
#include "fabric/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace weft {

/** Way in which leaves connect NICs. */
enum class GpuNetwork : std::uint8_t {
  rail_optimised, ///< one leaf per rail, and spines that connect all leaves
  rail_only,      ///< one leaf per rail, and spines that connect the leaves of one rail
  top_of_rack,    ///< one leaf for all NICs
  dragonfly,      ///< groups of routers, without spines
};
template <> struct Names<GpuNetwork> {
  static constexpr std::array ROWS{std::pair{GpuNetwork::rail_optimised, std::string_view("rail-optimised")},
                                   std::pair{GpuNetwork::rail_only, std::string_view("rail-only")},
                                   std::pair{GpuNetwork::top_of_rack, std::string_view("top-of-rack")},
                                   std::pair{GpuNetwork::dragonfly, std::string_view("dragonfly")}};
};

/** Links between the GPUs of a node. */
enum class GpuInterconnect : std::uint8_t {
  nvswitch,   ///< NVSwitches
  all_to_all, ///< a direct link between any two GPUs
  cube_mesh,  ///< direct links of the DGX-1's hybrid cube-mesh
  pcie,       ///< PCIe only
};
template <> struct Names<GpuInterconnect> {
  static constexpr std::array ROWS{std::pair{GpuInterconnect::nvswitch, std::string_view("nvswitch")},
                                   std::pair{GpuInterconnect::all_to_all, std::string_view("all-to-all")},
                                   std::pair{GpuInterconnect::cube_mesh, std::string_view("cube-mesh")},
                                   std::pair{GpuInterconnect::pcie, std::string_view("pcie")}};
};

struct GpuClusterOptions {
  int nodes              = 0;
  int gpus               = 0; ///< per node
  GpuInterconnect inside = GpuInterconnect::nvswitch;
  int nics               = 0; ///< per node; 0: one per GPU
  int planes             = 1; ///< ports of a NIC
  int nodes_per_unit     = 0; ///< 0: all
  int spines             = 0; ///< of a plane, or of a plane and rail if rails have their own spines
  GpuNetwork network     = GpuNetwork::rail_optimised;
  int routers            = 0; ///< per unit, if the network is a Dragonfly
  int global_cables      = 1; ///< between two units of a Dragonfly
};

class GpuCluster final : public Topology {
  enum class Kind : std::uint8_t { gpu, hub, nic, leaf, spine }; // a hub is an NVSwitch or a PCIe root
  /** A vertex: number `number` of its kind in node, unit or group of spines `of`. */
  struct Place {
    Kind kind;
    int of;
    int number;
  };

  GpuClusterOptions options_;
  int units_;
  int leaves_;       // of a unit
  int spine_groups_; // groups of spines, each of which connects leaves of one plane, or of one plane and rail
  int first_hub_, first_nic_, first_leaf_, first_spine_, end_;
  std::vector<Cable> cables_;
  std::vector<int> first_cable_; // by vertex: index of its first upward cable; last element: number of cables

  static constexpr int ANY_RAIL = -1;

  bool has_rails() const
  {
    return options_.network == GpuNetwork::rail_optimised || options_.network == GpuNetwork::rail_only;
  }
  bool is_dragonfly() const { return options_.network == GpuNetwork::dragonfly; }
  int unit(int node) const { return node / options_.nodes_per_unit; }
  int nic_of(int gpu) const { return gpu / (options_.gpus / options_.nics); }
  Place place(VertexId vertex) const;
  bool linked(int gpu, int other) const;
  int rail(Place at) const;
  int plane(Place at) const;
  static bool in_node(Place at) { return at.kind <= Kind::nic; }
  VertexId gpu(int node, int number) const { return node * options_.gpus + number; }
  VertexId hub(int node) const { return first_hub_ + node; }
  VertexId nic(int node, int number) const { return first_nic_ + node * options_.nics + number; }
  VertexId leaf(int its_unit, int number) const { return first_leaf_ + its_unit * leaves_ + number; }
  int leaf_of(int node, int nic, int its_plane) const;
  int gateway(int its_unit, int other, int cable) const;
  void connect();
  void connect_leaf(VertexId vertex, Place at);
  Hop hop(VertexId from, VertexId to, int number = 0) const;
  VertexId spine_of(Place its_leaf, int number) const;
  VertexId next(Place at, Place to, VertexId goal) const;
  VertexId from_gpu(Place at, Place to, VertexId goal) const;
  VertexId from_nic(Place at, Place to, VertexId goal) const;
  VertexId from_leaf(Place at, Place to, VertexId goal) const;
  VertexId from_spine(Place at, Place to, VertexId goal) const;
  Hop from_router(VertexId vertex, VertexId goal) const;
  int spread(Place to, VertexId goal) const;

public:
  /** @p options must be complete and consistent, as the reader of the [topology] table ensures. */
  explicit GpuCluster(const GpuClusterOptions& options);

  int host_count() const override { return first_hub_; }
  int switch_count() const override { return end_ - first_hub_; }
  std::vector<Cable> cables() const override { return cables_; }
  Hop next_hop(VertexId at, VertexId to) const override;
  /** Includes all planes of a NIC and all spines of a leaf, where a route crosses one, and all parallel cables to
   * another group.
   */
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  int stripes_between(VertexId from, VertexId to) const override;
  /** True for NICs: their ports are the cables of their GPUs. */
  bool divides_stripes(VertexId vertex) const override { return place(vertex).kind == Kind::nic; }
  int diameter() const override;
  /** Returns the NVSwitch for GPUs of one node, the leaves for GPUs of one unit, otherwise the spines; in a Dragonfly,
   * the routers of the NICs. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  int rails() const override { return has_rails() ? options_.nics * options_.planes : 1; }
  int rail(VertexId vertex) const override;
  /** True for NICs and PCIe roots. */
  bool never_combines(VertexId vertex) const override;
  /** "node-07.gpu-3". */
  std::string host_name(int index) const override;
  /** "node-07.nvswitch" or "node-07.pcie", "node-07.nic-3", "leaf-12", "spine-03". */
  std::string switch_name(int index) const override;
  std::string_view switch_noun(int index) const override;
};

TopologyKind gpu_cluster_kind();

} // namespace weft
