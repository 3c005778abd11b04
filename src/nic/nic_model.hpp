// SPDX-License-Identifier: LGPL-2.1-only
/* What a host's network interface adds to an offloaded collective. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <string>
#include <vector>

namespace weft {

struct NicModel {
  std::string preset;
  Seconds offload_overhead; ///< host and NIC work of one offloaded call, both ways together
  Seconds message_gap;      ///< between the messages of two ranks that share the NIC
  /// The host's own copy and conversion rate, a ceiling on a stream's payload rate.
  BytesPerSecond offload_copy_rate{std::numeric_limits<double>::infinity()};
  /// "per-rank": each rank of a host sends its own; "per-host": they first combine theirs, through the host's loopback.
  std::string contributions = "per-rank";

  bool host_combines() const { return contributions == "per-host"; }
};

/** The keys of a [nic] table and of presets/nic/. */
const std::vector<Option<NicModel>>& nic_options();
NicModel read_nic(const OptionTable& table);

} // namespace weft
