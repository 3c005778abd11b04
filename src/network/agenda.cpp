// SPDX-License-Identifier: LGPL-2.1-only
#include "network/agenda.hpp"

#include <algorithm>

namespace weft {

std::size_t Agenda::open(double time)
{
  if (idle_.empty()) {
    idle_.push_back(instants_.size());
    instants_.emplace_back();
  }
  const std::size_t instant = idle_.back();
  idle_.pop_back();
  instants_[instant].time = time;
  heap_.push_back({time, opened_++, instant});
  std::ranges::push_heap(heap_, Place::later);
  return instant;
}

void Agenda::add(Seconds time, Due& who, std::uint64_t what)
{
  const double when = std::max(time.value(), now_);
  if (last_ == NONE || not same(instants_[last_].time, when))
    last_ = open(when);
  instants_[last_].entries.push_back({&who, what});
}

void Agenda::run(std::size_t instant)
{
  // The loop body may append entries. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t at = 0; at < instants_[instant].entries.size(); ++at) {
    const Entry entry = instants_[instant].entries[at];
    entry.who->due(entry.what);
  }
  instants_[instant].entries.clear();
  if (last_ == instant)
    last_ = NONE;
  idle_.push_back(instant);
}

bool Agenda::any_but(const std::function<bool(const Due&)>& excluded) const
{
  return std::ranges::any_of(heap_, [this, &excluded](const Place& place) {
    return not std::ranges::all_of(instants_[place.instant].entries,
                                   [&excluded](const Entry& entry) { return excluded(*entry.who); });
  });
}

void Agenda::clear()
{
  for (const Place& place : heap_) {
    instants_[place.instant].entries.clear();
    idle_.push_back(place.instant);
  }
  heap_.clear();
  last_ = NONE;
  for (Settling* one : settling_)
    one->cleared();
  if (source_)
    source_->cleared();
}

/** Processes the entries of this instant. Returns false if there were none. */
bool Agenda::run_entries()
{
  bool any = false;
  while (not heap_.empty() && (heap_.front().time <= now_ || same(now_, heap_.front().time))) {
    const std::size_t instant = heap_.front().instant;
    std::ranges::pop_heap(heap_, Place::later);
    heap_.pop_back();
    run(instant);
    any = true;
  }
  return any;
}

void Agenda::run_until(Seconds time)
{
  while (next() <= time) {
    now_      = next().value();
    bool seen = false; // true if a receiver had an entry: events of the source alone need no settling
    do {
      seen |= run_entries();
      if (source_ && (source_->next() <= now_ || same(now_, source_->next())))
        seen |= source_->run(now_);
    } while (next().value() <= now_ || same(now_, next().value()));
    if (seen)
      for (Settling* one : settling_)
        one->settle();
  }
  now_ = std::max(now_, time.value());
}

} // namespace weft
