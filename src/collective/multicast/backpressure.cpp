// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/backpressure.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

/** Rounding of the clock, absolute in seconds and relative: timers may expire this much early. */
constexpr double ROUNDING          = 1e-12;
constexpr double RELATIVE_ROUNDING = 1e-15;
/** Pace of roots that nobody throttles; finite, since no progress in no time is no progress. */
constexpr double UNBOUNDED = std::numeric_limits<double>::max();

} // namespace

Backpressure::Backpressure(std::vector<BytesPerSecond> rates) : rates_(std::move(rates)), own_(rates_.size()) {}

void Backpressure::advance(Seconds now)
{
  if (not blocks_.empty())
    progress_ = std::min(progress_ + pace_ * (now.value() - now_), blocks_.front().leave_at);
  now_ = now.value();
}

void Backpressure::set_pace()
{
  double least_own = UNBOUNDED;
  for (std::size_t member = 0; member < own_.size(); ++member)
    if (rates_[member] > BytesPerSecond())
      least_own = std::min(least_own, own_[member]);
  pace_ = 0;
  for (std::size_t member = 0; member < own_.size(); ++member)
    if (own_[member] == least_own && in_flight_ > least_own)
      pace_ = std::max(pace_, rates_[member].value() / (in_flight_ - least_own));
  if (pace_ == 0)
    pace_ = UNBOUNDED;
}

void Backpressure::set_rates(Seconds now, std::vector<BytesPerSecond> rates)
{
  advance(now);
  rates_ = std::move(rates);
  set_pace();
}

void Backpressure::start(Seconds now, std::vector<Sent> sent)
{
  advance(now);
  for (const auto& [member, bytes] : sent) {
    own_[member] += bytes.value();
    in_flight_ += bytes.value();
  }
  blocks_.push_back({progress_ + 1, std::move(sent)});
  set_pace();
}

std::optional<Seconds> Backpressure::next() const
{
  if (blocks_.empty())
    return std::nullopt;
  return Seconds(now_ + (blocks_.front().leave_at - progress_) / pace_);
}

std::vector<std::size_t> Backpressure::take_left(Seconds now)
{
  const Seconds soon(now.value() * (1 + RELATIVE_ROUNDING) + ROUNDING);
  std::vector<std::size_t> left;
  for (std::optional<Seconds> time = next(); time && *time <= soon; time = next()) {
    advance(*time);
    progress_ = blocks_.front().leave_at;
    for (const auto& [member, bytes] : blocks_.front().sent) {
      own_[member] -= bytes.value();
      in_flight_ -= bytes.value();
    }
    blocks_.pop_front();
    left.push_back(left_++);
    set_pace();
  }
  return left;
}

} // namespace weft
