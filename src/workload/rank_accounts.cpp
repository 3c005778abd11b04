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
  else if (const std::uint32_t state = *std::ranges::min_element(active_); state == 0)
    times_.computing += passed;
  else if (state <= kinds_)
    times_.exposed[state - 1] += passed;
  else
    times_.late[state - 1 - kinds_] += passed;
}

void RankAccounts::begin(std::uint32_t state, Seconds now)
{
  count_until(now);
  active_.push_back(state);
}

void RankAccounts::end(std::uint32_t state, Seconds now)
{
  count_until(now);
  const auto found = std::ranges::find(active_, state);
  if (found == active_.end())
    throw std::logic_error("a rank ends what it has not begun");
  *found = active_.back();
  active_.pop_back();
}

void RankAccounts::end_communication(std::uint32_t kind, Seconds since, Seconds now)
{
  end(exposed(kind), now);
  times_.communicated[kind] += (now - since).value();
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
