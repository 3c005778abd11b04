// SPDX-License-Identifier: LGPL-2.1-only
#include "model/forwarding/forwarding_port.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weft {
namespace {

/** Tolerance for times that were summed in different orders; shorter than any packet. */
constexpr Seconds TOLERANCE(1e-12);
/** Number of warm-up rounds, after which the cache holds the tags of all messages if they fit. */
constexpr int WARMING = 1;
constexpr int COUNTED = 2;

} // namespace

ForwardingPort::ForwardingPort(const ForwardingModel& model) : model_(&model)
{
  if (model.cached())
    cache_.emplace(model.shape());
}

bool ForwardingPort::look_up(ForwardingTag tag, int out, Seconds now)
{
  if (not cache_)
    return false;
  if (model_->flush_at > Seconds() && now >= model_->flush_at && not std::exchange(flushed_, true))
    cache_->flush();
  if (tag == UNCACHED)
    return false;
  if ((tag & KEPT) != 0)
    return cache_->know(tag);
  const std::optional<int> found = cache_->lookup(tag);
  if (found && *found != out)
    throw std::logic_error("a forwarding cache misroutes");
  if (not found)
    cache_->fill(tag, out);
  return found.has_value();
}

void ForwardingPort::enter(MessageNumber message, ForwardingTag tag, int out, bool hit, Bytes bytes, Bytes volume,
                           Seconds begins)
{
  crossing_.push_back({message, tag, out, hit, packets_of(*model_, bytes), volume.value(), begins});
  next_ = std::min(next_, begins);
}

void ForwardingPort::repeat(MessageNumber message)
{
  const auto found = std::ranges::find(crossing_, message, &Crossing::message);
  found->copies += 1;
}

void ForwardingPort::flush()
{
  if (cache_)
    cache_->flush();
  stale_ = true;
}

void ForwardingPort::redirect(MessageNumber message, ForwardingTag tag, int out)
{
  const auto found = std::ranges::find(crossing_, message, &Crossing::message);
  found->tag       = tag;
  found->out       = out;
}

double ForwardingPort::Crossing::hit_packets() const
{
  return (first_hit ? 1 : 0) + (packets - 1) * (time > 0 ? hits / time : share);
}

void ForwardingPort::leave(MessageNumber message, Seconds now, LookupCounters& counters)
{
  advance(now);
  const auto found = std::ranges::find(crossing_, message, &Crossing::message);
  counters.packets += found->copies * found->packets;
  counters.packet_hits += found->copies * found->hit_packets();
  crossing_.erase(found);
  stale_ = true;
}

void ForwardingPort::advance(Seconds now)
{
  const double passed = (now - counted_).value();
  counted_            = now;
  for (Crossing& one : crossing_)
    if (one.begins < now) {
      one.hits += one.share * passed;
      one.time += passed;
    }
}

void ForwardingPort::take_turns(Seconds now)
{
  const auto takes_turns = [now](const Crossing& one) { return one.begins <= now + TOLERANCE && one.packets > 1; };
  if (not cache_)
    return;
  for (Crossing& one : crossing_)
    if (takes_turns(one))
      one.share = 0;
  for (int turn = 0; turn < WARMING + COUNTED; ++turn)
    for (Crossing& one : crossing_)
      if (takes_turns(one) && look_up(one.tag, one.out, now) && turn >= WARMING)
        one.share += 1.0 / COUNTED;
}

Seconds ForwardingPort::cost(const Crossing& crossing) const
{
  if (not cache_)
    return model_->interval * crossing.packets;
  const double hits = (crossing.first_hit ? 1 : 0) + (crossing.packets - 1) * crossing.share;
  return model_->interval * hits + model_->miss_interval() * (crossing.packets - hits);
}

double ForwardingPort::rate(Seconds now)
{
  if (not stale_ && now + TOLERANCE < next_)
    return rate_;
  advance(now);
  take_turns(now);
  double messages = 0;
  double costs    = 0;
  next_           = Seconds(std::numeric_limits<double>::infinity());
  for (const Crossing& one : crossing_)
    if (one.begins <= now + TOLERANCE) {
      messages += one.copies;
      costs += one.copies * cost(one).value() / one.volume;
    } else {
      next_ = std::min(next_, one.begins);
    }
  stale_ = false;
  rate_  = costs > 0 ? messages / costs : std::numeric_limits<double>::infinity();
  return rate_;
}

} // namespace weft
