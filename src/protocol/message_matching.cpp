// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/message_matching.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t FEWEST_BUCKETS = 64;

std::uint64_t high_name(std::uint32_t endpoint, int source)
{
  return (std::uint64_t{endpoint} << 32U) | static_cast<std::uint32_t>(source);
}

/** Finalizer of MurmurHash3 (A. Appleby): every input bit affects every output bit. */
std::uint64_t mixed(std::uint64_t value)
{
  value = (value ^ (value >> 33U)) * 0xff51afd7ed558ccdU;
  value = (value ^ (value >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return value ^ (value >> 33U);
}

} // namespace

MessageMatching::MessageMatching() : buckets_(FEWEST_BUCKETS, NONE) {}

std::uint8_t MessageMatching::wild(int source, int tag)
{
  return static_cast<std::uint8_t>((tag == ANY_TAG ? TAG : NOTHING) | (source == ANY_SOURCE ? SOURCE : NOTHING));
}

/** Returns the name of the wildcard queue @p wild that contains messages of this name. */
MessageMatching::Name MessageMatching::widened(const Name& name, std::uint8_t wild)
{
  return {name.receives, name.endpoint, (wild & SOURCE) != 0 ? ANY_SOURCE : name.source,
          (wild & TAG) != 0 ? ANY_TAG : name.tag};
}

std::size_t MessageMatching::bucket(const Name& name) const
{
  const std::uint64_t tag = (std::uint64_t{static_cast<std::uint32_t>(name.tag)} << 1U) | (name.receives ? 1U : 0U);
  constexpr std::uint64_t GOLDEN = 0x9e3779b97f4a7c15U; // 2^64 divided by the golden ratio
  return mixed(high_name(name.endpoint, name.source) * GOLDEN + tag) & (buckets_.size() - 1);
}

/** Returns the queue with this name; NONE if there is none, since empty queues are removed. */
std::uint32_t MessageMatching::find(const Name& name) const
{
  const std::uint64_t high = high_name(name.endpoint, name.source);
  for (std::uint32_t queue = buckets_[bucket(name)]; queue != NONE; queue = queues_[queue].next) {
    const Queue& its = queues_[queue];
    if (its.name_high == high && its.tag == name.tag && its.receives == name.receives)
      return queue;
  }
  return NONE;
}

std::uint32_t MessageMatching::open(const Name& name)
{
  if (const std::uint32_t there = find(name); there != NONE)
    return there;
  if (used_queues_ == buckets_.size())
    rehash();
  if (idle_queues_.empty()) {
    idle_queues_.push_back(static_cast<std::uint32_t>(queues_.size()));
    queues_.emplace_back();
  }
  const std::uint32_t queue = idle_queues_.back();
  idle_queues_.pop_back();
  std::uint32_t& front = buckets_[bucket(name)];
  queues_[queue]       = {high_name(name.endpoint, name.source), name.tag, front, NONE, NONE, name.receives};
  front                = queue;
  ++used_queues_;
  return queue;
}

void MessageMatching::close(std::uint32_t queue)
{
  const Queue& its         = queues_[queue];
  const auto endpoint      = static_cast<Endpoint>(its.name_high >> 32U);
  const auto source        = static_cast<int>(static_cast<std::uint32_t>(its.name_high));
  std::uint32_t* to_change = &buckets_[bucket({its.receives, endpoint, source, its.tag})];
  while (*to_change != queue)
    to_change = &queues_[*to_change].next;
  *to_change = its.next;
  idle_queues_.push_back(queue);
  --used_queues_;
}

void MessageMatching::rehash()
{
  std::vector<std::uint32_t> before(2 * buckets_.size(), NONE);
  before.swap(buckets_);
  for (std::uint32_t front : before)
    while (front != NONE) {
      Queue& its               = queues_[front];
      const std::uint32_t next = its.next;
      const auto endpoint      = static_cast<Endpoint>(its.name_high >> 32U);
      const auto source        = static_cast<int>(static_cast<std::uint32_t>(its.name_high));
      std::uint32_t& into      = buckets_[bucket({its.receives, endpoint, source, its.tag})];
      its.next                 = into;
      into                     = front;
      front                    = next;
    }
}

std::uint32_t MessageMatching::new_item(Endpoint endpoint, std::uint64_t what, int source, int tag)
{
  if (idle_items_.empty()) {
    idle_items_.push_back(static_cast<std::uint32_t>(items_.size()));
    items_.emplace_back();
  }
  const std::uint32_t item = idle_items_.back();
  idle_items_.pop_back();
  items_[item]          = {};
  items_[item].what     = what;
  items_[item].source   = source;
  items_[item].tag      = tag;
  items_[item].endpoint = endpoint;
  return item;
}

/** Appends an item to a queue. */
void MessageMatching::enqueue(std::uint32_t item, std::size_t kind, const Name& name)
{
  const std::uint32_t queue = open(name);
  Queue& its                = queues_[queue];
  if (kind != NOTHING && wild_links_.size() <= item)
    wild_links_.resize(items_.size());
  link(item, kind) = {its.last, NONE, queue};
  if (its.last == NONE)
    its.first = item;
  else
    link(its.last, kind).after = item;
  its.last = item;
}

void MessageMatching::dequeue(std::uint32_t item, std::size_t kind)
{
  const Link old = std::exchange(link(item, kind), {});
  if (old.queue == NONE)
    return;
  Queue& its                                                      = queues_[old.queue];
  (old.before == NONE ? its.first : link(old.before, kind).after) = old.after;
  (old.after == NONE ? its.last : link(old.after, kind).before)   = old.before;
  if (its.first == NONE)
    close(old.queue);
}

/** Adds an endpoint's unexpected messages to its wildcard queues, which all later messages will join too. */
void MessageMatching::index_wildcards(Endpoint endpoint)
{
  EndpointState& its = state(endpoint);
  if (its.wildcards_indexed)
    return;
  its.wildcards_indexed = true;
  for (std::uint32_t item = its.first; item != NONE; item = items_[item].all.after)
    for (std::uint8_t kind = 1; kind < KINDS; ++kind)
      if (matches(kind, items_[item].tag))
        enqueue(item, kind, widened({false, endpoint, items_[item].source, items_[item].tag}, kind));
}

std::uint32_t MessageMatching::first_message(Endpoint endpoint, int source, int tag)
{
  if (state(endpoint).messages == 0)
    return NONE;
  if (wild(source, tag) != NOTHING)
    index_wildcards(endpoint);
  const std::uint32_t queue = find({false, endpoint, source, tag});
  return queue == NONE ? NONE : queues_[queue].first;
}

void MessageMatching::remove_message(std::uint32_t item)
{
  EndpointState& its       = state(items_[item].endpoint);
  const std::uint8_t kinds = its.wildcards_indexed ? KINDS : std::uint8_t{1};
  for (std::uint8_t kind = 0; kind < kinds; ++kind)
    dequeue(item, kind);
  const Neighbours old                                            = items_[item].all;
  (old.before == NONE ? its.first : items_[old.before].all.after) = old.after;
  (old.after == NONE ? its.last : items_[old.after].all.before)   = old.before;
  --its.messages;
  idle_items_.push_back(item);
}

MessageMatching::Posted MessageMatching::post(Endpoint endpoint, std::uint64_t receive, int source, int tag)
{
  if (const std::optional<Found> message = extract(endpoint, source, tag))
    return {NONE, message};
  const std::uint32_t item = new_item(endpoint, receive, source, tag);
  items_[item].number      = posted_++;
  enqueue(item, 0, {true, endpoint, source, tag});
  EndpointState& its = state(endpoint);
  ++its.receives;
  its.wild += wild(source, tag) != NOTHING ? 1 : 0;
  return {item, std::nullopt};
}

void MessageMatching::cancel(Place receive)
{
  const Item& item   = items_[receive];
  EndpointState& its = state(item.endpoint);
  --its.receives;
  its.wild -= wild(item.source, item.tag) != NOTHING ? 1 : 0;
  dequeue(receive, 0);
  idle_items_.push_back(receive);
}

std::optional<std::uint64_t> MessageMatching::arrive(Endpoint endpoint, std::uint64_t message, int source, int tag)
{
  EndpointState& its       = state(endpoint);
  std::uint32_t earliest   = NONE;
  const std::uint8_t kinds = its.wild > 0 ? KINDS : std::uint8_t{its.receives > 0};
  for (std::uint8_t kind = 0; kind < kinds; ++kind) {
    if (not matches(kind, tag))
      continue;
    const std::uint32_t queue = find(widened({true, endpoint, source, tag}, kind));
    if (queue != NONE && (earliest == NONE || items_[queues_[queue].first].number < items_[earliest].number))
      earliest = queues_[queue].first;
  }
  if (earliest != NONE) {
    cancel(earliest);
    return items_[earliest].what;
  }
  const std::uint32_t item                                    = new_item(endpoint, message, source, tag);
  items_[item].all                                            = {its.last, NONE};
  (its.last == NONE ? its.first : items_[its.last].all.after) = item;
  its.last                                                    = item;
  ++its.messages;
  const std::uint8_t indexed = its.wildcards_indexed ? KINDS : std::uint8_t{1};
  for (std::uint8_t kind = 0; kind < indexed; ++kind)
    if (matches(kind, tag))
      enqueue(item, kind, widened({false, endpoint, source, tag}, kind));
  return std::nullopt;
}

std::optional<MessageMatching::Found> MessageMatching::probe(Endpoint endpoint, int source, int tag)
{
  const std::uint32_t item = first_message(endpoint, source, tag);
  return item == NONE ? std::nullopt : std::optional(found(item));
}

std::optional<MessageMatching::Found> MessageMatching::extract(Endpoint endpoint, int source, int tag)
{
  const std::uint32_t item = first_message(endpoint, source, tag);
  if (item == NONE)
    return std::nullopt;
  const Found message = found(item);
  remove_message(item);
  return message;
}

void MessageMatching::collect(Endpoint endpoint, std::uint64_t message, int source, int tag)
{
  ++state(endpoint).collected;
  collected_.push_back({endpoint, source, tag, message});
}

const std::vector<MessageMatching::Match>& MessageMatching::end_instant()
{
  matches_.clear();
  std::ranges::stable_sort(collected_, {}, &Collected::source);
  for (const Collected& one : collected_) {
    --state(one.endpoint).collected;
    if (const std::optional<std::uint64_t> receive = arrive(one.endpoint, one.message, one.source, one.tag))
      matches_.push_back({one.message, *receive, one.source, one.tag});
  }
  collected_.clear();
  return matches_;
}

bool MessageMatching::withdraw(Endpoint endpoint, std::uint64_t message, int source, int tag)
{
  if (state(endpoint).collected > 0) {
    const auto found = std::ranges::find(collected_, message, &Collected::message);
    if (found != collected_.end()) {
      --state(endpoint).collected;
      collected_.erase(found);
      return true;
    }
  }
  std::uint32_t item = first_message(endpoint, source, tag);
  while (item != NONE && items_[item].what != message)
    item = items_[item].exact.after;
  if (item == NONE)
    return false;
  remove_message(item);
  return true;
}

std::size_t MessageMatching::waiting_receives(Endpoint endpoint) const
{
  return endpoint < endpoints_.size() ? endpoints_[endpoint].receives : 0;
}

std::size_t MessageMatching::unexpected_messages(Endpoint endpoint) const
{
  return endpoint < endpoints_.size() ? endpoints_[endpoint].messages + endpoints_[endpoint].collected : 0;
}

} // namespace weft
