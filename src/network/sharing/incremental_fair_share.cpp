// SPDX-License-Identifier: LGPL-2.1-only
#include "network/sharing/incremental_fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace weft {
namespace {

/** Relative rounding error within which levels count as equal and resources as full. A tighter error gives exact rates
 * too, but solves more flows than necessary. */
constexpr double LEVEL_ROUNDING = 1e-14;

bool same_level(double one, double other)
{
  return std::abs(one - other) <= LEVEL_ROUNDING * other;
}

} // namespace

IncrementalFairShare::IncrementalFairShare(const std::vector<double>& capacities) : resources_(capacities.size())
{
  for (std::size_t resource = 0; resource < capacities.size(); ++resource)
    resources_[resource].capacity = capacities[resource];
}

void IncrementalFairShare::mark_dirty(int resource)
{
  if (at(resource).dirty)
    return;
  at(resource).dirty = true;
  dirty_.push_back(resource);
}

/** Marks a flow as to be solved. */
void IncrementalFairShare::mark_changed(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (not flow.changed) {
    flow.changed = true;
    changed_.push_back(number);
  }
  for (const Use& use : flow.uses) {
    at(use.resource).users[use.user].changed = true;
    mark_dirty(use.resource);
  }
}

/** Adds a flow to the users of its resources. Returns whether it is the only user of each. */
bool IncrementalFairShare::join(FlowNumber number, const std::vector<int>& resources)
{
  bool alone             = true;
  std::vector<Use>& uses = flows_[number].uses;
  for (const int resource : resources) {
    std::vector<User>& users = at(resource).users;
    alone                    = alone && (users.empty() || users.front().flow == number);
    User user;
    user.flow = number;
    user.use  = static_cast<std::uint32_t>(uses.size()) & 0x3fffffffU;
    uses.push_back({resource, static_cast<std::uint32_t>(users.size())});
    users.push_back(user);
  }
  return alone;
}

void IncrementalFairShare::set_rate_alone(Flow& flow)
{
  flow.rate      = flow.bound;
  int bottleneck = -1;
  for (const Use& use : flow.uses) {
    const Resource& resource = at(use.resource);
    const double share       = resource.capacity / (flow.copies * static_cast<double>(resource.users.size()));
    if (share < flow.rate) {
      flow.rate  = share;
      bottleneck = use.resource;
    }
  }
  for (const Use& use : flow.uses) {
    User& user = at(use.resource).users[use.user];
    user.load  = flow.copies * flow.rate;
    user.level = flow.rate / flow.weight;
    user.held  = use.resource == bottleneck;
  }
}

IncrementalFairShare::FlowNumber IncrementalFairShare::add(const std::vector<int>& resources, double weight,
                                                           double bound, double copies)
{
  if (idle_.empty()) {
    idle_.push_back(static_cast<FlowNumber>(flows_.size()));
    flows_.emplace_back();
  }
  const FlowNumber number = idle_.back();
  idle_.pop_back();
  Flow& flow  = flows_[number];
  flow.weight = weight;
  flow.bound  = bound;
  flow.copies = copies;
  flow.rate   = 0;
  if (join(number, resources))
    set_rate_alone(flow);
  else
    mark_changed(number);
  return number;
}

void IncrementalFairShare::add_copies(FlowNumber number, double copies)
{
  flows_[number].copies += copies;
  mark_changed(number);
}

void IncrementalFairShare::remove(FlowNumber number)
{
  for (const Use& use : flows_[number].uses) {
    std::vector<User>& users = at(use.resource).users;
    if (use.user + std::size_t{1} < users.size()) {
      users[use.user]                                       = users.back();
      flows_[users.back().flow].uses[users.back().use].user = use.user;
    }
    users.pop_back();
    if (not users.empty())
      mark_dirty(use.resource);
  }
  flows_[number].uses.clear();
  idle_.push_back(number);
}

void IncrementalFairShare::set_capacity(int resource, double capacity)
{
  if (at(resource).capacity == capacity)
    return;
  at(resource).capacity = capacity;
  if (not at(resource).users.empty())
    mark_dirty(resource);
}

bool IncrementalFairShare::is_like(FlowNumber number, const std::vector<int>& resources, double weight,
                                   double bound) const
{
  const Flow& flow = flows_[number];
  return flow.bound == bound && flow.weight == weight && std::ranges::equal(flow.uses, resources, {}, &Use::resource);
}

/** Returns the position of a resource in copies_, adding it if it is absent. */
std::uint32_t IncrementalFairShare::copy(int resource)
{
  Resource& its = at(resource);
  if (its.taken != update_) {
    its.taken = update_;
    its.copy  = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({resource, true, false, 0, 0, 0, 0, 0, 0});
  }
  return its.copy;
}

void IncrementalFairShare::solve_too(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (flow.solved == update_)
    return;
  overlaps_             = overlaps_ || flow.solved >= first_;
  flow.solved           = update_;
  const auto first      = static_cast<std::uint32_t>(uses_.size());
  std::uint32_t held_by = BOUND;
  for (const Use& use : flow.uses) {
    const std::uint32_t copied = copy(use.resource);
    copies_[copied].joined     = true;
    ++copies_[copied].solved;
    uses_.push_back(copied);
    User& user  = at(use.resource).users[use.user];
    user.solved = update_;
    if (user.held)
      held_by = copied;
  }
  // The resources do not yet know the rate of a flow that has changed.
  solved_.push_back({flow.weight, flow.bound, flow.copies,
                     flow.changed ? std::numeric_limits<double>::quiet_NaN() : flow.rate, flow.rate, BOUND, held_by,
                     first, static_cast<std::uint32_t>(uses_.size()), number, false});
}

/** Computes the capacity that unsolved flows leave on each resource, and lists the solved flows on it. */
void IncrementalFairShare::prepare()
{
  std::uint32_t users = 0;
  for (ResourceCopy& copy : copies_) {
    if (copy.joined && copy.solved > 0) {
      const Resource& resource = at(copy.resource);
      copy.left                = resource.capacity;
      if (copy.solved < resource.users.size())
        for (const User& user : resource.users)
          if (user.solved != update_)
            copy.left -= user.load;
    }
    copy.joined    = false;
    copy.free      = copy.left;
    copy.usage     = 0;
    copy.open      = copy.solved;
    copy.last_user = users; // end of the previous resource's users; advances as users are added
    users += copy.solved;
  }
  users_.resize(users);
  by_bound_.clear();
  highest_bound_ = 0;
  for (std::uint32_t position = 0; position < solved_.size(); ++position) {
    FlowCopy& flow = solved_[position];
    flow.fixed     = false;
    by_bound_.emplace_back(flow.bound / flow.weight, position);
    highest_bound_ = std::max(highest_bound_, by_bound_.back().first);
    for (std::uint32_t use = flow.first_use; use < flow.last_use; ++use) {
      ResourceCopy& copy = copies_[uses_[use]];
      copy.usage += flow.copies * flow.weight;
      users_[copy.last_user++] = position;
    }
  }
  // Few flows of a crowd reach their bounds, so only those are ordered, by a heap.
  std::ranges::make_heap(by_bound_, std::greater());
}

/** Pushes a resource onto the heap, unless all its flows reach their bounds before it is full. */
void IncrementalFairShare::push(std::uint32_t number)
{
  const ResourceCopy& copy = copies_[number];
  if (copy.open == 0)
    return;
  const double level = std::max(copy.free, 0.0) / copy.usage;
  if (level >= highest_bound_)
    return;
  heap_.push_back({level, number});
  std::ranges::push_heap(heap_, Level::higher);
}

void IncrementalFairShare::fix(FlowCopy& flow, double rate, std::uint32_t bottleneck)
{
  flow.rate       = rate;
  flow.bottleneck = bottleneck;
  flow.fixed      = true;
  for (std::uint32_t use = flow.first_use; use < flow.last_use; ++use) {
    ResourceCopy& copy = copies_[uses_[use]];
    copy.free -= flow.copies * rate;
    copy.usage -= flow.copies * flow.weight;
    --copy.open;
  }
}

/** Returns the next resource to become full as the level rises; null if there is none. Levels of resources only rise
 * while flows that they limit are fixed at lower levels, so a heap entry is a lower bound on the current level. */
const IncrementalFairShare::Level* IncrementalFairShare::lowest_bottleneck()
{
  while (not heap_.empty()) {
    const Level top          = heap_.front();
    const ResourceCopy& copy = copies_[top.copy];
    if (copy.open > 0 && std::max(copy.free, 0.0) / copy.usage == top.value)
      return &heap_.front();
    std::ranges::pop_heap(heap_, Level::higher);
    heap_.pop_back();
    push(top.copy);
  }
  return nullptr;
}

/** Solves the flows of this update against the rates of all other flows, as FairShare does. */
void IncrementalFairShare::solve()
{
  prepare();
  heap_.clear();
  for (std::uint32_t copy = 0; copy < copies_.size(); ++copy)
    push(copy);
  for (std::size_t open = solved_.size(); open > 0;) {
    const Level* const next = lowest_bottleneck();
    if (next == nullptr || (not by_bound_.empty() && by_bound_.front().first <= next->value)) {
      FlowCopy& flow = solved_[by_bound_.front().second];
      std::ranges::pop_heap(by_bound_, std::greater());
      by_bound_.pop_back();
      if (flow.fixed)
        continue;
      fix(flow, flow.bound, BOUND);
      --open;
      continue;
    }
    const Level full         = *next;
    const std::uint32_t last = copies_[full.copy].last_user;
    for (std::uint32_t user = last - copies_[full.copy].solved; user < last; ++user)
      if (FlowCopy& flow = solved_[users_[user]]; not flow.fixed) {
        fix(flow, full.value * flow.weight, full.copy);
        --open;
      }
  }
}

/** Propagates a flow's new rate to its resources. */
void IncrementalFairShare::publish(FlowCopy& flow)
{
  if (flow.bottleneck != BOUND)
    copies_[flow.bottleneck].verify = true;
  const bool changed = not same_level(flow.rate, flow.known);
  if (not changed) {
    flow.rate = flow.known;
    if (flow.bottleneck == flow.known_bottleneck)
      return;
  }
  flow.known            = flow.rate;
  flow.known_bottleneck = flow.bottleneck;
  std::uint32_t copied  = flow.first_use;
  for (const Use& use : flows_[flow.flow].uses) {
    User& user   = at(use.resource).users[use.user];
    user.load    = flow.copies * flow.rate;
    user.level   = flow.rate / flow.weight;
    user.held    = uses_[copied] == flow.bottleneck;
    user.changed = false;
    if (changed)
      copies_[uses_[copied]].verify = true;
    ++copied;
  }
}

/** Adds to the update those users of a resource that have lost their bottleneck or prevent another flow from having one
 * here.
 */
void IncrementalFairShare::verify(const Resource& resource)
{
  double load    = 0;
  double highest = 0;  // maximum level over all users
  double held_at = -1; // level of solved flows with this bottleneck; negative: none
  for (const User& user : resource.users) {
    load += user.load;
    highest = std::max(highest, user.level);
    if (user.held && user.solved == update_)
      held_at = user.level;
  }
  const bool overloaded = load > resource.capacity * (1 + LEVEL_ROUNDING);
  const bool full       = load >= resource.capacity * (1 - LEVEL_ROUNDING);
  for (const User& user : resource.users) {
    if (user.solved == update_)
      continue;
    const bool lost      = user.held && not(full && user.level >= highest * (1 - LEVEL_ROUNDING));
    const bool in_excess = held_at >= 0 && user.level > held_at * (1 + LEVEL_ROUNDING);
    if (overloaded || lost || in_excess)
      solve_too(user.flow);
  }
}

/** Returns whether all flows have bottlenecks; otherwise adds flows to the update. */
bool IncrementalFairShare::verify()
{
  for (FlowCopy& flow : solved_)
    publish(flow);
  const std::size_t solved = solved_.size();
  // Verification adds copies. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t position = 0, end = copies_.size(); position < end; ++position)
    if (ResourceCopy& copy = copies_[position]; std::exchange(copy.verify, false))
      if (const Resource& resource = at(copy.resource); copy.solved < resource.users.size())
        verify(resource);
  return solved_.size() == solved;
}

/** Solves more flows than are known to change, nearest first, so that the rounds of a far-reaching update cost at most
 * a third more than a full solve. */
void IncrementalFairShare::widen()
{
  constexpr std::size_t FACTOR = 4;
  const std::size_t enough     = FACTOR * solved_.size();
  for (std::size_t position = 0; position < copies_.size() && solved_.size() < enough; ++position)
    for (const User& user : at(copies_[position].resource).users)
      solve_too(user.flow);
}

void IncrementalFairShare::report()
{
  solved_in_call_ += solved_.size();
  coupled_ = std::max(coupled_, solved_.size());
  for (const FlowCopy& copy : solved_) {
    Flow& flow = flows_[copy.flow];
    if (flow.changed || copy.rate != flow.rate)
      reported_.push_back(copy.flow);
    flow.rate    = copy.rate;
    flow.changed = false;
  }
}

void IncrementalFairShare::begin()
{
  ++update_;
  solved_.clear();
  uses_.clear();
  copies_.clear();
}

/** Marks the resources whose flows have changed for verification. */
void IncrementalFairShare::take_dirty()
{
  for (ResourceCopy& copy : copies_)
    copy.verify = std::exchange(at(copy.resource).dirty, false) || copy.verify;
}

/** Solves until all flows have bottlenecks. */
void IncrementalFairShare::finish()
{
  constexpr int NARROW = 16; // rounds
  take_dirty();
  for (int round = 1;; ++round) {
    solve();
    if (verify())
      break;
    if (overlaps_ && not merged_)
      merge();
    if (round >= NARROW)
      widen();
  }
  report();
}

/** Adds all flows that have not been solved yet. */
void IncrementalFairShare::merge()
{
  merged_ = true;
  for (const int resource : dirty_)
    if (at(resource).dirty && not at(resource).users.empty())
      copy(resource);
  for (const FlowNumber number : changed_)
    if (flows_[number].changed && not flows_[number].uses.empty()) // otherwise the flow has been removed
      solve_too(number);
  take_dirty();
}

/** Runs one update per set of changed flows that share resources, directly or transitively, which keeps its data in the
 * cache. If an update reaches flows of an earlier one, it continues with all remaining sets, so no flow is solved in
 * more than two updates. */
void IncrementalFairShare::update_apart()
{
  for (const FlowNumber number : changed_) {
    if (not flows_[number].changed || flows_[number].uses.empty())
      continue;
    begin();
    solve_too(number);
    // The loop appends to it. NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t position = 0; position < copies_.size(); ++position)
      for (const User& user : at(copies_[position].resource).users)
        if (user.changed)
          solve_too(user.flow);
    finish();
  }
}

void IncrementalFairShare::update_together()
{
  begin();
  merge();
  if (not copies_.empty())
    finish();
}

inline void IncrementalFairShare::clear_marks()
{
  for (const int resource : dirty_)
    at(resource).dirty = false;
  for (const FlowNumber number : changed_)
    flows_[number].changed = false;
  changed_.clear();
  dirty_.clear();
}

void IncrementalFairShare::begin_call()
{
  reported_.clear();
  first_          = update_ + 1;
  overlaps_       = false;
  merged_         = false;
  solved_in_call_ = 0;
  coupled_        = 0;
}

const std::vector<IncrementalFairShare::FlowNumber>& IncrementalFairShare::update()
{
  constexpr std::size_t MANY = 32;
  begin_call();
  if (changed_.size() > MANY)
    update_apart();
  update_together();
  clear_marks();
  return reported_;
}

/** Copies a flow for update_all(). The resources' copies of its rate are neither read nor marked: publish_all()
 * rewrites them all. */
void IncrementalFairShare::copy_flow(FlowNumber number)
{
  const Flow& flow = flows_[number];
  const auto first = static_cast<std::uint32_t>(uses_.size());
  for (const Use& use : flow.uses) {
    const std::uint32_t copied = copy(use.resource);
    copies_[copied].joined     = true;
    ++copies_[copied].solved;
    uses_.push_back(copied);
  }
  solved_.push_back({flow.weight, flow.bound, flow.copies, flow.rate, flow.rate, BOUND, BOUND, first,
                     static_cast<std::uint32_t>(uses_.size()), number, false});
}

/** Copies all flows that share resources, directly or transitively, with changed flows. */
void IncrementalFairShare::copy_coupled()
{
  constexpr std::size_t AHEAD = 8; // prefetch distance in flows
  results_.resize(flows_.size());
  for (const int resource : dirty_)
    if (not at(resource).users.empty())
      copy(resource);
  // A flow that is alone on its resources makes none of them dirty, but may reuse the number of a flow that has
  // changed.
  for (const FlowNumber number : changed_)
    for (const Use& use : flows_[number].uses)
      copy(use.resource);
  // The loop appends to it. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t position = 0; position < copies_.size(); ++position) {
    const std::vector<User>& users = at(copies_[position].resource).users;
    for (std::size_t user = 0; user < users.size(); ++user) {
      if (user + 2 * AHEAD < users.size())
        __builtin_prefetch(&flows_[users[user + 2 * AHEAD].flow].uses);
      if (user + AHEAD < users.size())
        __builtin_prefetch(flows_[users[user + AHEAD].flow].uses.data());
      if (std::exchange(results_[users[user].flow].solved, update_) != update_)
        copy_flow(users[user].flow);
    }
  }
}

/** Writes the rates of update_all() into the resources, resource by resource. */
void IncrementalFairShare::publish_all()
{
  for (FlowCopy& flow : solved_) {
    if (same_level(flow.rate, flow.known))
      flow.rate = flow.known;
    Result& result = results_[flow.flow];
    result.load    = flow.copies * flow.rate;
    result.level   = flow.rate / flow.weight;
    result.held_by = flow.bottleneck == BOUND ? -1 : copies_[flow.bottleneck].resource;
  }
  for (const ResourceCopy& copy : copies_) {
    at(copy.resource).dirty = false;
    for (User& user : at(copy.resource).users) {
      const Result& result = results_[user.flow];
      user.load            = result.load;
      user.level           = result.level;
      user.held            = result.held_by == copy.resource;
      user.changed         = false;
    }
  }
}

const std::vector<IncrementalFairShare::FlowNumber>& IncrementalFairShare::update_all()
{
  begin_call();
  begin();
  copy_coupled();
  if (not solved_.empty()) {
    solve();
    publish_all();
    report();
  }
  clear_marks();
  return reported_;
}

const std::vector<IncrementalFairShare::FlowNumber>& IncrementalFairShare::assign(const std::vector<Rate>& rates)
{
  begin_call();
  solved_in_call_ = coupled_ = rates.size();
  for (const Rate& one : rates) {
    Flow& flow = flows_[one.flow];
    if (not flow.changed && same_level(one.rate, flow.rate))
      continue;
    reported_.push_back(one.flow);
    flow.rate = one.rate;
    for (const Use& use : flow.uses) {
      User& user   = at(use.resource).users[use.user];
      user.load    = flow.copies * flow.rate;
      user.level   = flow.rate / flow.weight;
      user.changed = false;
    }
  }
  clear_marks();
  return reported_;
}

} // namespace weft
