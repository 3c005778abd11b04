// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/link_uses.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {
namespace {

constexpr unsigned HOST_BITS = 32;
/** Relative difference below which two links count as equally slow. */
constexpr double SAME = 1e-9;

std::uint64_t packed_hosts(int from, int to)
{
  return (static_cast<std::uint64_t>(from) << HOST_BITS) | static_cast<std::uint32_t>(to);
}

} // namespace

std::vector<PairBytes> pair_bytes(const PlannedCall& call)
{
  std::map<std::pair<int, int>, Bytes> sent;
  for (int rank = 0; rank < call.call.ranks; ++rank) {
    Schedule steps = call.schedule(rank);
    while (steps.next()) {
      const Step& step = steps.step();
      if (step.kind == Step::Kind::send && step.bytes > Bytes())
        sent[{rank, step.peer}] += step.bytes + (step.over ? step.over->overhead : Bytes());
      if (step.kind == Step::Kind::wait_any)
        step.any->ended = step.any->requests.front(); // any order will do: the messages are the same
    }
  }
  std::vector<PairBytes> all;
  all.reserve(sent.size());
  for (const auto& [ranks, bytes] : sent)
    all.push_back({ranks.first, ranks.second, bytes});
  return all;
}

/** Loads of resources by one traffic. */
struct LinkUses::Loads {
  std::vector<double> bytes;   // by resource
  std::vector<double> seconds; // time that the resource needs for them
  std::vector<int> used;

  explicit Loads(std::size_t resources) : bytes(resources), seconds(resources) {}
  void add(int resource, double carried, double time)
  {
    const auto at = static_cast<std::size_t>(resource);
    if (bytes[at] == 0)
      used.push_back(resource);
    bytes[at] += carried;
    seconds[at] += time;
  }
  void clear()
  {
    for (const int resource : used) {
      bytes[static_cast<std::size_t>(resource)]   = 0;
      seconds[static_cast<std::size_t>(resource)] = 0;
    }
    used.clear();
  }
};

std::uint32_t LinkUses::message(int from, int to, double bytes)
{
  auto& known      = messages_[packed_hosts(from, to)];
  const auto found = std::ranges::find(known, bytes, &std::pair<double, std::uint32_t>::first);
  if (found != known.end())
    return found->second;
  const std::uint32_t number = next();
  all_.push_back({nullptr, from, to, bytes, 0});
  known.emplace_back(bytes, number);
  return number;
}

/** Sets @p into to the loads of one occurrence of a traffic. */
void LinkUses::load(const Traffic& traffic, FabricRoutes& routes,
                    std::map<const NcclPlan*, std::vector<PairBytes>>& pairs, Loads& into) const
{
  into.clear();
  FlowRoute way;
  const auto add = [&](int from, int to, Bytes bytes) {
    way.resources.clear();
    routes.find(from, to, bytes, 0, way);
    for (const int resource : way.resources)
      into.add(resource, bytes.value(), way.volume / capacities_[static_cast<std::size_t>(resource)]);
  };
  for (const auto& [link, bytes] : traffic.on_links)
    into.add(link, bytes, bytes / capacities_[static_cast<std::size_t>(link)]);
  if (not traffic.on_links.empty())
    return;
  if (not traffic.call)
    return add(traffic.from, traffic.to, Bytes(traffic.bytes));
  const auto [found, is_new] = pairs.try_emplace(traffic.call->call.nccl.get());
  if (is_new)
    found->second = pair_bytes(*traffic.call);
  for (const PairBytes& one : found->second)
    add(traffic.call->hosts[static_cast<std::size_t>(one.from)], traffic.call->hosts[static_cast<std::size_t>(one.to)],
        one.bytes);
}

/** Returns the class of each resource: for a medium or pool, the class of its first link; -1 for other resources. */
std::vector<int> LinkUses::class_of_resources(const LinkClasses& classes) const
{
  const std::size_t links = fabric_.links().size();
  std::vector<int> all(capacities_.size(), -1);
  for (std::size_t id = links; id-- > 0;) {
    all[id] = classes.of_cable[id / 2];
    if (const std::optional<std::size_t> medium = fabric_.shared_by(static_cast<LinkId>(id)))
      all[links + *medium] = all[id];
  }
  return all;
}

/** Adds the classes whose links have carried some of @p bytes (by resource) to the report. Returns the position of each
 * class in it. @p any_route: each message had its own route, so the busiest link is unknown. */
std::vector<int> LinkUses::add_classes(const LinkClasses& classes, const std::vector<double>& bytes, double end,
                                       bool any_route, Report& report) const
{
  std::vector<LinkClassUse> all(classes.names.size());
  for (std::size_t id = 0; id < fabric_.links().size(); ++id) {
    const Link& link     = fabric_.links()[id];
    const double carried = fabric_.bytes_on_link(
        static_cast<LinkId>(id), [&bytes](int counted) { return bytes[static_cast<std::size_t>(counted)]; });
    if (carried <= 0)
      continue;
    LinkClassUse& its = all[static_cast<std::size_t>(classes.of_cable[id / 2])];
    const double used = end > 0 ? carried / (link.bandwidth.value() * end) : 0;
    ++its.links;
    its.bytes += carried;
    its.mean += used;
    if (used > its.most && not any_route) {
      its.most    = used;
      its.busiest = link.name;
    }
  }
  std::vector<int> position_of(all.size(), -1);
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].links == 0)
      continue;
    position_of[at] = static_cast<int>(report.classes.size());
    all[at].name    = classes.names[at];
    all[at].mean /= static_cast<double>(all[at].links);
    report.classes.push_back(std::move(all[at]));
  }
  return position_of;
}

LinkUses::Report LinkUses::report(double end) const
{
  FabricRoutes routes(fabric_);
  std::map<const NcclPlan*, std::vector<PairBytes>> pairs;
  Loads one(capacities_.size());
  std::vector<double> bytes(capacities_.size());   // bytes of the iteration
  std::vector<double> seconds(capacities_.size()); // time that resources need for them
  std::vector<std::vector<int>> limiting(all_.size());
  Report report;
  report.limits.resize(all_.size());
  for (std::size_t number = 0; number < all_.size(); ++number) {
    const Traffic& traffic = all_[number];
    if (traffic.times == 0)
      continue;
    load(traffic, routes, pairs, one);
    double& longest = report.limits[number].seconds;
    for (const int resource : one.used) {
      const auto at    = static_cast<std::size_t>(resource);
      const auto times = static_cast<double>(traffic.times);
      bytes[at] += times * one.bytes[at];
      seconds[at] += times * one.seconds[at];
      longest = std::max(longest, one.seconds[at]);
    }
    for (const int resource : one.used)
      if (one.seconds[static_cast<std::size_t>(resource)] >= longest * (1 - SAME))
        limiting[number].push_back(resource);
  }

  const LinkClasses classes          = link_classes(fabric_.topology());
  const std::vector<int> position_of = add_classes(classes, bytes, end, routes.routes_each_message(), report);
  const std::vector<int> class_of    = class_of_resources(classes);
  const auto busier                  = [&seconds](int resource, int other) {
    return seconds[static_cast<std::size_t>(resource)] < seconds[static_cast<std::size_t>(other)];
  };
  for (std::size_t number = 0; number < all_.size(); ++number)
    if (not limiting[number].empty())
      if (const int its = class_of[static_cast<std::size_t>(*std::ranges::max_element(limiting[number], busier))];
          its >= 0)
        report.limits[number].link_class = position_of[static_cast<std::size_t>(its)];
  return report;
}

} // namespace weft
