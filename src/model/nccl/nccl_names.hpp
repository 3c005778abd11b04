// SPDX-License-Identifier: LGPL-2.1-only
/* Names shared by NCCL's tuner, its constants and the machine description. */
#pragma once

#include "base/named.hpp"

#include <cstddef>

namespace weft {

/** Algorithm of NCCL, in the order of NCCL_ALGO_* (src/include/nccl_tuner.h). */
enum class NcclAlgorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
template <> struct Names<NcclAlgorithm> {
  static constexpr std::array ROWS{std::pair{NcclAlgorithm::tree, std::string_view("tree")},
                                   std::pair{NcclAlgorithm::ring, std::string_view("ring")},
                                   std::pair{NcclAlgorithm::collnet_direct, std::string_view("collnetdirect")},
                                   std::pair{NcclAlgorithm::collnet_chain, std::string_view("collnetchain")},
                                   std::pair{NcclAlgorithm::nvls, std::string_view("nvls")},
                                   std::pair{NcclAlgorithm::nvls_tree, std::string_view("nvlstree")},
                                   std::pair{NcclAlgorithm::pat, std::string_view("pat")}};
};

/** Protocol of NCCL: LL sends 4 bytes of data with 4 of flags, LL128 120 bytes of data with 8, Simple data alone,
 *  with flags behind a fence. */
enum class NcclProtocol { ll, ll128, simple };
template <> struct Names<NcclProtocol> {
  static constexpr std::array ROWS{std::pair{NcclProtocol::ll, std::string_view("LL")},
                                   std::pair{NcclProtocol::ll128, std::string_view("LL128")},
                                   std::pair{NcclProtocol::simple, std::string_view("Simple")}};
};

/** Architecture of the GPUs, by compute capability: 7, 8, 9, 10. */
enum class GpuArchitecture { volta, ampere, hopper, blackwell };
template <> struct Names<GpuArchitecture> {
  static constexpr std::array ROWS{std::pair{GpuArchitecture::volta, std::string_view("volta")},
                                   std::pair{GpuArchitecture::ampere, std::string_view("ampere")},
                                   std::pair{GpuArchitecture::hopper, std::string_view("hopper")},
                                   std::pair{GpuArchitecture::blackwell, std::string_view("blackwell")}};
};

/** Vendor of the hosts' CPUs, as far as NCCL distinguishes them; amd if vendors are mixed. */
enum class CpuVendor { intel, amd, other };
template <> struct Names<CpuVendor> {
  static constexpr std::array ROWS{std::pair{CpuVendor::intel, std::string_view("intel")},
                                   std::pair{CpuVendor::amd, std::string_view("amd")},
                                   std::pair{CpuVendor::other, std::string_view("other")}};
};

/** Intra-node GPU links that a graph uses. */
enum class GpuLinks { nvlink, pcie };
template <> struct Names<GpuLinks> {
  static constexpr std::array ROWS{std::pair{GpuLinks::nvlink, std::string_view("nvlink")},
                                   std::pair{GpuLinks::pcie, std::string_view("pcie")}};
};

/** Support of a feature by a machine. */
enum class NcclAbility { yes, no };
template <> struct Names<NcclAbility> {
  static constexpr std::array ROWS{std::pair{NcclAbility::yes, std::string_view("yes")},
                                   std::pair{NcclAbility::no, std::string_view("no")}};
};

/** Returns the index of an enumerator; these enumerations count from 0. */
template <class E> constexpr std::size_t index_of(E value)
{
  return static_cast<std::size_t>(value);
}

} // namespace weft
