// SPDX-License-Identifier: LGPL-2.1-only
/* Constants of NCCL's tuner (src/graph/tuning.cc), of one version: a file of presets/nccl. */
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

/** Version whose formulas a set of constants belongs to: 2.29 covers 2.27 and later, 2.18 the years before. */
enum class NcclFormulas { v2_18, v2_29 };
template <> struct Names<NcclFormulas> {
  static constexpr std::array ROWS{std::pair{NcclFormulas::v2_18, std::string_view("2.18")},
                                   std::pair{NcclFormulas::v2_29, std::string_view("2.29")}};
};

template <class Q> using ByProtocol = std::array<Q, 3>;
/** Values for one node, two nodes and more. */
template <class Q> using ByNodes = std::array<Q, 3>;

/** Latencies of an algorithm: a [[latency]] table. */
struct NcclLatency {
  ByProtocol<Seconds> base{};    ///< baseLat
  ByProtocol<Seconds> nvlink{};  ///< hwLat of a step over NVLink,
  ByProtocol<Seconds> pcie{};    ///< over PCIe,
  ByProtocol<Seconds> network{}; ///< and between nodes
};

/** Bandwidths by architecture: a [[bandwidth]] table. */
struct NcclBandwidth {
  ByNodes<BytesPerSecond> ll{};         ///< llMaxBws: most of all channels with LL
  ByNodes<BytesPerSecond> ring_ll128{}; ///< perChMaxRingLL128Bws: most of a channel
  ByNodes<BytesPerSecond> tree_ll128{}; ///< perChMaxTreeLL128Bws
  ByNodes<BytesPerSecond> tree{};       ///< perChMaxTreeBws
  ByNodes<BytesPerSecond> nvls_tree{};  ///< perChMaxNVLSTreeBws
  double nvls_efficiency = 0;           ///< nvlsEfficiency
};

struct NcclConstants {
  std::string name; ///< of the file
  NcclFormulas formulas = NcclFormulas::v2_29;
  std::array<NcclLatency, 7> latency; ///< by algorithm
  std::map<GpuArchitecture, NcclBandwidth> bandwidth;
  /// treeCorrectionFactor: share of a tree's bandwidth by binary logarithm of the bytes over 64.
  ByProtocol<std::vector<double>> tree_correction;

  /** Loads the constants of a version, such as "2.29". Throws UserError. */
  static NcclConstants load(const std::string& version);
  static NcclConstants read(const OptionTable& file, std::string name);
};

} // namespace weft
