// SPDX-License-Identifier: LGPL-2.1-only
/* Constants of NCCL's tuner (src/graph/tuning.cc) for one version: a file of presets/nccl. */
#pragma once

#include "base/named.hpp"
#include "base/option_file.hpp"
#include "base/units.hpp"
#include "model/nccl/nccl_names.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace weft {

/** Version whose formulas a set of constants belongs to: 2.29 covers 2.27 and later, 2.18 the releases before. */
enum class NcclFormulas { v2_18, v2_29 };
template <> struct Names<NcclFormulas> {
  static constexpr std::array ROWS{std::pair{NcclFormulas::v2_18, std::string_view("2.18")},
                                   std::pair{NcclFormulas::v2_29, std::string_view("2.29")}};
};

template <class Q> using ByProtocol = std::array<Q, 3>;
/** Values for one node, for two nodes and for more. */
template <class Q> using ByNodes = std::array<Q, 3>;

/** Latencies of an algorithm: a [[latency]] table. */
struct NcclLatency {
  ByProtocol<Seconds> base{};    ///< baseLat
  ByProtocol<Seconds> nvlink{};  ///< hwLat of a step over NVLink
  ByProtocol<Seconds> pcie{};    ///< hwLat of a step over PCIe
  ByProtocol<Seconds> network{}; ///< hwLat of a step between nodes
};

/** Bandwidths by architecture: a [[bandwidth]] table. */
struct NcclBandwidth {
  ByNodes<BytesPerSecond> ll{};         ///< llMaxBws: maximum over all channels with LL
  ByNodes<BytesPerSecond> ring_ll128{}; ///< perChMaxRingLL128Bws: maximum of a channel
  ByNodes<BytesPerSecond> tree_ll128{}; ///< perChMaxTreeLL128Bws
  ByNodes<BytesPerSecond> tree{};       ///< perChMaxTreeBws
  ByNodes<BytesPerSecond> nvls_tree{};  ///< perChMaxNVLSTreeBws
  double nvls_efficiency = 0;           ///< nvlsEfficiency
};

struct NcclConstants {
  std::string name; ///< file name
  NcclFormulas formulas = NcclFormulas::v2_29;
  std::array<NcclLatency, 7> latency; ///< by algorithm
  std::map<GpuArchitecture, NcclBandwidth> bandwidth;
  /// treeCorrectionFactor: fraction of a tree's bandwidth, indexed by the binary logarithm of bytes / 64.
  ByProtocol<std::vector<double>> tree_correction;

  /** Loads the constants of a version, such as "2.29". Throws UserError. */
  static NcclConstants load(const std::string& version);
  static NcclConstants read(const OptionTable& file, std::string name);
};

} // namespace weft
