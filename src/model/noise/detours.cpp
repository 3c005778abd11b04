// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/detours.hpp"

#include "model/noise/random.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr std::uint32_t ALL_CORES = 0xffffffff;

} // namespace

Detours::Source::Source(const NoiseModel& noise, std::uint32_t table, std::uint32_t core)
    : model_(&noise.hosts[table]), seed_(static_cast<std::uint64_t>(noise.seed)), table_(table), core_(core)
{
  // Fixed intervals start at a random phase.
  const double phase = draw(RandomPurpose::DETOUR_STARTS);
  begin_at(model_->intervals == Intervals::fixed ? model_->interval.value() * phase : gap());
}

double Detours::Source::draw(std::uint32_t purpose) const
{
  const bool shared = purpose == RandomPurpose::DETOUR_STARTS && model_->phases == Phases::synchronized;
  return uniform(seed_, {number_, table_, shared ? ALL_CORES : core_, purpose});
}

/** Returns the time between the starts of the previous and the current detour. */
double Detours::Source::gap() const
{
  return drawn(Distribution::exponential, model_->interval, 0, draw(RandomPurpose::DETOUR_STARTS)).value();
}

void Detours::Source::begin_at(double start)
{
  const double length = draw(RandomPurpose::DETOUR_LENGTHS);
  detour_             = {start, start + drawn(model_->distribution, model_->detour, model_->shape, length).value()};
}

void Detours::Source::next()
{
  ++number_;
  begin_at(detour_.start + (model_->intervals == Intervals::fixed ? model_->interval.value() : gap()));
}

Detours::Detours(const NoiseModel& noise, int host, std::uint32_t core)
{
  for (std::uint32_t table = 0; table < noise.hosts.size(); ++table)
    if (noise.hosts[table].hosts[static_cast<std::size_t>(host)])
      sources_.emplace_back(noise, table, core);
}

Seconds Detours::end_of(Seconds now, Seconds start, Seconds work)
{
  for (Source& source : sources_)
    while (source.detour().end <= now.value())
      source.next();
  walking_    = sources_;
  double time = start.value();
  double left = work.value();
  while (not walking_.empty()) {
    // The earliest detour of all tables.
    const auto first    = std::ranges::min_element(walking_, {}, [](const Source& one) { return one.detour().start; });
    const Detour detour = first->detour();
    if (detour.start > time && detour.start >= time + left)
      break;
    left -= std::max(0.0, detour.start - time);
    time = std::max({time, detour.start, detour.end});
    first->next();
  }
  return Seconds(time + left);
}

} // namespace weft
