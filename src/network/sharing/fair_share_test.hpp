// SPDX-License-Identifier: LGPL-2.1-only
/* Reference of the tests of sharing: weighted max-min fair rates of flows, each with its own upper bound, solved for
 * all flows at once.
 *
 * D. Bertsekas, R. Gallager: Data Networks, 2nd edition, 1992, section 6.5.2; weights and bounds as in SimGrid's
 * flow-level model: P. Velho, L. Schnorr, H. Casanova, A. Legrand: On the validity of flow-level TCP network models for
 * grid and cloud simulations. ACM TOMACS 23(4), 2013. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
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

inline void FairShare::push(int resource)
{
  const Resource& its = resources_[static_cast<std::size_t>(resource)];
  if (its.open == 0)
    return;
  heap_.push_back({std::max(its.left, 0.0) / its.usage, resource});
  std::ranges::push_heap(heap_, Level::higher);
}

inline void FairShare::fix(std::vector<SharingFlow*>& flows, int flow, double rate)
{
  SharingFlow& its                       = *flows[static_cast<std::size_t>(flow)];
  its.rate                               = rate;
  fixed_[static_cast<std::size_t>(flow)] = true;
  for (const int number : its.resources) {
    Resource& resource = resources_[static_cast<std::size_t>(number)];
    resource.left -= its.copies * rate;
    resource.usage -= its.copies * its.weight;
    --resource.open;
  }
}

// Progressive filling: the level rises for all flows at once, and the first limit reached, a flow's bound or a full
// resource, fixes rates.
inline void FairShare::solve(std::vector<SharingFlow*>& flows, const std::vector<double>& capacities)
{
  used_.clear();
  heap_.clear();
  fixed_.assign(flows.size(), false);
  by_bound_.resize(flows.size());
  std::iota(by_bound_.begin(), by_bound_.end(), 0);
  for (std::size_t flow = 0; flow < flows.size(); ++flow)
    for (const int number : flows[flow]->resources) {
      Resource& resource = resources_[static_cast<std::size_t>(number)];
      if (resource.open++ == 0) {
        used_.push_back(number);
        resource.left  = capacities[static_cast<std::size_t>(number)];
        resource.usage = 0;
        resource.flows.clear();
      }
      resource.usage += flows[flow]->copies * flows[flow]->weight;
      if (resource.flows.empty() || std::cmp_not_equal(resource.flows.back(), flow))
        resource.flows.push_back(static_cast<int>(flow));
    }
  const auto level_of_bound = [&](int flow) {
    const SharingFlow& its = *flows[static_cast<std::size_t>(flow)];
    return its.bound / its.weight;
  };
  std::ranges::stable_sort(by_bound_, {}, level_of_bound);
  for (const int number : used_)
    push(number);

  auto bounded     = by_bound_.begin();
  std::size_t open = flows.size();
  while (open > 0) {
    while (bounded != by_bound_.end() && fixed_[static_cast<std::size_t>(*bounded)])
      ++bounded;
    // The level of a resource only rises while flows that it limits are fixed at lower levels, so a heap entry is a
    // lower bound on the current level.
    while (not heap_.empty()) {
      const Level top          = heap_.front();
      const Resource& resource = resources_[static_cast<std::size_t>(top.resource)];
      const double now         = resource.open > 0 ? std::max(resource.left, 0.0) / resource.usage : -1.0;
      if (now == top.value)
        break;
      std::ranges::pop_heap(heap_, Level::higher);
      heap_.pop_back();
      push(top.resource);
    }
    if (heap_.empty() || level_of_bound(*bounded) <= heap_.front().value) {
      fix(flows, *bounded, flows[static_cast<std::size_t>(*bounded)]->bound);
      --open;
      continue;
    }
    const Level full = heap_.front();
    for (const int flow : resources_[static_cast<std::size_t>(full.resource)].flows)
      if (not fixed_[static_cast<std::size_t>(flow)]) {
        fix(flows, flow, full.value * flows[static_cast<std::size_t>(flow)]->weight);
        --open;
      }
  }
  for (const int number : used_)
    resources_[static_cast<std::size_t>(number)].open = 0;
}

} // namespace weft
