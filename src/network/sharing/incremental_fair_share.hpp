// SPDX-License-Identifier: LGPL-2.1-only
/* Incremental max-min fair sharing: stores flows and their rates, and recomputes only the rates that change after flows
 * have joined or left.
 *
 * An allocation is max-min fair if and only if every flow is at its bound or has a bottleneck: a full resource on which
 * no flow has a higher level, where level is rate divided by weight (Bertsekas and Gallager, section 6.5.2). Each flow
 * stores its bottleneck. An update solves the flows that have changed against the rates of all other flows, and then
 * verifies the resources on which rates have changed. Flows that lost their bottleneck there, and flows above the level
 * at which the resource is now a bottleneck, are added to the next round. Once verification passes, every flow has a
 * bottleneck, so the rates equal those of a full solve (FairShare).
 *
 * Many flows that change at once are solved set by set, since most sets fit into the cache. If a set reaches the flows
 * of an earlier one, all remaining sets join it, so an update solves no flow more than twice.
 *
 * An update touches a few dozen of many thousands of flows, so its cost is dominated by cache misses. The fields that
 * verification reads are therefore duplicated in the resource's list of users, and the flows to solve are copied into
 * contiguous arrays. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class IncrementalFairShare {
public:
  using FlowNumber = std::uint32_t;

  /** Flow, as a resource sees it. */
  struct User {
    double load            = 0; ///< sum of its copies' rates
    double level           = 0; ///< level of the flow: rate divided by weight
    std::uint64_t solved   = 0; ///< the last update that solved the flow
    FlowNumber flow        = 0;
    std::uint32_t use : 30 = 0;     ///< index among the flow's uses
    bool held : 1          = false; ///< true if this resource is the flow's bottleneck
    bool changed : 1       = false; ///< true if the flow is yet to be solved
  };
  /** Resource, as a flow sees it. */
  struct Use {
    int resource;
    std::uint32_t user; ///< index among the resource's users
  };
  struct Rate {
    FlowNumber flow;
    double rate; ///< of each copy
  };

private:
  struct Flow {
    double weight        = 1;
    double bound         = 0;
    double copies        = 1;
    double rate          = 0; // rate of each copy
    std::uint64_t solved = 0; // the last update that solved the flow
    bool changed         = false;
    std::vector<Use> uses;
  };
  struct alignas(64) Resource { // one cache line
    double capacity     = 0;
    std::uint64_t taken = 0; // the last update that copied the resource
    std::uint32_t copy  = 0; // its position in copies_ during that update
    bool dirty          = false;
    std::vector<User> users;
  };
  // Flows and resources copied for an update.
  static constexpr std::uint32_t BOUND = ~std::uint32_t{0};
  struct FlowCopy {
    double weight;
    double bound;
    double copies;
    double known; // the rate stored in its resources
    double rate;
    std::uint32_t bottleneck; // position in copies_, or BOUND
    std::uint32_t known_bottleneck;
    std::uint32_t first_use; // position in uses_
    std::uint32_t last_use;
    FlowNumber flow;
    bool fixed;
  };
  struct ResourceCopy {
    int resource;
    bool joined;             // flows of this update have joined since `left` was computed
    bool verify;             // rates on it have changed, or it is a bottleneck
    double left;             // capacity left by flows that are not being solved
    double free;             // remainder of `left` after flows whose rate is fixed
    double usage;            // sum of the weights of uses by flows whose rate is not fixed yet
    std::uint32_t open;      // uses by such flows
    std::uint32_t solved;    // uses by flows that are being solved
    std::uint32_t last_user; // position in users_
  };
  struct Result {             // result for a flow that update_all() solves, by its number
    std::uint64_t solved = 0; // the last update that solved the flow
    double load          = 0;
    double level         = 0;
    int held_by          = -1; // resource
  };
  struct Level {
    double value; // rate divided by weight
    std::uint32_t copy;
    static bool higher(const Level& one, const Level& other) { return one.value > other.value; }
  };

  std::vector<Resource> resources_;
  std::vector<Flow> flows_;
  std::vector<FlowNumber> idle_;
  std::vector<FlowNumber> changed_; // flows that have joined or whose number of copies has changed
  std::vector<int> dirty_;          // resources of flows that have joined or left
  std::uint64_t update_ = 0;
  std::uint64_t first_  = 0;     // first update of this call
  bool overlaps_        = false; // true if flows have been solved in two updates of this call
  bool merged_          = false; // true if the update includes all changed flows
  std::vector<FlowCopy> solved_;
  std::vector<std::uint32_t> uses_;  // positions in copies_, for solved_
  std::vector<std::uint32_t> users_; // positions in solved_, for copies_
  std::vector<ResourceCopy> copies_;
  std::vector<Level> heap_;
  std::vector<std::pair<double, std::uint32_t>> by_bound_; // heap of (level of the bound, position in solved_)
  double highest_bound_       = 0;
  std::size_t solved_in_call_ = 0;
  std::size_t coupled_        = 0;
  std::vector<FlowNumber> reported_;
  std::vector<Result> results_;

  Resource& at(int resource) { return resources_[static_cast<std::size_t>(resource)]; }
  const Resource& at(int resource) const { return resources_[static_cast<std::size_t>(resource)]; }
  void mark_changed(FlowNumber number);
  void mark_dirty(int resource);
  bool join(FlowNumber number, const std::vector<int>& resources);
  void set_rate_alone(Flow& flow);
  std::uint32_t copy(int resource);
  void solve_too(FlowNumber number);
  void prepare();
  void push(std::uint32_t copy);
  void fix(FlowCopy& flow, double rate, std::uint32_t bottleneck);
  const Level* lowest_bottleneck();
  void solve();
  void publish(FlowCopy& flow);
  bool verify();
  void verify(const Resource& resource);
  void widen();
  void report();
  void take_dirty();
  void merge();
  void begin();
  void finish();
  void update_apart();
  void update_together();
  void begin_call();
  void copy_flow(FlowNumber number);
  void copy_coupled();
  void publish_all();
  void clear_marks();

public:
  explicit IncrementalFairShare(const std::vector<double>& capacities);

  /** Adds a flow, which may reuse the number of a removed one. If no other flow uses its resources, its rate is set
   * immediately and needs no update; otherwise the rate is 0 until the next update. */
  FlowNumber add(const std::vector<int>& resources, double weight, double bound, double copies);
  /** Adds copies to a flow; a negative number removes some. */
  void add_copies(FlowNumber number, double copies);
  void remove(FlowNumber number);
  void set_capacity(int resource, double capacity);

  double rate(FlowNumber number) const { return flows_[number].rate; }
  double weight(FlowNumber number) const { return flows_[number].weight; }
  double bound(FlowNumber number) const { return flows_[number].bound; }
  double copies(FlowNumber number) const { return flows_[number].copies; }
  double capacity(int resource) const { return at(resource).capacity; }
  const std::vector<Use>& uses(FlowNumber number) const { return flows_[number].uses; }
  /** Returns whether a flow was added with these arguments, ignoring its copies. */
  bool is_like(FlowNumber number, const std::vector<int>& resources, double weight, double bound) const;
  /** Returns the flows that use a resource, listed once per use. */
  const std::vector<User>& users(int resource) const { return at(resource).users; }
  /** Returns the resources of flows that have joined or left since the last update, if other flows use them too. */
  const std::vector<int>& dirty() const { return dirty_; }
  bool needs_update() const { return not dirty_.empty(); }
  /** Returns whether a flow needs an update because it has joined or its number of copies has changed. */
  bool has_changed(FlowNumber number) const { return flows_[number].changed; }
  /** Returns the flows that may have changed since the last update; those without uses have been removed. */
  const std::vector<FlowNumber>& changed() const { return changed_; }
  /** Recomputes rates. Returns the flows whose rate or number of copies has changed, and the flows that have joined. */
  const std::vector<FlowNumber>& update();
  /** Recomputes rates as update() does, in a single solve of all flows that share resources, directly or transitively,
   * with changed flows. Cheaper if most of them change. */
  const std::vector<FlowNumber>& update_all();
  /** Returns the number of flows that the last update has solved; a flow solved with two sets counts twice. */
  std::size_t solved() const { return solved_in_call_; }
  /** Returns the size of the largest set of flows that the last update has solved together. */
  std::size_t coupled() const { return coupled_; }
  /** Sets rates that another solver has computed for all flows on dirty resources, instead of an update. Returns the
   * same flows as update(). */
  const std::vector<FlowNumber>& assign(const std::vector<Rate>& rates);
};

} // namespace weft
