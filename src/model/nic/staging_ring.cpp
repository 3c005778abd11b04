// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/staging_ring.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/** Minimum duration of an arrival, in seconds, for chunks that arrive simultaneously. */
constexpr double MOMENT = 1e-12;

double pace(const StagingRing::Arrival& arrival)
{
  return arrival.chunks / (arrival.last - arrival.first);
}

/** Returns the arrival rate in an interval in which no arrival begins or ends. */
double pace_between(const std::vector<StagingRing::Arrival>& arrivals, double from, double to)
{
  double sum = 0;
  for (const StagingRing::Arrival& its : arrivals)
    if (its.first <= from && to <= its.last)
      sum += pace(its);
  return sum;
}

std::vector<double> times_between(const std::vector<StagingRing::Arrival>& arrivals, double from, double to)
{
  std::vector<double> times{from, to};
  for (const StagingRing::Arrival& its : arrivals)
    for (const double time : {its.first, its.last})
      if (from < time && time < to)
        times.push_back(time);
  std::ranges::sort(times);
  return times;
}

} // namespace

template <typename Full>
double StagingRing::run_to(const std::vector<Arrival>& arrivals, double end, double all, const Full& full) const
{
  double level              = level_;
  std::vector<double> times = times_between(arrivals, since_, std::max(since_, end));
  if (since_ < awake_ && awake_ < end)
    times.insert(std::ranges::upper_bound(times, awake_), awake_);
  for (std::size_t at = 1; at < times.size(); ++at) {
    const double from   = times[at - 1];
    const double to     = times[at];
    const double rate   = from < awake_ ? 0 : all;
    const double coming = pace_between(arrivals, from, to);
    const double growth = coming - rate;
    const double then   = level + growth * (to - from);
    if (then > room_)
      full(from + (room_ - level) / growth, to, rate / coming);
    level = std::clamp(then, 0.0, room_);
  }
  return level;
}

void StagingRing::forget_before(double time, double rate)
{
  double oldest = time;
  for (const Arrival& its : known_)
    if (its.last > time)
      oldest = std::min(oldest, its.first);
  oldest = std::max(oldest, since_);
  level_ = run_to(known_, oldest, rate, [](double, double, double) {});
  since_ = oldest;
  std::erase_if(known_, [&](const Arrival& its) { return its.last <= oldest; });
}

StagingRing::Taken StagingRing::take(const Arrival& arrival, double rate, std::span<const double> going)
{
  Arrival its = arrival;
  its.last    = std::max(its.last, its.first + MOMENT);
  if (awake_ < 0)
    awake_ = (going.empty() ? its.first : std::min(its.first, std::ranges::min(going))) + activation_;
  forget_before(its.first, rate);
  known_.push_back(its);
  std::vector<Arrival> all = known_;
  for (const double first : going)
    if (first < its.last)
      all.push_back({first, its.last, pace(its) * (its.last - first)});
  Taken taken;
  double stays       = 0; // fraction of the next chunk that has been accepted so far
  const double level = run_to(all, its.last, rate, [&](double from, double to, double part) {
    const auto chunk_at = [&](double time) {
      return static_cast<std::int64_t>(std::floor((time - its.first) * pace(its) + 0.5));
    };
    for (std::int64_t chunk = std::max<std::int64_t>(0, chunk_at(from)); chunk < chunk_at(std::min(to, its.last));
         ++chunk) {
      stays += part;
      if (stays >= 1)
        stays -= 1;
      else
        taken.lost.push_back(chunk);
    }
  });
  taken.processed    = std::max(its.last, awake_) + level / rate;
  return taken;
}

bool StagingRing::sleeps(double time, std::span<const double> coming) const
{
  if (awake_ >= 0)
    return time < awake_;
  return not coming.empty() && time < std::ranges::min(coming) + activation_;
}

} // namespace weft
