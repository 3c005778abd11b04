// SPDX-License-Identifier: LGPL-2.1-only
/* Incremental max-min fair sharing: keeps flows and their rates, and after flows have joined or left recomputes only
 * the rates that change.
 *
 * An allocation is max-min fair if and only if every flow is at its bound or has a bottleneck: a full resource on which
 * no flow has a higher level, its rate over its weight (Bertsekas and Gallager, section 6.5.2). Each flow remembers its
 * bottleneck. An update solves the flows that have changed, against the rates of all others, and then verifies the
 * resources on which rates have changed: whoever lost its bottleneck there, and whoever is above the level at which the
 * resource is now a bottleneck, is solved with them in the next round. Once nothing fails, every flow has a bottleneck,
 * so the rates are those of a full solve (FairShare).
 *
 * An update touches a few dozen of many thousands of flows, so cache misses are its cost: what verification reads of a
 * flow stands in the resource's list of users, and what is solved is copied into arrays of its own. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class IncrementalFairShare {
public:
  using FlowNumber = std::uint32_t;

  /** A flow, as a resource sees it. */
  struct User {
    double load            = 0; ///< its copies' rates together
    double level           = 0; ///< its rate over its weight
    std::uint64_t solved   = 0; ///< the update that solved it last
    FlowNumber flow        = 0;
    std::uint32_t use : 30 = 0;     ///< position among the flow's uses
    bool held : 1          = false; ///< whether this resource is its bottleneck
    bool changed : 1       = false; ///< whether it waits to be solved
  };
  /** A resource, as a flow sees it. */
  struct Use {
    int resource;
    std::uint32_t user; ///< position among the resource's users
  };

private:
  struct Flow {
    double weight        = 1;
    double bound         = 0;
    double copies        = 1;
    double rate          = 0; // of each copy
    std::uint64_t solved = 0; // the update that solved it last
    bool changed         = false;
    std::vector<Use> uses;
  };
  struct alignas(64) Resource { // a cache line
    double capacity     = 0;
    std::uint64_t taken = 0; // the update that copied it last
    std::uint32_t copy  = 0; // its position in copies_, then
    bool dirty          = false;
    std::vector<User> users;
  };
  // What an update solves.
  static constexpr std::uint32_t BOUND = ~std::uint32_t{0};
  struct FlowCopy {
    double weight;
    double bound;
    double copies;
    double known; // the rate that its resources know
    double rate;
    std::uint32_t bottleneck; // in copies_, or BOUND
    std::uint32_t known_bottleneck;
    std::uint32_t first_use; // in uses_
    std::uint32_t last_use;
    FlowNumber flow;
    bool fixed;
  };
  struct ResourceCopy {
    int resource;
    bool joined;             // by flows of this update, since `left` was found
    bool verify;             // whether rates have changed on it, or it is a bottleneck
    double left;             // of the capacity, by flows that are not solved
    double free;             // of that, by flows whose rate is found
    double usage;            // of flows whose rate is open, were each to get its weight
    std::uint32_t open;      // uses by such
    std::uint32_t solved;    // uses by flows that are solved
    std::uint32_t last_user; // in users_
  };
  struct Level {
    double value; // a rate over a weight
    std::uint32_t copy;
    static bool higher(const Level& one, const Level& other) { return one.value > other.value; }
  };

  std::vector<Resource> resources_;
  std::vector<Flow> flows_;
  std::vector<FlowNumber> idle_;
  std::vector<FlowNumber> changed_; // flows that have joined, or have more or fewer copies
  std::vector<int> dirty_;          // resources of flows that have joined or left
  std::uint64_t update_ = 0;
  std::vector<FlowCopy> solved_;
  std::vector<std::uint32_t> uses_;  // in copies_, of solved_
  std::vector<std::uint32_t> users_; // in solved_, of copies_
  std::vector<ResourceCopy> copies_;
  std::vector<Level> heap_;
  std::vector<std::pair<double, std::uint32_t>> by_bound_; // level of the bound, flow in solved_
  std::vector<FlowNumber> reported_;

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
  void begin();
  void finish();
  void update_apart();
  void update_together();

public:
  explicit IncrementalFairShare(const std::vector<double>& capacities);

  /** Adds a flow; its number may be that of a removed one. Where no other flow uses its resources, it has its rate at
   *  once and needs no update; else its rate is 0 until then. */
  FlowNumber add(const std::vector<int>& resources, double weight, double bound, double copies);
  /** Adds copies to a flow, or removes some. */
  void add_copies(FlowNumber number, double copies);
  void remove(FlowNumber number);
  void set_capacity(int resource, double capacity);

  double rate(FlowNumber number) const { return flows_[number].rate; }
  const std::vector<Use>& uses(FlowNumber number) const { return flows_[number].uses; }
  /** Whether a flow was added with the same arguments, apart from its copies. */
  bool is_like(FlowNumber number, const std::vector<int>& resources, double weight, double bound) const;
  /** The flows that use a resource, as often as they use it. */
  const std::vector<User>& users(int resource) const { return at(resource).users; }
  /** Resources that other flows use too, of those that flows have joined or left since the last update. */
  const std::vector<int>& dirty() const { return dirty_; }
  bool needs_update() const { return not dirty_.empty(); }
  /** Whether a flow waits for an update because it has joined, or its number of copies has changed. */
  bool has_changed(FlowNumber number) const { return flows_[number].changed; }
  /** Recomputes rates. Returns the flows whose rate or number of copies has changed, and those that have joined. */
  const std::vector<FlowNumber>& update();
};

} // namespace weft
