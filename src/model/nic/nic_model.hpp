// SPDX-License-Identifier: LGPL-2.1-only
/* What a host's network interface adds to an offloaded collective. */
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
  Seconds offload_overhead; ///< host and NIC work of one offloaded call, both ways together
  Seconds message_gap;      ///< between the messages of two ranks that share the NIC
  /// The host's own copy and conversion rate, a ceiling on a stream's payload rate.
  BytesPerSecond offload_copy_rate{std::numeric_limits<double>::infinity()};
  /// At which a packet is copied before it leaves and after it has come; only the first packet of a call waits for
  /// that.
  BytesPerSecond packet_copy_rate{std::numeric_limits<double>::infinity()};
  std::vector<NicCalls> calls; ///< by rising size; smaller calls cost what stands above
  /// How the library executes a Reduce_scatter: "parts", switches send each rank its part; "allreduce", as an Allreduce
  /// of the whole vector into memory of the library's, out of which each rank copies its part.
  std::string reduce_scatter = "parts";
  BytesPerSecond part_copy_rate{std::numeric_limits<double>::infinity()};
  /// At which that memory is registered with the NIC, where it is new for each call: from so many bytes on.
  BytesPerSecond registration_rate{std::numeric_limits<double>::infinity()};
  Bytes registration_from;
  /// "per-rank": each rank of a host sends its own; "per-host": one speaks for all, and the others hand it theirs
  /// first.
  std::string contributions = "per-rank";
  /// The algorithms by which the ranks of a host do that, as collective/host/selection/algorithms.hpp names them, which
  /// checks them; and where a file names them.
  std::string host_reduce = "binomial";
  std::string host_bcast  = "binomial";
  std::string host_reduce_place;
  std::string host_bcast_place;

  bool host_combines() const { return contributions == "per-host"; }
  bool scatters_whole_vectors() const { return reduce_scatter == "allreduce"; }
  /** The costs of a call of @p message bytes. */
  NicCalls costs(Bytes message) const;
  /** How long registering memory of so many bytes takes. */
  Seconds registration(Bytes bytes) const { return bytes >= registration_from ? bytes / registration_rate : Seconds(); }
};

/** The keys of a [nic] table and of presets/nic/. */
const std::vector<Option<NicModel>>& nic_options();
/** The keys of a [[nic.calls]] table. */
const std::vector<Option<NicCalls>>& nic_calls_options();
NicModel read_nic(const OptionTable& table);

} // namespace weft
