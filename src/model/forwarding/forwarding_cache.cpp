// SPDX-License-Identifier: LGPL-2.1-only
#include "model/forwarding/forwarding_cache.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {
namespace {

constexpr std::int32_t NO_PORT = -1;

} // namespace

ForwardingCache::ForwardingCache(const CacheShape& shape) : shape_(shape)
{
  if (shape.ways < 1 || shape.entries < shape.ways || shape.entries % shape.ways != 0)
    throw std::logic_error("the ways of a cache divide its entries");
  sets_ = static_cast<ForwardingTag>(shape.entries / shape.ways);
}

std::optional<int> ForwardingCache::lookup(ForwardingTag tag)
{
  const std::size_t first = first_of(tag);
  if (first == entries_.size())
    return std::nullopt;
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end   = begin + shape_.ways;
  const auto found = std::find_if(begin, end, [tag](Entry entry) { return entry.port != NO_PORT && entry.tag == tag; });
  if (found == end)
    return std::nullopt;
  const int port = found->port;
  if (shape_.replacement == Replacement::lru && found != begin)
    std::rotate(begin, found, found + 1);
  return port;
}

void ForwardingCache::fill(ForwardingTag tag, int port)
{
  const auto ways         = static_cast<std::size_t>(shape_.ways);
  const ForwardingTag set = tag % sets_;
  if (set >= places_.size())
    places_.resize(set + 1, NOWHERE);
  if (places_[set] == NOWHERE) {
    places_[set] = static_cast<std::uint32_t>(entries_.size() / ways);
    entries_.resize(entries_.size() + ways, {0, NO_PORT});
  }
  const auto begin  = entries_.begin() + static_cast<std::ptrdiff_t>(first_of(tag));
  const bool full   = (begin + shape_.ways - 1)->port != NO_PORT;
  const auto victim = full && shape_.replacement == Replacement::random ? static_cast<std::ptrdiff_t>(random_() % ways)
                                                                        : static_cast<std::ptrdiff_t>(ways - 1);
  std::rotate(begin, begin + victim, begin + victim + 1);
  *begin = {tag, port};
}

CacheCounters& CacheCounters::operator+=(const CacheCounters& other)
{
  hits += other.hits;
  initial += other.initial;
  capacity += other.capacity;
  conflict += other.conflict;
  return *this;
}

bool MissClassifier::shadow_hits(ForwardingTag tag)
{
  const auto found = places_.find(tag);
  const bool hit   = found != places_.end();
  if (hit)
    recent_.erase(found->second);
  recent_.push_front(tag);
  places_[tag] = recent_.begin();
  if (recent_.size() > entries_) {
    places_.erase(recent_.back());
    recent_.pop_back();
  }
  return hit;
}

void MissClassifier::count(ForwardingTag tag, bool hit, CacheCounters& into)
{
  const bool known = shadow_hits(tag);
  if (seen_.insert(tag).second)
    ++into.initial;
  else if (hit)
    ++into.hits;
  else
    ++(known ? into.conflict : into.capacity);
}

void MissClassifier::flush()
{
  recent_.clear();
  places_.clear();
  seen_.clear();
}

} // namespace weft
