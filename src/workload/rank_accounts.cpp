// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/rank_accounts.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

RankAccounts::RankAccounts(std::uint32_t kinds, Seconds start) : kinds_(kinds), since_(start.value())
{
  times_.exposed.resize(kinds);
  times_.late.resize(kinds);
  times_.communicated.resize(kinds);
}

void RankAccounts::count_until(Seconds now)
{
  const double passed = now.value() - since_;
  since_              = now.value();
  if (active_.empty())
    times_.idle += passed;
  else if (const auto [state, traffic] = *std::ranges::min_element(active_); state == 0)
    times_.computing += passed;
  else if (state <= kinds_) {
    times_.exposed[state - 1] += passed;
    traffic_[traffic].exposed += passed;
  } else
    times_.late[state - 1 - kinds_] += passed;
}

/** Returns the index of a traffic. Ranks repeat the same traffic in the same order, so the last one and its successor
 * are tried first.
 */
std::uint32_t RankAccounts::index_of(std::uint32_t traffic)
{
  for (std::size_t step = 0; step < traffic_.size(); ++step)
    if (const std::size_t at = (last_ + step) % traffic_.size(); traffic_[at].traffic == traffic) {
      last_ = at;
      return static_cast<std::uint32_t>(at);
    }
  traffic_.push_back({traffic});
  last_ = traffic_.size() - 1;
  return static_cast<std::uint32_t>(last_);
}

void RankAccounts::begin(Active state, Seconds now)
{
  count_until(now);
  active_.push_back(state);
}

void RankAccounts::end(Active state, Seconds now)
{
  count_until(now);
  const auto found = std::ranges::find(active_, state);
  if (found == active_.end())
    throw std::logic_error("a rank ends what it has not begun");
  *found = active_.back();
  active_.pop_back();
}

void RankAccounts::end_communication(std::uint32_t kind, std::uint32_t traffic, Seconds since, Seconds now)
{
  const std::uint32_t at = index_of(traffic);
  end({exposed(kind), at}, now);
  times_.communicated[kind] += (now - since).value();
  traffic_[at].communicated += (now - since).value();
  ++traffic_[at].times;
}

void RankAccounts::close(Seconds now)
{
  count_until(now);
  times_.end = now.value();
}

std::vector<TimePart> parts_of(std::span<const RankTimes> ranks, const std::vector<std::string>& kinds, double end)
{
  std::vector<TimePart> parts;
  const auto add = [&parts, ranks](const std::string& name, const auto& seconds) {
    TimePart part{name, 0, 0};
    for (const RankTimes& rank : ranks) {
      part.mean += seconds(rank) / static_cast<double>(ranks.size());
      part.most = std::max(part.most, seconds(rank));
    }
    if (part.most > 0)
      parts.push_back(part);
  };
  add("computation", [](const RankTimes& rank) { return rank.computing; });
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    add("exposed " + kinds[kind], [kind](const RankTimes& rank) { return rank.exposed[kind]; });
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    add("waiting " + kinds[kind], [kind](const RankTimes& rank) { return rank.late[kind]; });
  add("idle", [end](const RankTimes& rank) { return rank.idle + end - rank.end; });
  return parts;
}

} // namespace weft
