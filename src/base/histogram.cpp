// SPDX-License-Identifier: LGPL-2.1-only
#include "base/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/** Returns the number of the bin for a value; zero is in the first bin. */
int bin_of(double value)
{
  constexpr double WIDTH = 1e-4;
  return value > 0 ? static_cast<int>(std::floor(std::log(value) / std::log1p(WIDTH)))
                   : std::numeric_limits<int>::min();
}

} // namespace

void Histogram::add(double value)
{
  Bin& bin = bins_[bin_of(value)];
  ++bin.count;
  bin.sum += value;
  ++count_;
  sum_ += value;
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other)
{
  for (const auto& [number, theirs] : other.bins_) {
    Bin& bin = bins_[number];
    bin.count += theirs.count;
    bin.sum += theirs.sum;
  }
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::quantile(double part) const
{
  const double wanted = part * static_cast<double>(count_);
  std::int64_t passed = 0;
  for (const auto& [number, bin] : bins_) {
    passed += bin.count;
    if (static_cast<double>(passed) >= wanted && passed > 0)
      return std::min(max_, bin.sum / static_cast<double>(bin.count));
  }
  return max_;
}

} // namespace weft
