// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace weft {
namespace {

/** Returns the largest magnitude in the blocks of all ranks; NaN if there is a NaN. */
float largest_magnitude(std::span<const float* const> contributions, std::size_t first, std::size_t count)
{
  float largest = 0;
  for (const float* const contribution : contributions)
    for (const float value : std::span(contribution + first, count)) {
      if (std::isnan(value))
        return value;
      largest = std::max(largest, std::fabs(value));
    }
  return largest;
}

/** Converts an element to fixed point. SwitchML scales in single precision; double precision also represents the
 * factors of blocks of subnormal numbers. */
std::int32_t to_fixed(float value, double factor)
{
  return static_cast<std::int32_t>(std::nearbyint(value * factor));
}

void add_block(std::span<const float* const> contributions, std::span<float> sum, std::size_t first)
{
  const float largest = largest_magnitude(contributions, first, sum.size());
  if (not std::isfinite(largest)) {
    std::ranges::fill(sum, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  int exponent = 0;
  std::frexp(largest, &exponent); // largest < 2^exponent
  const auto share    = std::numeric_limits<std::int32_t>::max() / static_cast<std::int64_t>(contributions.size());
  const double factor = std::ldexp(static_cast<double>(share), -exponent);
  for (std::size_t at = 0; at < sum.size(); ++at) {
    std::int32_t total = 0;
    for (const float* const contribution : contributions)
      total += to_fixed(contribution[first + at], factor);
    sum[at] = static_cast<float>(total / factor);
  }
}

} // namespace

void add_fixed_point(std::span<const float* const> contributions, std::span<float> sum, std::size_t block)
{
  if (block == 0 || contributions.empty())
    throw std::logic_error("a fixed-point sum needs blocks and contributions");
  for (std::size_t first = 0; first < sum.size(); first += block)
    add_block(contributions, sum.subspan(first, std::min(block, sum.size() - first)), first);
}

} // namespace weft
