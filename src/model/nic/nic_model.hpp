// SPDX-License-Identifier: LGPL-2.1-only
/* Costs that a host's NIC and its driver library add to an offloaded collective. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <string>
#include <vector>

namespace weft {

/** Costs of offloaded calls of at least `from` bytes: a [[nic.calls]] table. */
struct NicCalls {
  Bytes from;
  Seconds offload_overhead;
  BytesPerSecond offload_copy_rate{std::numeric_limits<double>::infinity()};
  BytesPerSecond packet_copy_rate{std::numeric_limits<double>::infinity()};
};

struct NicModel {
  std::string preset;
  Seconds offload_overhead; ///< host and NIC work per offloaded call, send and receive side together
  Seconds message_gap;      ///< between the messages of two ranks that share the NIC
  /// Copy and conversion rate of the host: an upper bound on a stream's payload rate.
  BytesPerSecond offload_copy_rate{std::numeric_limits<double>::infinity()};
  /// Rate at which packets are copied before they leave and after they arrive; delays only the first packet of a call.
  BytesPerSecond packet_copy_rate{std::numeric_limits<double>::infinity()};
  /// Messages per second that the NIC can send, and also receive, whatever their size.
  Hertz message_rate{std::numeric_limits<double>::infinity()};
  int stripes = 0;               ///< maximum number of a host's links over which a message is striped; 0: all
  Bytes least_stripe{16 * 1024}; ///< smallest share of a message that gets a link of its own: UCX's MIN_RNDV_CHUNK_SIZE
  std::vector<NicCalls> calls;   ///< by increasing size; smaller calls use the costs above
  /// Execution of a Reduce_scatter. "parts": switches send each rank its part; "allreduce": an Allreduce of the whole
  /// vector into library memory, from which each rank copies its part.
  std::string reduce_scatter = "parts";
  BytesPerSecond part_copy_rate{std::numeric_limits<double>::infinity()};
  /// Rate at which that memory is registered with the NIC. Calls of at least registration_from bytes allocate and
  /// register it again.
  BytesPerSecond registration_rate{std::numeric_limits<double>::infinity()};
  Bytes registration_from;
  /// "per-rank": each rank sends its own contribution; "per-host": the ranks of a host combine their contributions, and
  /// one rank sends the result.
  std::string contributions = "per-rank";
  /// Algorithms of the host stage with "per-host" (collective/host/selection/algorithms.hpp), and their locations in
  /// the file.
  std::string host_reduce = "binomial";
  std::string host_bcast  = "binomial";
  std::string host_reduce_place;
  std::string host_bcast_place;

  bool limits_messages() const { return message_rate.value() < std::numeric_limits<double>::infinity(); }
  bool host_combines() const { return contributions == "per-host"; }
  bool scatters_whole_vectors() const { return reduce_scatter == "allreduce"; }
  /** Returns the costs of a call of @p message bytes. */
  NicCalls costs(Bytes message) const;
  /** Returns the time to register @p bytes of memory. */
  Seconds registration(Bytes bytes) const { return bytes >= registration_from ? bytes / registration_rate : Seconds(); }
};

/** Returns the keys of a [nic] table and of presets/nic/. */
const std::vector<Option<NicModel>>& nic_options();
/** Returns the keys of a [[nic.calls]] table. */
const std::vector<Option<NicCalls>>& nic_calls_options();
NicModel read_nic(const OptionTable& table);

} // namespace weft
