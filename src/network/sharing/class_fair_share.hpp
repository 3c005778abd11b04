// SPDX-License-Identifier: LGPL-2.1-only
/* Fair sharing of links by class, such as source hosts or jobs: weighted fair queueing of classes on each full link,
 * and fair shares by flow within a class.
 *
 * Every flow is at its bound or has a bottleneck: a full resource on which no class has a higher rate divided by weight
 * than the flow's class, and no flow of this class a higher level (rate divided by the flow's weight). Bandwidth that a
 * flow limited elsewhere leaves unused goes to its own class first, then to other classes.
 *
 * An update solves all flows that share full resources, directly or transitively, with changed flows. It narrows down
 * the rate of each flow. The lower bound is the lowest offer of its resources if all other flows take as much as they
 * can; the upper bound is the capacity left if they take their lower bounds. If both are equal, the rate is the only
 * fair one. Without classes, and with one full resource per flow, that fixes all rates.
 *
 * With classes, flows may prefer each other's resources in a cycle, and several allocations may be fair. Then each
 * resource in turn offers each flow the rate it would get there if its other resources did not limit it, until offers
 * no longer change: each flow's lowest offer is fair. In rare cases the offers do not converge; then the lowest floors
 * are fixed, and flows that end without a full resource share the remaining capacity.
 *
 * Rates depend only on the current flows, not on earlier ones. The allocation is bottleneck max fairness (T. Bonald, J.
 * Roberts: Multi-resource fairness: objectives, algorithms and performance. ACM SIGMETRICS 2015) in two levels. */
#pragma once

#include "network/sharing/incremental_fair_share.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft {

class ClassFairShare {
public:
  using FlowNumber             = IncrementalFairShare::FlowNumber;
  static constexpr int BY_LINK = -1; ///< class of a flow that has, on each resource, the class of the resource's tail

private:
  static constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max();
  struct Flow {
    FlowNumber number;
    double weight;
    double bound;
    double copies;
    std::uint32_t first_use; // position in part_of_use_
    std::uint32_t last_use;
    double rate  = 0;
    double floor = 0; // lower and upper bound of its rate beyond `rate`
    double limit = 0;
  };
  struct Part { // one class on one resource
    std::uint32_t link;
    int share_class;
    double weight;
    double fixed             = 0; // rates of flows whose rate is fixed
    double level             = 0; // offer to open flows: rate divided by weight
    std::uint32_t open       = 0; // uses by open flows
    std::uint32_t last_claim = 0; // position in claims_
  };
  struct Link { // resource that may be full
    int resource;
    double capacity;
    double left;              // capacity left to share
    std::uint32_t first_part; // position in parts_
    std::uint32_t last_part;
    bool changed = true; // limits or fixed rates on it have changed
    double spare = 0;    // capacity left by the floors of all flows
  };
  struct Claim {   // claim of a flow on its class's part, or of a class on a resource
    double level;  // level at which it is satisfied: rate divided by weight
    double weight; // total over all copies
  };
  struct User {         // user of a part
    std::uint32_t flow; // position in flows_
    std::uint32_t use;
    Claim claim;
  };
  /** Claims on one amount; each can be evaluated without its limit. */
  class Claims {
    std::span<const Claim> sorted_;
    std::vector<double> below_; // sum of the rates of all preceding claims
    std::vector<double> above_; // sum of the weights of this and all following claims

  public:
    void sort(std::span<Claim> claims);
    double level_without_limit(const Claim& own, double amount) const;
  };

  std::vector<double> weights_; // by class; 1 for classes beyond its end
  std::vector<int> tails_;      // by resource with classes
  std::vector<int> class_of_;   // by flow
  // Data of an update:
  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_of_use_;
  std::vector<std::uint32_t> open_; // positions of flows without a fixed rate in flows_
  std::vector<Claim> claims_;       // claims of open flows, by part
  std::vector<Claim> classes_;      // claims of classes on a resource
  std::vector<double> offers_;      // by use
  std::vector<User> users_;         // users of parts, indexed like claims_
  Claims of_link_;
  Claims of_part_;
  std::vector<int> resources_; // resources that have been visited
  std::vector<int> limiting_;  // resources that may be full
  std::vector<IncrementalFairShare::Rate> rates_;
  bool fair_ = true;
  // Cleared after an update:
  std::vector<std::uint32_t> position_of_;   // in flows_, by flow
  std::vector<std::uint32_t> part_of_class_; // on the resource being added
  std::vector<bool> visited_;                // by resource

  int class_at(FlowNumber flow, int resource) const;
  double weight(int share_class) const;
  static bool is_slack(const IncrementalFairShare& all, int resource);
  void add_flow(const IncrementalFairShare& all, FlowNumber number);
  bool is_collected(FlowNumber number) const { return number < position_of_.size() && position_of_[number] != NOWHERE; }
  void visit(const IncrementalFairShare& all, int resource);
  void add_link(const IncrementalFairShare& all, int resource);
  void collect(const IncrementalFairShare& all, FlowNumber number);
  std::span<const std::uint32_t> parts_of(const Flow& flow) const
  {
    return std::span(part_of_use_).subspan(flow.first_use, flow.last_use - flow.first_use);
  }
  std::span<Claim> claims_of(const Part& part)
  {
    return std::span(claims_).subspan(part.last_claim - part.open, part.open);
  }
  void open(std::vector<std::uint32_t> positions);
  static double level_of(std::span<Claim> claims, double amount);
  void claim();
  void offer(const Link& link);
  bool raise_floors();
  bool lower_limits();
  void fix(Flow& flow);
  bool fix_certain();
  double demand(const Flow& flow, std::uint32_t part) const;
  void relax(const Link& link, bool damped);
  void reopen_certain();
  bool fix_relaxed();
  void fix_lowest();
  bool fill(bool relaxes);
  bool reopen();
  bool solve();

public:
  /** @p tails: the class, by resource, of flows that are BY_LINK. On resources beyond its end, all flows are in one
   * class. */
  explicit ClassFairShare(std::vector<int> tails) : tails_(std::move(tails)) {}

  void set_weight(int share_class, double weight);
  /** Records the class of a flow that has been added. */
  void set_class(FlowNumber flow, int share_class);
  int class_of(FlowNumber flow) const { return class_of_[flow]; }
  /** Recomputes rates, like IncrementalFairShare::update(). */
  const std::vector<FlowNumber>& update(IncrementalFairShare& all);
  /** Returns whether all rates of the last update are fair. */
  bool was_fair() const { return fair_; }
};

} // namespace weft
