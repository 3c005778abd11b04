// SPDX-License-Identifier: LGPL-2.1-only
/* Random numbers by counter: each is a function of a seed and of its place, so that it does not matter who asks first.
 *
 * The generator is Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy
 * as 1, 2, 3, SC '11), a block cipher of which only as much is left as statistics need. */
#pragma once

#include <array>
#include <cstdint>

namespace weft {

/** Where in all random numbers of a seed one stands. */
using RandomPlace = std::array<std::uint32_t, 4>;

/** What is drawn: the last word of a place, so that no number serves two purposes. */
struct RandomPurpose {
  static constexpr std::uint32_t DETOUR_STARTS  = 0;
  static constexpr std::uint32_t DETOUR_LENGTHS = 1;
  static constexpr std::uint32_t JITTER         = 2; ///< and what follows: by who crosses the link
};

/** 128 random bits. */
std::array<std::uint32_t, 4> philox(RandomPlace place, std::array<std::uint32_t, 2> key);

/** A number from 0 to less than 1, of 53 bits. */
double uniform(std::uint64_t seed, RandomPlace place);

} // namespace weft
