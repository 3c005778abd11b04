// SPDX-License-Identifier: LGPL-2.1-only
/* Speed of one core at SwitchML's conversion of single-precision data: largest exponent, to 32-bit integers in network
 * order, and back, in packets of 64 elements. The loops are those of its host library (see
 * src/model/switch/fixed_point.hpp). presets/switch/tofino-fixed.toml contains the result.
 *
 *   g++ -O3 -march=native -ffast-math benchmarks/fixed_point.cpp -o fixed_point && ./fixed_point
 */
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main()
{
  constexpr std::size_t ELEMENTS = 1 << 20;
  constexpr std::size_t PACKET   = 64;
  constexpr int RANKS            = 16;
  std::vector<float> data(ELEMENTS);
  std::vector<float> result(ELEMENTS);
  std::vector<std::int32_t> wire(ELEMENTS);
  for (std::size_t at = 0; at < ELEMENTS; ++at)
    data[at] = std::sin(static_cast<float>(at));
  double shortest = 1e9;
  for (int repetition = 0; repetition < 50; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t first = 0; first < ELEMENTS; first += PACKET) {
      float largest = 0;
      for (std::size_t at = first; at < first + PACKET; ++at)
        largest = std::max(largest, std::fabs(data[at]));
      const int exponent = static_cast<int>((std::bit_cast<std::uint32_t>(largest) & 0x7f800000U) >> 23U) - 126;
      const auto factor  = static_cast<float>(INT32_MAX / (RANKS * std::ldexp(1.0, exponent)));
      for (std::size_t at = first; at < first + PACKET; ++at)
        wire[at] = static_cast<std::int32_t>(
            __builtin_bswap32(static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(data[at] * factor)))));
      for (std::size_t at = first; at < first + PACKET; ++at)
        result[at] = static_cast<float>(static_cast<std::int32_t>(
                         __builtin_bswap32(static_cast<std::uint32_t>(wire[at])))) /
                     factor;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    shortest                                 = std::min(shortest, took.count());
  }
  std::printf("%.1f GB/s (first element off by %g)\n", ELEMENTS * sizeof(float) / shortest / 1e9,
              static_cast<double>(result[1] - data[1]));
}
