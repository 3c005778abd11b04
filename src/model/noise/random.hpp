// SPDX-License-Identifier: LGPL-2.1-only
/* Counter-based random numbers: each number is a function of a seed and a counter, independent of the order in which
 * numbers are drawn.
 *
 * The generator is Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy
 * as 1, 2, 3, SC '11). */
#pragma once

#include <array>
#include <cstdint>

namespace weft {

/** Counter that identifies a random number of a seed. */
using RandomPlace = std::array<std::uint32_t, 4>;

/** Last word of the counter, one value per purpose, so that no counter is used twice. */
struct RandomPurpose {
  static constexpr std::uint32_t DETOUR_STARTS  = 0;
  static constexpr std::uint32_t DETOUR_LENGTHS = 1;
  static constexpr std::uint32_t JITTER =
      2; ///< and the numbers after it: by the host or communicator that crosses the link
  static constexpr std::uint32_t TRIMS         = 0xfffffff7;
  static constexpr std::uint32_t SPRAY         = 0xfffffff8;
  static constexpr std::uint32_t MARKS         = 0xfffffff9;
  static constexpr std::uint32_t COMPUTATION   = 0xfffffffa;
  static constexpr std::uint32_t LOSSES        = 0xfffffffb;
  static constexpr std::uint32_t ROUTE_HOPS    = 0xfffffffc;
  static constexpr std::uint32_t ROUTE_DETOURS = 0xfffffffd;
  static constexpr std::uint32_t ROUTE_LABELS  = 0xfffffffe;
  static constexpr std::uint32_t TRAFFIC       = 0xffffffff;
};

/** Returns 128 random bits. */
std::array<std::uint32_t, 4> philox(RandomPlace place, std::array<std::uint32_t, 2> key);

/** Returns a number in [0, 1) with 53 random bits. */
double uniform(std::uint64_t seed, RandomPlace place);

} // namespace weft
