// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/rank_accounts.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

RankAccounts::RankAccounts(std::uint32_t kinds) : kinds_(kinds)
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

} // namespace weft
