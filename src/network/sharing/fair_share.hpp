// SPDX-License-Identifier: LGPL-2.1-only
/* Weighted max-min fair sharing of resources among flows, each with its own upper bound.
 *
 * D. Bertsekas, R. Gallager: Data Networks, 2nd edition, 1992, section 6.5.2; weights and bounds as in SimGrid's
 * flow-level model: P. Velho, L. Schnorr, H. Casanova, A. Legrand: On the validity of flow-level TCP network models for
 * grid and cloud simulations. ACM TOMACS 23(4), 2013. */
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

/** Flow that shares resources with other flows. */
struct SharingFlow {
  double weight = 1;          ///< its share of a full resource is proportional to this
  double bound  = 0;          ///< upper bound on its rate
  double copies = 1;          ///< number of identical flows that this one represents
  std::vector<int> resources; ///< resources used; one listed k times is used k-fold
  double rate = 0;            ///< result: the rate of each copy
};

class FairShare {
  struct Resource {
    double left  = 0;       // capacity not yet allocated to fixed flows
    double usage = 0;       // sum of the weights of uses by flows whose rate is not fixed yet
    int open     = 0;       // uses by such flows
    std::vector<int> flows; // positions of the flows that use the resource
  };
  struct Level {
    double value; // rate divided by weight
    int resource;
    static bool higher(const Level& one, const Level& other) { return one.value > other.value; }
  };
  std::vector<Resource> resources_; // by number; kept between calls to avoid allocations
  std::vector<int> used_;
  std::vector<Level> heap_;
  std::vector<int> by_bound_;
  std::vector<bool> fixed_;

  void fix(std::vector<SharingFlow*>& flows, int flow, double rate);
  void push(int resource);

public:
  explicit FairShare(std::size_t resources) : resources_(resources) {}
  /** Sets the rates of @p flows, which are the only users of resources with these @p capacities. */
  void solve(std::vector<SharingFlow*>& flows, const std::vector<double>& capacities);
};

} // namespace weft
