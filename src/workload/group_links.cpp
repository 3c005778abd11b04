// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/group_links.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace weft {
namespace {

/** Size of the message whose route shows the links between two ranks. */
constexpr Bytes PROBE(1024 * 1024);
/** Fraction of a link's bandwidth that counts as none. */
constexpr double NEXT_TO_NOTHING = 1e-3;

struct HostPair {
  int from;
  int to;
};

/** Returns the pairs of hosts on the same node, by node. */
std::map<int, std::vector<HostPair>> pairs_by_node(const std::vector<int>& members, const std::vector<int>& hosts,
                                                   int gpus)
{
  std::map<int, std::vector<int>> nodes;
  for (const int rank : members) {
    const int host = hosts[static_cast<std::size_t>(rank)];
    nodes[host / gpus].push_back(host);
  }
  std::map<int, std::vector<HostPair>> all;
  for (const auto& [node, its] : nodes)
    for (const int from : its)
      for (const int to : its)
        if (from != to)
          all[node].push_back({from, to});
  return all;
}

std::vector<std::set<int>> peers_by_program(const Workload& workload)
{
  std::vector<std::set<int>> all(workload.programs.size());
  for (std::size_t index = 0; index < all.size(); ++index)
    for (WorkNumber number = 0; number < workload.programs[index].size(); ++number)
      if (const Work& work = workload.programs[index][number]; work.kind == WorkKind::send)
        all[index].insert(work.peer);
  return all;
}

/** Owner of links: the part of a group on a node, or all messages within nodes. */
struct Owner {
  std::pair<std::uint32_t, int> group;
  GroupLinks::Own links; // wiring is negative for owners that may not have links of their own
  bool shares = false;
};

class Claims {
  static constexpr int NOBODY = -1;
  static constexpr int MANY   = -2;
  std::vector<int> owner_; // by resource: index into owners, NOBODY or MANY

public:
  std::vector<Owner> owners;

  explicit Claims(std::size_t resources) : owner_(resources, NOBODY) {}
  void claim(const std::vector<int>& resources, std::size_t owner)
  {
    for (const int resource : resources) {
      int& its = owner_[static_cast<std::size_t>(resource)];
      if (its == NOBODY || std::cmp_equal(its, owner)) {
        its = static_cast<int>(owner);
        continue;
      }
      owners[owner].shares = true;
      if (its != MANY)
        owners[static_cast<std::size_t>(its)].shares = true;
      its = MANY;
    }
  }
  /** Returns one flag per resource: its owner shares no resource. */
  std::vector<bool> owned() const
  {
    std::vector<bool> all;
    all.reserve(owner_.size());
    for (const int owner : owner_) {
      const Owner* const its = owner >= 0 ? &owners[static_cast<std::size_t>(owner)] : nullptr;
      all.push_back(its && its->links.wiring >= 0 && not its->shares);
    }
    return all;
  }
};

/** Numbering of wirings: latencies, and links in the order of their first use. */
class Wirings {
  std::map<std::vector<double>, int> known_;
  const std::vector<double>& capacities_;
  std::vector<double> key_;
  std::map<int, double> seen_;
  std::vector<int> resources_;

public:
  explicit Wirings(const std::vector<double>& capacities) : capacities_(capacities) {}
  void add(const FlowRoute& way)
  {
    key_.insert(key_.end(), {way.latency, way.volume, way.bound});
    for (const int resource : way.resources) {
      const auto [at, is_new] = seen_.try_emplace(resource, static_cast<double>(seen_.size()));
      key_.push_back(at->second);
      if (is_new) {
        key_.push_back(capacities_[static_cast<std::size_t>(resource)]);
        resources_.push_back(resource);
      }
    }
  }
  GroupLinks::Own take()
  {
    seen_.clear();
    const int wiring = known_.try_emplace(std::exchange(key_, {}), static_cast<int>(known_.size())).first->second;
    return {wiring, std::exchange(resources_, {})};
  }
};

} // namespace

GroupLinks::GroupLinks(const Workload& workload, const std::vector<int>& hosts, int gpus, MessageRoutes& routes,
                       const std::vector<double>& capacities, const std::vector<int>& unsteady)
    : capacities_(capacities), necks_(capacities.size())
{
  Claims claims(capacities.size());
  Wirings wirings(capacities);
  FlowRoute way;
  for (std::uint32_t division = 0; division < workload.divisions.size(); ++division)
    for (int group = 0; group < workload.divisions[division].number(); ++group) {
      const auto nodes = pairs_by_node(workload.divisions[division].members(group), hosts, gpus);
      for (const auto& [node, pairs] : nodes) {
        claims.owners.push_back({{division, group}, {-1, {}}});
        for (const HostPair pair : pairs) {
          routes.find(pair.from, pair.to, PROBE, 0, way);
          wirings.add(way);
          claims.claim(way.resources, claims.owners.size() - 1);
        }
        if (Own links = wirings.take(); nodes.size() == 1)
          claims.owners.back().links = std::move(links);
      }
    }
  const auto peers = peers_by_program(workload);
  claims.owners.push_back({{}, {-1, {}}});
  for (int rank = 0; rank < workload.ranks(); ++rank)
    for (const int peer : peers[static_cast<std::size_t>(workload.program_of[static_cast<std::size_t>(rank)])]) {
      const int from = hosts[static_cast<std::size_t>(rank)];
      const int to   = hosts[static_cast<std::size_t>(rank + peer)];
      if (from / gpus != to / gpus)
        continue;
      routes.find(from, to, PROBE, 0, way);
      claims.claim(way.resources, claims.owners.size() - 1);
    }
  claims.owners.push_back({{}, {-1, {}}});
  claims.claim(unsteady, claims.owners.size() - 1);
  owned_ = claims.owned();
  for (Owner& owner : claims.owners)
    if (owner.links.wiring >= 0 && not owner.shares)
      own_[owner.group] = std::move(owner.links);
}

const GroupLinks::Own* GroupLinks::own(std::uint32_t division, int group) const
{
  const auto found = own_.find({division, group});
  return found == own_.end() ? nullptr : &found->second;
}

void GroupLinks::note_message(const std::vector<int>& resources)
{
  const auto owned = [this](int resource) { return owned_[static_cast<std::size_t>(resource)]; };
  if (std::ranges::none_of(resources, owned))
    return;
  int neck = -1;
  for (const int resource : resources)
    if (not owned(resource) && (neck < 0 || capacity(resource) < capacity(neck)))
      neck = resource;
  is_shared_ = is_shared_ || neck < 0;
  for (const int resource : resources)
    if (auto& necks = necks_[static_cast<std::size_t>(resource)];
        owned(resource) && std::ranges::count(necks, neck) == 0)
      necks.push_back(neck);
}

bool GroupLinks::is_crossed() const
{
  return std::ranges::any_of(necks_, [](const auto& necks) { return not necks.empty(); });
}

std::vector<double> GroupLinks::left_for_groups(int flows) const
{
  // Minimum for each position of a wiring.
  std::map<int, std::vector<double>> least;
  for (const auto& [group, own] : own_) {
    std::vector<double>& left = least[own.wiring];
    left.resize(own.resources.size(), std::numeric_limits<double>::infinity());
    for (std::size_t at = 0; at < own.resources.size(); ++at) {
      const int resource = own.resources[at];
      double rest        = capacity(resource);
      double widest      = 0;
      for (const int neck : necks_[static_cast<std::size_t>(resource)]) {
        rest -= capacity(neck);
        widest = std::max(widest, capacity(neck));
      }
      // Max-min sharing gives a message the rate of its narrowest link, if flows of the group would get as much.
      left[at] = std::min(left[at], rest >= widest * flows ? rest : NEXT_TO_NOTHING * capacity(resource));
    }
  }
  std::vector<double> all = capacities_;
  for (const auto& [group, own] : own_)
    for (std::size_t at = 0; at < own.resources.size(); ++at)
      all[static_cast<std::size_t>(own.resources[at])] = least[own.wiring][at];
  return all;
}

} // namespace weft
