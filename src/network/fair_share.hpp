// SPDX-License-Identifier: LGPL-2.1-only
/* How flows share what they have in common: by max-min fairness, weighted, each up to a bound of its own.
 *
 * D. Bertsekas, R. Gallager: Data Networks, 2nd edition, 1992, section 6.5.2; the weights and bounds are those of
 * SimGrid's flow-level model: P. Velho, L. Schnorr, H. Casanova, A. Legrand: On the validity of flow-level TCP network
 * models for grid and cloud simulations. ACM TOMACS 23(4), 2013. */
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

/** A flow among those that share. */
struct SharingFlow {
  double weight = 1;          ///< its share of a full resource is in proportion to it
  double bound  = 0;          ///< it gets no more
  double copies = 1;          ///< so many flows like it
  std::vector<int> resources; ///< that it uses, with repetitions: what it uses k times it uses k-fold
  double rate = 0;            ///< the result, of each of its copies
};

class FairShare {
  struct Resource {
    double left  = 0;       // of its capacity
    double usage = 0;       // of the flows whose rate is open, were each to get its weight
    int open     = 0;       // uses by such
    std::vector<int> flows; // that use it, by position
  };
  struct Level {
    double value; // a rate over a weight
    int resource;
    static bool higher(const Level& one, const Level& other) { return one.value > other.value; }
  };
  std::vector<Resource> resources_; // by number; kept between calls, so that none allocates
  std::vector<int> used_;
  std::vector<Level> heap_;
  std::vector<int> by_bound_;
  std::vector<bool> fixed_;

  void fix(std::vector<SharingFlow*>& flows, int flow, double rate);
  void push(int resource);

public:
  explicit FairShare(std::size_t resources) : resources_(resources) {}
  /** Set the rates of @p flows, which use resources of these @p capacities and of nobody else. */
  void solve(std::vector<SharingFlow*>& flows, const std::vector<double>& capacities);
};

} // namespace weft
