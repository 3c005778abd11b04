// SPDX-License-Identifier: LGPL-2.1-only
/* Machine as NCCL detects it, described by the table [nccl] of a fabric file: GPUs, nodes, and the graphs that NCCL's
 * search finds.
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
  int gpus         = 0; ///< GPUs per node that a call uses; 0: any number for which there is no other graph
  int channels     = 0;
  int copies       = 1;                         ///< channels that NCCL creates from each, with the same connections
  BytesPerSecond intra{};                       ///< of a channel, within a node
  BytesPerSecond inter{};                       ///< of a channel, between nodes
  GpuLinks links            = GpuLinks::nvlink; ///< within a node
  NcclAbility same_channels = NcclAbility::yes; ///< yes if all channels visit the GPUs in the same order
  Seconds network_latency{};                    ///< added to NCCL's own latency for a message between nodes
};

/** Costs of messages between nodes that NCCL's tuner does not know: a [[nccl.message]] table. */
struct NcclMessage {
  Bytes from{};               ///< smallest message of a channel, including the flags of its protocol
  Seconds latency{};          ///< replaces NCCL's own latency
  BytesPerSecond copy_rate{}; ///< rate of copies that add to the latency; zero: none
  Bytes overhead{};           ///< bytes that a message adds on the links
  Bytes late_overhead{};      ///< additional bytes once a connection has used up its pre-posted receives
};

struct NcclMachine {
  GpuArchitecture architecture = GpuArchitecture::hopper;
  CpuVendor cpu                = CpuVendor::intel;
  int gpus_per_node            = 8; ///< consecutive hosts of the fabric
  /// LL128 needs NVLink within the node and a path from GPU to NIC of at most PXN (Hopper or newer) or a PCIe switch
  /// (older GPUs).
  NcclAbility ll128       = NcclAbility::yes;
  NcclAbility collnet     = NcclAbility::no;  ///< yes if a plug-in for in-network reductions is loaded
  NcclAbility simple_tree = NcclAbility::yes; ///< yes if trees use NCCL's pattern TREE, one channel per node and NIC
  std::vector<NcclGraph> graphs;              ///< one for each algorithm that the machine can run
  std::vector<NcclMessage> messages;          ///< by size, from 0; empty: NCCL's own latencies
  Seconds peer_overhead{};                    ///< of an Alltoall, per peer
  // Properties of schedules that NCCL's sources do not state, fitted to measured tables (docs/nccl.md).
  double ring_copies = 1; ///< copies of a ring's last chunk that a call waits for
  double nvls_stages = 2; ///< additional stages that an NVLS call fills
  int ring_slices    = 2; ///< messages in which a ring sends a chunk
  // Environment variables of NCCL; empty or zero: not set.
  std::string algo;       ///< NCCL_ALGO
  std::string proto;      ///< NCCL_PROTO
  int least_channels = 0; ///< NCCL_MIN_NCHANNELS
  int most_channels  = 0; ///< NCCL_MAX_NCHANNELS
  Bytes buffer{};         ///< NCCL_BUFFSIZE

  /** Returns the graph of an algorithm for calls that use @p gpus per node; null if the machine cannot run it. */
  const NcclGraph* graph(NcclAlgorithm algorithm, int gpus) const;
  /** Returns the costs of a message between nodes; null if NCCL's own apply. */
  const NcclMessage* message(Bytes bytes) const;
};

/** Returns the keys of the [nccl] table. */
const std::vector<Option<NcclMachine>>& nccl_options();
/** Returns the keys of a [[nccl.graph]] table. */
const std::vector<Option<NcclGraph>>& nccl_graph_options();
/** Returns the keys of a [[nccl.message]] table. */
const std::vector<Option<NcclMessage>>& nccl_message_options();
/** Reads the [nccl] table of a fabric file, if there is one. Throws UserError. */
std::optional<NcclMachine> read_nccl(const OptionTable& file);

} // namespace weft
