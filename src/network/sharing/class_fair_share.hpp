// SPDX-License-Identifier: LGPL-2.1-only
/* Fair sharing of links by class, such as source hosts or jobs: weighted fair queueing of classes on each full link,
 * and fair shares by flow within a class.
 *
 * Every flow is at its bound or has a bottleneck: a full resource on which no class has a higher rate divided by
 * weight than the flow's class, and no flow of this class a higher level (rate divided by the flow's weight). What a
 * flow that is limited elsewhere leaves goes to its class first, then to other classes.
 *
 * An update solves all flows that share full resources, directly or transitively, with those that have changed. It
 * narrows down the rate of each: at least the lowest offer of its resources if all others take as much as they can, at
 * most what the least rates of all others leave. Where both are equal, the rate is the only fair one. Without classes,
 * and with one full resource per flow, that fixes all rates.
 *
 * With classes, flows may prefer each other's resources in a cycle, and several allocations may be fair. Then all
 * resources in turn offer each flow what it would get there if its other resources did not limit it, until offers no
 * longer change: each flow's lowest offer is fair. Rarely, they do not settle; then the lowest floors are fixed, and
 * flows that end without a full resource share what is left.
 *
 * Rates depend on the present flows alone, not on earlier ones. The allocation is bottleneck max fairness (T. Bonald,
 * J. Roberts: Multi-resource fairness: objectives, algorithms and performance. ACM SIGMETRICS 2015) in two levels. */
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
  static constexpr int BY_LINK = -1; ///< class of a flow that has, on each resource, the class of its tail

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
    double floor = 0; // lower bound of what it gets in addition, and upper bound
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
    double left;              // capacity to share
    std::uint32_t first_part; // position in parts_
    std::uint32_t last_part;
    bool changed = true; // limits or fixed rates on it have changed
    double spare = 0;    // left by the floors of all flows
  };
  struct Claim {   // of a flow on its class's part, or of a class on a resource
    double level;  // at which it is satisfied: rate divided by weight
    double weight; // of all copies
  };
  struct User {         // of a part
    std::uint32_t flow; // position in flows_
    std::uint32_t use;
    Claim claim;
  };
  /** Claims on one amount, each of which may be looked at without its limit. */
  class Claims {
    std::span<const Claim> sorted_;
    std::vector<double> below_; // sum of the rates of all before
    std::vector<double> above_; // sum of the weights from here on

  public:
    void sort(std::span<Claim> claims);
    double level_without_limit(const Claim& own, double amount) const;
  };

  std::vector<double> weights_; // by class; 1 beyond
  std::vector<int> tails_;      // by resource with classes
  std::vector<int> class_of_;   // by flow
  // Data of an update:
  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> part_of_use_;
  std::vector<std::uint32_t> open_; // positions of flows without a fixed rate in flows_
  std::vector<Claim> claims_;       // of open flows, by part
  std::vector<Claim> classes_;      // on a resource
  std::vector<double> offers_;      // by use
  std::vector<User> users_;         // of parts, as claims_
  Claims of_link_;
  Claims of_part_;
  std::vector<int> resources_; // that have been visited
  std::vector<int> limiting_;  // those that may be full
  std::vector<IncrementalFairShare::Rate> rates_;
  bool fair_ = true;
  // Cleared after an update:
  std::vector<std::uint32_t> position_of_;   // in flows_, by flow
  std::vector<std::uint32_t> part_of_class_; // on the resource that is added
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
  /** @p tails: by resource with classes, the class of flows BY_LINK there. On other resources, all flows have one. */
  explicit ClassFairShare(std::vector<int> tails) : tails_(std::move(tails)) {}

  void set_weight(int share_class, double weight);
  /** Notes the class of a flow that has been added. */
  void set_class(FlowNumber flow, int share_class);
  int class_of(FlowNumber flow) const { return class_of_[flow]; }
  /** Recomputes rates, as IncrementalFairShare::update(). */
  const std::vector<FlowNumber>& update(IncrementalFairShare& all);
  /** Returns whether all rates of the last update are fair. */
  bool was_fair() const { return fair_; }
};

} // namespace weft
