// SPDX-License-Identifier: LGPL-2.1-only
/* Priority queue of a packet network's events. Simultaneous events happen in the order in which they were added.
 *
 * Most events are a constant delay after the one that causes them: the end of a full packet, or its arrival. Those of
 * one delay come in order of time, so that a queue for each delay, a lane, takes them in constant time. A 4-ary heap
 * has the rest. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft {

enum class PacketEvent : std::uint8_t {
  wake,    ///< a link may start to send
  arrival, ///< a packet reaches the end of a link
  start,   ///< the start-up time of a transfer has passed
  pause,   ///< a pause frame reaches the sender of a link
  resume,
  pace,    ///< a connection may send again
  control, ///< the congestion control of a connection is due
  notice,  ///< the interval is over after which a connection may notify its sender again
  timeout, ///< of a transfer
  tree,    ///< a call over a tree goes on
};

class PacketEvents {
public:
  struct Entry {
    double time;
    std::uint32_t order;
    std::uint32_t what; ///< index, with the kind in its highest bits

    PacketEvent kind() const { return static_cast<PacketEvent>(what >> INDEX_BITS); }
    std::uint32_t index() const { return what & (LIMIT - 1); }
  };
  using Lane                           = std::uint8_t;
  static constexpr Lane NO_LANE        = 16; ///< the heap
  static constexpr unsigned INDEX_BITS = 28;
  static constexpr std::uint32_t LIMIT = std::uint32_t{1} << INDEX_BITS; ///< number of indices

  /** Returns the lane of events after @p first and @p second seconds, added one after the other; NO_LANE if there are
   * too many different delays. */
  Lane lane(double first, double second)
  {
    for (std::size_t at = 0; at < lanes_; ++at)
      if (delays_[at] == std::array{first, second})
        return static_cast<Lane>(at);
    if (lanes_ == NO_LANE)
      return NO_LANE;
    delays_[lanes_] = {first, second};
    return static_cast<Lane>(lanes_++);
  }

  /** Returns the earliest time; infinity if there is no event. */
  double next() const { return heads_[first_].time; }

  void add(Lane lane, double time, PacketEvent kind, std::uint32_t index)
  {
    const Entry entry{time, added_++, static_cast<std::uint32_t>(kind) << INDEX_BITS | index};
    if (lane == NO_LANE || (queues_[lane].any() && queues_[lane].last().time > time)) {
      push(entry);
      lane = NO_LANE;
    } else {
      queues_[lane].push(entry);
      if (queues_[lane].size() > 1)
        return;
      heads_[lane] = entry;
    }
    if (earlier(heads_[lane], heads_[first_]))
      first_ = lane;
  }
  void add(double time, PacketEvent kind, std::uint32_t index) { add(NO_LANE, time, kind, index); }

  /** Removes and returns the earliest event. */
  Entry take()
  {
    const Entry taken = heads_[first_];
    taken_from_       = first_;
    if (first_ == NO_LANE)
      pop();
    else
      heads_[first_] = queues_[first_].pop();
    first_ = NO_LANE;
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      if (earlier(heads_[lane], heads_[first_]))
        first_ = static_cast<Lane>(lane);
    return taken;
  }

  /** Calls @p function with each event, in no order. */
  template <class Function> void for_each(Function&& function) const
  {
    for (const Queue& queue : queues_)
      for (std::size_t at = 0; at < queue.size(); ++at)
        function(queue.at(at));
    for (const Entry& entry : heap_)
      function(entry);
  }

  /** Returns the event that is @p ahead places behind the one taken last, if that came from a lane. */
  std::optional<Entry> peek(std::size_t ahead) const
  {
    if (taken_from_ == NO_LANE || queues_[taken_from_].size() < ahead)
      return std::nullopt;
    return queues_[taken_from_].at(ahead - 1);
  }

private:
  static constexpr std::size_t CHILDREN = 4;
  static constexpr Entry NOTHING{std::numeric_limits<double>::infinity(), 0, 0};

  /** Ring of entries. */
  class Queue {
    std::vector<Entry> ring_ = std::vector<Entry>(64);
    std::size_t begin_       = 0;
    std::size_t end_         = 0; // both count up, modulo the ring's size

  public:
    bool any() const { return begin_ != end_; }
    std::size_t size() const { return end_ - begin_; }
    const Entry& at(std::size_t place) const { return ring_[(begin_ + place) & (ring_.size() - 1)]; }
    const Entry& last() const { return at(size() - 1); }
    void push(const Entry& entry)
    {
      if (size() == ring_.size()) {
        std::vector<Entry> larger(2 * ring_.size());
        for (std::size_t place = 0; place < ring_.size(); ++place)
          larger[place] = at(place);
        end_   = ring_.size();
        begin_ = 0;
        ring_.swap(larger);
      }
      ring_[end_++ & (ring_.size() - 1)] = entry;
    }
    /** Removes the first entry. Returns the next one, or NOTHING. */
    Entry pop()
    {
      ++begin_;
      return any() ? at(0) : NOTHING;
    }
  };

  std::array<Entry, NO_LANE + 1> heads_ = filled(); // of lanes, then of the heap
  std::size_t lanes_                    = 0;
  Lane first_                           = NO_LANE; // the earliest of the heads
  Lane taken_from_                      = NO_LANE;
  std::uint32_t added_                  = 0;
  std::array<Queue, NO_LANE> queues_;
  std::array<std::array<double, 2>, NO_LANE> delays_{};
  std::vector<Entry> heap_;

  static constexpr std::array<Entry, NO_LANE + 1> filled()
  {
    std::array<Entry, NO_LANE + 1> all{};
    all.fill(NOTHING);
    return all;
  }

  /** Orders wrap around, which is right while fewer than 2^31 events lie between two simultaneous ones. */
  static bool earlier(const Entry& one, const Entry& other)
  {
    return one.time < other.time || (one.time == other.time && static_cast<std::int32_t>(one.order - other.order) < 0);
  }

  void push(const Entry& entry)
  {
    std::size_t place = heap_.size();
    heap_.push_back(entry);
    for (std::size_t parent = 0; place > 0; place = parent) {
      parent = (place - 1) / CHILDREN;
      if (not earlier(entry, heap_[parent]))
        break;
      heap_[place] = heap_[parent];
    }
    heap_[place]    = entry;
    heads_[NO_LANE] = heap_.front();
  }

  void pop()
  {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (const std::size_t size = heap_.size(); size > 0) {
      std::size_t place = 0;
      for (std::size_t child = 1; child < size; child = CHILDREN * place + 1) {
        const std::size_t end = child + CHILDREN < size ? child + CHILDREN : size;
        std::size_t least     = child;
        for (std::size_t one = child + 1; one < end; ++one)
          if (earlier(heap_[one], heap_[least]))
            least = one;
        if (not earlier(heap_[least], last))
          break;
        heap_[place] = heap_[least];
        place        = least;
      }
      heap_[place] = last;
    }
    heads_[NO_LANE] = heap_.empty() ? NOTHING : heap_.front();
  }
};

} // namespace weft
