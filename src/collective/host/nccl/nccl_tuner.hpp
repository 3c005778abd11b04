// SPDX-License-Identifier: LGPL-2.1-only
/* Tuner of NCCL: it predicts the time of a call with each algorithm and protocol as latency + bytes / bandwidth, and
 * selects the fastest. Then it chooses channels, threads and chunks.
 *
 * Formulas: ncclTopoTuneModel and ncclTopoGetAlgoTime (src/graph/tuning.cc), getAlgoInfo, topoGetAlgoInfo and
 * calcCollChunking (src/enqueue.cc) of NCCL 2.29.2 and 2.18.3. The times are NCCL's estimates and only drive its
 * choice; the times of a run come from schedules on the fabric. */
#pragma once

#include "base/units.hpp"
#include "model/nccl/nccl_constants.hpp"
#include "model/nccl/nccl_machine.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Collective of NCCL. */
enum class NcclCollective { broadcast, reduce, allgather, reduce_scatter, allreduce, alltoall };
template <> struct Names<NcclCollective> {
  static constexpr std::array ROWS{std::pair{NcclCollective::broadcast, std::string_view("bcast")},
                                   std::pair{NcclCollective::reduce, std::string_view("reduce")},
                                   std::pair{NcclCollective::allgather, std::string_view("allgather")},
                                   std::pair{NcclCollective::reduce_scatter, std::string_view("reduce_scatter_block")},
                                   std::pair{NcclCollective::allreduce, std::string_view("allreduce")},
                                   std::pair{NcclCollective::alltoall, std::string_view("alltoall")}};
};

/** Ranks of a call, one per GPU. */
struct NcclRanks {
  int ranks;
  int nodes; ///< number of nodes, with equally many ranks on each
};

/** Algorithm and protocol, and the tuner's model of their time: latency + bytes / bandwidth. */
struct NcclOption {
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
  Seconds latency;
  BytesPerSecond bandwidth;
};

/** Choice for a call. */
struct NcclChoice {
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
  Seconds time; ///< time predicted by the tuner
  int channels;
  int threads; ///< of a channel's block, without threads that only synchronise
  Bytes chunk; ///< data of a channel in one step
};

class NcclTuner {
  NcclConstants constants_;
  NcclMachine machine_;

  const NcclBandwidth& bandwidth() const;
  bool is_new() const { return constants_.formulas == NcclFormulas::v2_29; }
  bool is_possible(NcclAlgorithm algorithm, NcclProtocol protocol, NcclCollective collective, NcclRanks in) const;
  bool is_allowed(NcclAlgorithm algorithm, NcclProtocol protocol, NcclCollective collective) const;
  const NcclGraph* graph(NcclAlgorithm algorithm, NcclRanks in) const;
  BytesPerSecond most_with_ll(NcclRanks in) const;
  BytesPerSecond nvls_channel(const NcclGraph& its, NcclCollective collective, NcclRanks in) const;
  BytesPerSecond ring_bandwidth(BytesPerSecond bus, NcclProtocol protocol, NcclCollective collective,
                                NcclRanks in) const;
  BytesPerSecond tree_bandwidth(BytesPerSecond bus, NcclProtocol protocol, NcclRanks in) const;
  BytesPerSecond collnet_bandwidth(const NcclGraph& its, NcclCollective collective, NcclRanks in) const;
  BytesPerSecond bus_bandwidth(const NcclGraph& its, NcclProtocol protocol, NcclCollective collective,
                               NcclRanks in) const;
  double ratio(NcclAlgorithm algorithm, NcclCollective collective, NcclRanks in) const;
  Seconds ring_latency(const NcclGraph& graph_of_ring, NcclProtocol protocol, NcclCollective collective,
                       NcclRanks in) const;
  Seconds latency(const NcclGraph& its, NcclProtocol protocol, NcclCollective collective, NcclRanks in) const;
  Seconds time(const NcclOption& option, NcclCollective collective, NcclRanks in, Bytes bytes) const;
  void choose_channels(NcclChoice& choice, NcclCollective collective, NcclRanks in, Bytes bytes) const;
  void shorten_chunk(NcclChoice& choice, NcclCollective collective, NcclRanks in, Bytes bytes) const;
  [[noreturn]] void fail(NcclCollective collective, NcclRanks in, std::span<const NcclAlgorithm> among) const;

public:
  /** Throws UserError if the constants lack the machine's GPUs, or its NCCL_ALGO or NCCL_PROTO are invalid. */
  NcclTuner(NcclConstants constants, NcclMachine machine);

  static constexpr double PAT_OVERLAP = 3.5;    ///< number of concurrent messages of PAT between nodes
  static constexpr Seconds PAT_BLOCK{2.8e-6};   ///< latency of PAT per rank
  static constexpr Seconds COLLNET_GPU{0.4e-6}; ///< latency of CollNetDirect per additional GPU of a node

  const NcclMachine& machine() const { return machine_; }
  const NcclConstants& constants() const { return constants_; }
  /** Returns latency and bandwidth of all algorithms and protocols that can execute a call. */
  std::vector<NcclOption> options(NcclCollective collective, NcclRanks in) const;
  /** Returns the protocol, channels and chunks of a call's point-to-point messages (an Alltoall), for which the tuner
   * has no choice. */
  NcclChoice messages(NcclRanks in) const;
  /** Returns the choice for a call whose larger buffer has @p bytes (for an Allgather: all blocks). Throws UserError if
   * NCCL_ALGO and NCCL_PROTO exclude every algorithm that can execute it. @p among: candidate algorithms; empty: all.
   */
  NcclChoice choose(NcclCollective collective, NcclRanks in, Bytes bytes,
                    std::span<const NcclAlgorithm> among = {}) const;

  /** Returns the latency of a call before its first step. */
  Seconds base_latency(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  /** Returns the data rate of a channel in the tuner's model: for a ring, on each connection; otherwise, for the
   * channel's share of the vector. */
  BytesPerSecond channel_rate(const NcclChoice& choice, NcclCollective collective, NcclRanks in) const;
  /** Returns the latency of a step between two GPUs, within a node or between nodes. */
  Seconds step_latency(NcclAlgorithm algorithm, NcclProtocol protocol, NcclRanks in, bool between_nodes) const;
  /** Returns the bytes of a connection's slot, including the flags of the protocol. */
  Bytes slot(NcclProtocol protocol) const;
};

/** Returns the bytes on the wire per byte of data. */
double wire_factor(NcclProtocol protocol);

} // namespace weft
