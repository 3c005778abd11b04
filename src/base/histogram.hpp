// SPDX-License-Identifier: LGPL-2.1-only
/* Histogram of non-negative values, in bins whose width is a ten-thousandth of their values.
 *
 * A bin stores the mean of its values, so quantiles are exact where the values of a bin are equal, and otherwise within
 * the width of a bin. */
#pragma once

#include <cstdint>
#include <map>

namespace weft {

class Histogram {
  struct Bin {
    std::int64_t count = 0;
    double sum         = 0;
  };
  std::map<int, Bin> bins_; // by logarithm
  std::int64_t count_ = 0;
  double sum_         = 0;
  double max_         = 0;

public:
  void add(double value);
  void add(const Histogram& other);
  std::int64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  double max() const { return max_; }
  /** Returns the quantile: the smallest value that at least the fraction @p part of all values does not exceed. */
  double quantile(double part) const;
};

} // namespace weft
