// SPDX-License-Identifier: LGPL-2.1-only
/* Machine as NCCL finds it: GPUs, nodes, and the graphs of its search. The table [nccl] of a fabric file.
 *
 * Each host of the fabric is a GPU with its own port; consecutive hosts form a node. NCCL_DEBUG=INFO with
 * NCCL_DEBUG_SUBSYS=GRAPH prints the graphs ("Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0"). */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"
#include "model/nccl/nccl_names.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Channels and speeds that NCCL's search has found for an algorithm: a [[nccl.graph]] table. */
struct NcclGraph {
  NcclAlgorithm of = NcclAlgorithm::ring;
  int gpus         = 0; ///< GPUs of a node that a call uses; 0: any number that no other graph is for
  int channels     = 0;
  BytesPerSecond intra{};                       ///< of a channel, within a node
  BytesPerSecond inter{};                       ///< of a channel, between nodes
  GpuLinks links            = GpuLinks::nvlink; ///< within a node
  NcclAbility same_channels = NcclAbility::yes; ///< whether all channels take the GPUs in the same order
  Seconds network_latency{};                    ///< added to NCCL's own for a message between nodes
};

struct NcclMachine {
  GpuArchitecture architecture = GpuArchitecture::hopper;
  CpuVendor cpu                = CpuVendor::intel;
  int gpus_per_node            = 8; ///< consecutive hosts of the fabric
  /// LL128 needs NVLink within the node, and a NIC near the GPU: up to PXN from Hopper on, up to a PCIe switch before.
  NcclAbility ll128       = NcclAbility::yes;
  NcclAbility collnet     = NcclAbility::no;  ///< whether a plug-in for reductions in the network is loaded
  NcclAbility simple_tree = NcclAbility::yes; ///< whether trees have NCCL's pattern TREE, one channel a node and NIC
  std::vector<NcclGraph> graphs;              ///< one for each algorithm that the machine can run
  // Environment variables of NCCL; empty or zero: not set.
  std::string algo;       ///< NCCL_ALGO
  std::string proto;      ///< NCCL_PROTO
  int least_channels = 0; ///< NCCL_MIN_NCHANNELS
  int most_channels  = 0; ///< NCCL_MAX_NCHANNELS
  Bytes buffer{};         ///< NCCL_BUFFSIZE

  /** Returns the graph of an algorithm for calls of @p gpus a node; null if the machine cannot run it. */
  const NcclGraph* graph(NcclAlgorithm algorithm, int gpus) const;
};

/** Returns the keys of the [nccl] table. */
const std::vector<Option<NcclMachine>>& nccl_options();
/** Returns the keys of a [[nccl.graph]] table. */
const std::vector<Option<NcclGraph>>& nccl_graph_options();
/** Reads the [nccl] table of a fabric file, if there is one. Throws UserError. */
std::optional<NcclMachine> read_nccl(const OptionTable& file);

} // namespace weft
