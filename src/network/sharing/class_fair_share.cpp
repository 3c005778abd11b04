// SPDX-License-Identifier: LGPL-2.1-only
#include "network/sharing/class_fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace weft {
namespace {

/** Relative rounding error within which rates count as equal and resources as full. */
constexpr double SHARE_ROUNDING = 1e-12;
constexpr double RELAXED        = 1e-13; // for offers
constexpr double UNLIMITED      = std::numeric_limits<double>::infinity();

} // namespace

void ClassFairShare::set_weight(int share_class, double weight)
{
  const auto at = static_cast<std::size_t>(share_class);
  if (at >= weights_.size())
    weights_.resize(at + 1, 1);
  weights_[at] = weight;
}

double ClassFairShare::weight(int share_class) const
{
  const auto at = static_cast<std::size_t>(share_class);
  return at < weights_.size() ? weights_[at] : 1;
}

void ClassFairShare::set_class(FlowNumber flow, int share_class)
{
  if (flow >= class_of_.size())
    class_of_.resize(flow + std::size_t{1});
  class_of_[flow] = share_class;
}

int ClassFairShare::class_at(FlowNumber flow, int resource) const
{
  const auto at = static_cast<std::size_t>(resource);
  if (at >= tails_.size())
    return 0;
  return class_of_[flow] == BY_LINK ? tails_[at] : class_of_[flow];
}

/** Returns whether a resource carries all its flows even at their bounds. */
bool ClassFairShare::is_slack(const IncrementalFairShare& all, int resource)
{
  double most = 0;
  for (const IncrementalFairShare::User& user : all.users(resource))
    most += all.copies(user.flow) * all.bound(user.flow);
  return most <= all.capacity(resource);
}

void ClassFairShare::add_flow(const IncrementalFairShare& all, FlowNumber number)
{
  if (number >= position_of_.size())
    position_of_.resize(number + std::size_t{1}, NOWHERE);
  if (position_of_[number] != NOWHERE)
    return;
  position_of_[number] = static_cast<std::uint32_t>(flows_.size());
  const auto first     = static_cast<std::uint32_t>(part_of_use_.size());
  part_of_use_.resize(first + all.uses(number).size(), NOWHERE);
  flows_.push_back({number, all.weight(number), all.bound(number), all.copies(number), first,
                    static_cast<std::uint32_t>(part_of_use_.size())});
}

/** Collects the flows of a resource that may limit them. */
void ClassFairShare::visit(const IncrementalFairShare& all, int resource)
{
  const auto at = static_cast<std::size_t>(resource);
  if (at >= visited_.size())
    visited_.resize(at + 1);
  if (visited_[at])
    return;
  visited_[at] = true;
  resources_.push_back(resource);
  if (is_slack(all, resource))
    return;
  limiting_.push_back(resource);
  for (const IncrementalFairShare::User& user : all.users(resource))
    add_flow(all, user.flow);
}

/** Collects a flow and all flows that share limiting resources with it, directly or transitively. */
void ClassFairShare::collect(const IncrementalFairShare& all, FlowNumber number)
{
  flows_.clear();
  links_.clear();
  parts_.clear();
  part_of_use_.clear();
  limiting_.clear();
  add_flow(all, number);
  // The loop appends to it. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t flow = 0; flow < flows_.size(); ++flow)
    for (const IncrementalFairShare::Use& use : all.uses(flows_[flow].number))
      visit(all, use.resource);
  std::ranges::sort(limiting_); // an order independent of earlier updates
  for (const int resource : limiting_)
    add_link(all, resource);
  for (Flow& flow : flows_) // drop uses of resources that do not limit
    flow.last_use = static_cast<std::uint32_t>(
        std::remove(part_of_use_.begin() + flow.first_use, part_of_use_.begin() + flow.last_use, NOWHERE) -
        part_of_use_.begin());
}

/** Adds a resource with its classes. */
void ClassFairShare::add_link(const IncrementalFairShare& all, int resource)
{
  const auto link  = static_cast<std::uint32_t>(links_.size());
  const auto first = static_cast<std::uint32_t>(parts_.size());
  for (const IncrementalFairShare::User& user : all.users(resource)) {
    const int share_class = class_at(user.flow, resource);
    if (static_cast<std::size_t>(share_class) >= part_of_class_.size())
      part_of_class_.resize(static_cast<std::size_t>(share_class) + 1, NOWHERE);
    std::uint32_t& part = part_of_class_[static_cast<std::size_t>(share_class)];
    if (part == NOWHERE) {
      part = static_cast<std::uint32_t>(parts_.size());
      parts_.push_back({link, share_class, weight(share_class)});
    }
    const Flow& flow                        = flows_[position_of_[user.flow]];
    part_of_use_[flow.first_use + user.use] = part;
  }
  const double capacity = all.capacity(resource);
  links_.push_back({resource, capacity, capacity, first, static_cast<std::uint32_t>(parts_.size())});
  for (std::uint32_t part = first; part < parts_.size(); ++part)
    part_of_class_[static_cast<std::size_t>(parts_[part].share_class)] = NOWHERE;
}

/** Opens flows to share the remaining capacity of all resources. */
void ClassFairShare::open(std::vector<std::uint32_t> positions)
{
  open_ = std::move(positions);
  for (Link& link : links_)
    link.changed = true;
  for (Part& part : parts_)
    part.fixed = 0;
  for (const std::uint32_t position : open_) {
    Flow& flow = flows_[position];
    flow.floor = 0;
    flow.limit = flow.bound - flow.rate;
    for (const std::uint32_t part : parts_of(flow))
      ++parts_[part].open;
  }
}

/** Returns the level at which claims exhaust an amount, infinite if they do not. Orders the claims. */
double ClassFairShare::level_of(std::span<Claim> claims, double amount)
{
  std::ranges::sort(claims, {}, &Claim::level);
  double weights = 0;
  for (const Claim& claim : claims)
    weights += claim.weight;
  for (const Claim& claim : claims) {
    if (claim.level * weights >= amount)
      return std::max(amount, 0.0) / weights;
    amount -= claim.level * claim.weight;
    weights -= claim.weight;
  }
  return UNLIMITED;
}

/** Computes the offer of a resource to the open flows of each class, if all take as much as their limits allow. */
void ClassFairShare::offer(const Link& link)
{
  classes_.clear();
  double claimed = 0;
  for (std::uint32_t part = link.first_part; part < link.last_part; ++part) {
    double rates = parts_[part].fixed;
    for (const Claim& claim : claims_of(parts_[part]))
      rates += claim.level * claim.weight;
    claimed += rates;
    classes_.push_back({rates / parts_[part].weight, parts_[part].weight});
  }
  const double level = claimed <= link.left ? UNLIMITED : level_of(classes_, link.left);
  for (std::uint32_t part = link.first_part; part < link.last_part; ++part)
    if (Part& its = parts_[part]; its.open > 0)
      its.level = level_of(claims_of(its), level * its.weight - its.fixed);
}

/** Lists the open flows of each class on each resource as claims. */
void ClassFairShare::claim()
{
  std::uint32_t claims = 0;
  for (Part& part : parts_) {
    part.last_claim = claims; // advances as claims are added
    claims += part.open;
  }
  claims_.resize(claims);
  for (const std::uint32_t position : open_) {
    const Flow& flow = flows_[position];
    for (const std::uint32_t part : parts_of(flow))
      claims_[parts_[part].last_claim++] = {flow.limit / flow.weight, flow.weight * flow.copies};
  }
}

/** Raises the floors of open flows to the lowest offer to each. Returns whether any has risen. */
bool ClassFairShare::raise_floors()
{
  claim();
  for (Link& link : links_)
    if (std::exchange(link.changed, false))
      offer(link);
  bool risen = false;
  for (const std::uint32_t position : open_) {
    Flow& flow   = flows_[position];
    double level = UNLIMITED;
    for (const std::uint32_t part : parts_of(flow))
      level = std::min(level, parts_[part].level);
    const double floor = std::min(flow.limit, level * flow.weight);
    risen              = risen || floor > flow.floor * (1 + SHARE_ROUNDING);
    flow.floor         = std::max(flow.floor, floor);
  }
  return risen;
}

/** Lowers the limits of open flows to the remainder after the floors of all other flows. Returns whether any has become
 * lower. */
bool ClassFairShare::lower_limits()
{
  for (Link& link : links_)
    link.spare = link.left;
  for (const Part& part : parts_)
    links_[part.link].spare -= part.fixed;
  for (const std::uint32_t position : open_)
    for (const std::uint32_t part : parts_of(flows_[position]))
      links_[parts_[part].link].spare -= flows_[position].copies * flows_[position].floor;
  for (Link& link : links_)
    if (link.spare < SHARE_ROUNDING * link.capacity)
      link.spare = 0;
  bool lower = false;
  for (const std::uint32_t position : open_) {
    Flow& flow   = flows_[position];
    double spare = UNLIMITED;
    for (const std::uint32_t part : parts_of(flow))
      spare = std::min(spare, links_[parts_[part].link].spare);
    const double limit = flow.floor + spare / flow.copies;
    if (limit >= flow.limit * (1 - SHARE_ROUNDING))
      continue;
    flow.limit = limit;
    lower      = true;
    for (const std::uint32_t part : parts_of(flow))
      links_[parts_[part].link].changed = true;
  }
  return lower;
}

void ClassFairShare::fix(Flow& flow)
{
  flow.rate += flow.floor;
  for (const std::uint32_t number : parts_of(flow)) {
    Part& part = parts_[number];
    part.fixed += flow.copies * flow.floor;
    --part.open;
    links_[part.link].changed = true;
  }
}

/** Fixes the open flows whose floor equals their limit. Returns whether there was one. */
bool ClassFairShare::fix_certain()
{
  return std::erase_if(open_, [this](std::uint32_t position) {
           Flow& flow         = flows_[position];
           const bool certain = flow.limit <= flow.floor * (1 + SHARE_ROUNDING);
           if (certain)
             fix(flow);
           return certain;
         }) > 0;
}

/** Fixes the open flows with the lowest floor; among ties, those of one class on one resource, the first by number. */
void ClassFairShare::fix_lowest()
{
  double level = UNLIMITED;
  for (const std::uint32_t position : open_)
    level = std::min(level, flows_[position].floor / flows_[position].weight);
  const auto is_lowest = [level](const Flow& flow) { return flow.floor / flow.weight <= level * (1 + SHARE_ROUNDING); };
  std::pair first(std::numeric_limits<int>::max(), 0);
  const auto number_of = [this](std::uint32_t part) {
    return std::pair(links_[parts_[part].link].resource, parts_[part].share_class);
  };
  for (const std::uint32_t position : open_)
    if (is_lowest(flows_[position]))
      for (const std::uint32_t part : parts_of(flows_[position]))
        first = std::min(first, number_of(part));
  std::erase_if(open_, [&](std::uint32_t position) {
    Flow& flow       = flows_[position];
    const bool fixed = is_lowest(flow) && std::ranges::any_of(parts_of(flow), [&](std::uint32_t part) {
                         return number_of(part) == first;
                       });
    if (fixed)
      fix(flow);
    return fixed;
  });
}

/** Returns the most that a flow can use of one class's part of a resource, given the offers of its other resources. */
double ClassFairShare::demand(const Flow& flow, std::uint32_t part) const
{
  double demand = flow.limit;
  for (std::uint32_t use = flow.first_use; use < flow.last_use; ++use)
    if (part_of_use_[use] != part)
      demand = std::min(demand, offers_[use]);
  return demand;
}

/** Orders claims by level, and sums them up. */
void ClassFairShare::Claims::sort(std::span<Claim> claims)
{
  std::ranges::sort(claims, {}, &Claim::level);
  sorted_ = claims;
  below_.assign(claims.size() + 1, 0);
  above_.assign(claims.size() + 1, 0);
  for (std::size_t at = 0; at < claims.size(); ++at)
    below_[at + 1] = below_[at] + claims[at].level * claims[at].weight;
  for (std::size_t at = claims.size(); at > 0; --at)
    above_[at - 1] = above_[at] + claims[at - 1].weight;
}

/** Returns the level that one of the claims would reach with an amount if it had no limit. */
double ClassFairShare::Claims::level_without_limit(const Claim& own, double amount) const
{
  const auto demand_at = [&](std::size_t at) {
    const double level = sorted_[at].level;
    return below_[at] + level * above_[at] + std::max(0.0, level - own.level) * own.weight;
  };
  std::size_t first = 0; // first claim at whose level the total demand exceeds the amount
  for (std::size_t last = sorted_.size(); first < last;)
    if (const std::size_t middle = (first + last) / 2; demand_at(middle) < amount)
      first = middle + 1;
    else
      last = middle;
  if (first < sorted_.size() && sorted_[first].level <= own.level)
    return std::max(amount - below_[first], 0.0) / above_[first];
  return std::max(amount - below_[first] + own.level * own.weight, 0.0) / (above_[first] + own.weight);
}

/** Offers each open flow its share of a resource as if it had no limit and all other flows used as much as their other
 * resources allow. @p damped: offers move only half of the way. */
void ClassFairShare::relax(const Link& link, bool damped)
{
  classes_.clear();
  for (std::uint32_t number = link.first_part; number < link.last_part; ++number) {
    const Part& part = parts_[number];
    double rates     = part.fixed;
    for (std::uint32_t at = part.last_claim - part.open; at < part.last_claim; ++at) {
      const Flow& flow = flows_[users_[at].flow];
      claims_[at]      = {demand(flow, number) / flow.weight, flow.weight * flow.copies};
      users_[at].claim = claims_[at];
      rates += claims_[at].level * claims_[at].weight;
    }
    classes_.push_back({rates / part.weight, part.weight});
  }
  const std::vector<Claim> own = classes_;
  of_link_.sort(classes_);
  for (std::uint32_t number = link.first_part; number < link.last_part; ++number) {
    const Part& part    = parts_[number];
    const double amount = of_link_.level_without_limit(own[number - link.first_part], link.left) * part.weight;
    of_part_.sort(claims_of(part));
    for (std::uint32_t at = part.last_claim - part.open; at < part.last_claim; ++at) {
      const auto& [position, use, claim] = users_[at];
      const Flow& flow                   = flows_[position];
      double offer                       = of_part_.level_without_limit(claim, amount - part.fixed) * flow.weight;
      if (damped && offers_[use] < UNLIMITED)
        offer = (offer + offers_[use]) / 2;
      if (std::abs(offer - offers_[use]) <= RELAXED * offer)
        continue;
      offers_[use] = offer;
      for (const std::uint32_t other : parts_of(flow))
        if (other != number || damped)
          links_[parts_[other].link].changed = true;
    }
  }
}

/** Reopens all flows whose rates are certain. */
void ClassFairShare::reopen_certain()
{
  std::vector<std::uint32_t> all(flows_.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<bool> is_open(flows_.size());
  for (const std::uint32_t position : open_)
    is_open[position] = true;
  for (Part& part : parts_)
    part.fixed = 0;
  for (const std::uint32_t position : all) {
    Flow& flow = flows_[position];
    if (is_open[position])
      continue;
    flow.floor = flow.limit = std::exchange(flow.rate, 0);
    for (const std::uint32_t part : parts_of(flow))
      ++parts_[part].open;
  }
  open_ = std::move(all);
}

/** Looks for fair rates by relaxation, link by link. Returns whether it has found and fixed them. */
bool ClassFairShare::fix_relaxed()
{
  constexpr int FREE_SWEEPS = 50; // before offers are damped
  constexpr int MOST_SWEEPS = 400;
  reopen_certain();
  claim();
  users_.resize(claims_.size());
  std::vector<std::uint32_t> next;
  next.reserve(parts_.size());
  for (const Part& part : parts_)
    next.push_back(part.last_claim - part.open);
  offers_.assign(part_of_use_.size(), UNLIMITED);
  for (const std::uint32_t position : open_)
    for (std::uint32_t use = flows_[position].first_use; use < flows_[position].last_use; ++use)
      users_[next[part_of_use_[use]]++] = {position, use, {}};
  for (Link& link : links_)
    link.changed = true;
  bool changed = true;
  for (int sweep = 0; changed && sweep < MOST_SWEEPS; ++sweep) {
    changed = false;
    for (Link& link : links_)
      if (std::exchange(link.changed, false)) {
        changed = true;
        relax(link, sweep >= FREE_SWEEPS);
      }
  }
  if (changed) {
    for (Link& link : links_)
      link.changed = true;
    return false;
  }
  for (const std::uint32_t position : open_) {
    Flow& flow = flows_[position];
    flow.floor = demand(flow, NOWHERE);
    fix(flow);
  }
  open_.clear();
  return true;
}

/** Fixes the rates of all open flows. Returns whether they are fair. @p relaxes: looks for fair rates by relaxation if
 * none is certain. */
bool ClassFairShare::fill(bool relaxes)
{
  constexpr int MOST_ROUNDS = 40; // without a rate that is certain
  bool fair                 = true;
  int rounds                = 0;
  while (not open_.empty()) {
    const bool risen = raise_floors();
    const bool lower = lower_limits();
    if (fix_certain()) {
      rounds = 0;
    } else if ((not risen && not lower) || ++rounds > MOST_ROUNDS) {
      if (std::exchange(relaxes, false) && fix_relaxed())
        break;
      fix_lowest();
      fair   = false;
      rounds = 0;
    }
  }
  return fair;
}

/** Reopens flows that are below their bounds and cross no full resource, to share the remaining capacity. Returns
 * whether there is one. */
bool ClassFairShare::reopen()
{
  for (const Part& part : parts_)
    links_[part.link].left -= part.fixed;
  for (Link& link : links_)
    if (link.left < SHARE_ROUNDING * link.capacity)
      link.left = 0;
  std::vector<std::uint32_t> below;
  for (std::uint32_t position = 0; position < flows_.size(); ++position) {
    const Flow& flow = flows_[position];
    const bool full =
        std::ranges::any_of(parts_of(flow), [this](std::uint32_t part) { return links_[parts_[part].link].left == 0; });
    if (not full && flow.rate < flow.bound * (1 - SHARE_ROUNDING))
      below.push_back(position);
  }
  open(std::move(below));
  return not open_.empty();
}

/** Finds the rates of all flows. Returns whether they are fair. */
bool ClassFairShare::solve()
{
  constexpr int MOST_ROUNDS = 16;
  std::vector<std::uint32_t> all(flows_.size());
  std::iota(all.begin(), all.end(), 0U);
  open(std::move(all));
  if (fill(true))
    return true;
  for (int round = 0; round < MOST_ROUNDS && reopen(); ++round)
    if (fill(false))
      break;
  return false;
}

const std::vector<ClassFairShare::FlowNumber>& ClassFairShare::update(IncrementalFairShare& all)
{
  rates_.clear();
  resources_.clear();
  fair_                 = true;
  const auto solve_with = [&](FlowNumber number) {
    if (is_collected(number))
      return;
    collect(all, number);
    fair_ = solve() && fair_;
    for (const Flow& flow : flows_)
      rates_.push_back({flow.number, flow.rate});
  };
  for (const int resource : all.dirty())
    for (const IncrementalFairShare::User& user : all.users(resource))
      solve_with(user.flow);
  // A flow that is alone on its resources makes none of them dirty, but may reuse the number of a flow that has
  // changed.
  for (const FlowNumber number : all.changed())
    if (not all.uses(number).empty())
      solve_with(number);
  for (const IncrementalFairShare::Rate& one : rates_)
    position_of_[one.flow] = NOWHERE;
  for (const int resource : resources_)
    visited_[static_cast<std::size_t>(resource)] = false;
  return all.assign(rates_);
}

} // namespace weft
