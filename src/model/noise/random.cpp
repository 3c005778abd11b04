// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/random.hpp"

#include <utility>

namespace weft {
namespace {

// The paper's constants: two multipliers, and the increments of the key per round (golden ratio, sqrt(3) - 1).
constexpr std::uint64_t MULTIPLIERS[] = {0xD2511F53, 0xCD9E8D57}; // NOLINT(modernize-avoid-c-arrays)
constexpr std::uint32_t KEY_STEPS[]   = {0x9E3779B9, 0xBB67AE85}; // NOLINT(modernize-avoid-c-arrays)
constexpr int ROUNDS                  = 10;
constexpr unsigned WORD               = 32; // bits

/** Returns the upper and the lower half of a product. */
std::pair<std::uint32_t, std::uint32_t> multiply(std::uint64_t by, std::uint32_t word)
{
  const std::uint64_t product = by * word;
  return {static_cast<std::uint32_t>(product >> WORD), static_cast<std::uint32_t>(product)};
}

} // namespace

std::array<std::uint32_t, 4> philox(RandomPlace place, std::array<std::uint32_t, 2> key)
{
  for (int round = 0; round < ROUNDS; ++round) {
    const auto [high0, low0] = multiply(MULTIPLIERS[0], place[0]);
    const auto [high1, low1] = multiply(MULTIPLIERS[1], place[2]);
    place                    = {high1 ^ place[1] ^ key[0], low1, high0 ^ place[3] ^ key[1], low0};
    key[0] += KEY_STEPS[0];
    key[1] += KEY_STEPS[1];
  }
  return place;
}

double uniform(std::uint64_t seed, RandomPlace place)
{
  constexpr unsigned UNUSED = 11; // low bits to drop: a double has 53 of the 64
  const auto bits = philox(place, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> WORD)});
  const std::uint64_t number = (static_cast<std::uint64_t>(bits[0]) << WORD | bits[1]) >> UNUSED;
  return static_cast<double>(number) * 0x1p-53;
}

} // namespace weft
