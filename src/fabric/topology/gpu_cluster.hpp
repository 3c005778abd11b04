// SPDX-License-Identifier: LGPL-2.1-only
/* GPU cluster: nodes of several GPUs, which are the hosts, with a switch inside each node and NICs that belong to GPUs.
 *
 * A node has one NVSwitch, which stands for all of its planes, as in NCCL's graph of a node (src/graph/topo.cc). GPU g
 * of G and NIC r of R share a PCIe switch if r = g R / G; the NIC is a vertex that only forwards. Nodes of a unit share
 * leaves: with rails, leaf r of the unit has NIC r of each of its nodes (NVIDIA's rail-optimised scalable unit,
 * RA-11333; rails without spines between them: Wang et al., arXiv 2307.12169); without, one leaf has all. Spines
 * connect the leaves of all units, or of one rail.
 *
 * Routing: GPUs of a node use its NVSwitch. Otherwise, with rails, a packet leaves its node by the NIC of the
 * destination's rail, over the NVSwitch and the PCIe switch of that NIC's GPU (NCCL's PXN, src/graph/paths.cc), so that
 * it never changes the rail. Routes to leaves and spines, which trees in the network consist of, go over the NVSwitch,
 * which therefore combines the contributions of its GPUs first; the rail is that of the leaf or the spine.
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
  rail_optimised, ///< a leaf a rail, spines that connect all leaves
  rail_only,      ///< a leaf a rail, spines that connect those of one rail
  top_of_rack,    ///< one leaf for all NICs
};
template <> struct Names<GpuNetwork> {
  static constexpr std::array ROWS{std::pair{GpuNetwork::rail_optimised, std::string_view("rail-optimised")},
                                   std::pair{GpuNetwork::rail_only, std::string_view("rail-only")},
                                   std::pair{GpuNetwork::top_of_rack, std::string_view("top-of-rack")}};
};

struct GpuClusterOptions {
  int nodes          = 0;
  int gpus           = 0; ///< per node
  int nics           = 0; ///< per node; 0: one a GPU
  int nodes_per_unit = 0; ///< 0: all
  int spines         = 0; ///< of a rail, if rails have their own, or else of all
  GpuNetwork network = GpuNetwork::rail_optimised;
};

class GpuCluster final : public Topology {
  enum class Kind : std::uint8_t { gpu, nvswitch, nic, leaf, spine };
  /** A vertex: number `number` of its kind in node or unit `of`. */
  struct Place {
    Kind kind;
    int of;
    int number;
  };

  GpuClusterOptions options_;
  int units_;
  int leaves_; // of a unit
  int first_nvswitch_, first_nic_, first_leaf_, first_spine_, end_;
  std::vector<Cable> cables_;
  std::vector<int> first_cable_; // by vertex: of the cables from it upwards; last: number of cables

  static constexpr int ANY_RAIL = -1;

  bool has_rails() const { return options_.network != GpuNetwork::top_of_rack; }
  int unit(int node) const { return node / options_.nodes_per_unit; }
  int nic_of(int gpu) const { return gpu / (options_.gpus / options_.nics); }
  Place place(VertexId vertex) const;
  int rail(Place at) const;
  static bool in_node(Place at) { return at.kind <= Kind::nic; }
  VertexId gpu(int node, int number) const { return node * options_.gpus + number; }
  VertexId nvswitch(int node) const { return first_nvswitch_ + node; }
  VertexId nic(int node, int number) const { return first_nic_ + node * options_.nics + number; }
  VertexId leaf(int its_unit, int number) const { return first_leaf_ + its_unit * leaves_ + number; }
  void connect();
  Hop hop(VertexId from, VertexId to) const;
  VertexId spine_of(Place its_leaf, int number) const;
  VertexId next(Place at, Place to, VertexId goal) const;
  VertexId from_gpu(Place at, Place to) const;
  VertexId from_leaf(Place at, Place to, VertexId goal) const;
  VertexId from_spine(Place at, Place to, VertexId goal) const;

public:
  /** @p options are complete and consistent, see the reader of the [topology] table. */
  explicit GpuCluster(const GpuClusterOptions& options);

  int host_count() const override { return first_nvswitch_; }
  int switch_count() const override { return end_ - first_nvswitch_; }
  std::vector<Cable> cables() const override { return cables_; }
  Hop next_hop(VertexId at, VertexId to) const override;
  /** All spines of a leaf, where a route goes over one. */
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  int diameter() const override;
  /** Returns the NVSwitch of GPUs of one node, the leaves of those of one unit, or else the spines. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  int rails() const override { return has_rails() ? options_.nics : 1; }
  int rail(VertexId vertex) const override { return std::max(0, rail(place(vertex))); }
  /** True for NICs. */
  bool never_combines(VertexId vertex) const override { return place(vertex).kind == Kind::nic; }
  /** "node-07.gpu-3". */
  std::string host_name(int index) const override;
  /** "node-07.nvswitch", "node-07.nic-3", "leaf-12", "spine-03". */
  std::string switch_name(int index) const override;
};

TopologyKind gpu_cluster_kind();

} // namespace weft
