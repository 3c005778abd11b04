// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/counts_summary.hpp"

#include "binding/ranks/places.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <simgrid/s4u/Actor.hpp>
#include <vector>

namespace weft {
namespace {

constexpr aid_t NOBODY_HOLDS = -1;

/** Summary held by the rank that opened a CountsHeld scope last; other ranks compare again. */
struct Held {
  aid_t actor       = NOBODY_HOLDS;
  const int* counts = nullptr;
  CountsSummary known{};
};

Held& held()
{
  static Held the_held;
  return the_held;
}

CountsSummary look(const int* counts, std::size_t ranks)
{
  static std::vector<int> before;
  static CountsSummary known{};
  if (before.size() == ranks && std::memcmp(counts, before.data(), ranks * sizeof(int)) == 0)
    return known;
  before.assign(counts, counts + ranks);
  known = {std::accumulate(before.begin(), before.end(), std::int64_t{0}), *std::ranges::min_element(before),
           known.number + 1};
  return known;
}

} // namespace

CountsSummary summarize_counts(const int* counts, MPI_Comm comm)
{
  const auto ranks = static_cast<std::size_t>(place_in(comm).size);
  Held& all        = held();
  if (all.actor == NOBODY_HOLDS || all.actor != simgrid::s4u::this_actor::get_pid())
    return look(counts, ranks);
  if (all.counts != counts) {
    all.known  = look(counts, ranks);
    all.counts = counts;
  }
  return all.known;
}

CountsHeld::CountsHeld()
{
  held() = {simgrid::s4u::this_actor::get_pid(), nullptr, {}};
}

CountsHeld::~CountsHeld()
{
  if (held().actor == simgrid::s4u::this_actor::get_pid())
    held() = {};
}

} // namespace weft
