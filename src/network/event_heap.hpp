// SPDX-License-Identifier: LGPL-2.1-only
/* Binary heap of items by time that supports changing an item's time and removing an item: each
 * item knows its position. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

class EventHeap {
public:
  using Item = std::uint32_t; ///< small integers: memory grows with the largest one in use

private:
  static constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    double time;
    Item item;
  };
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> places_; // position by item

  void put(std::size_t place, Entry entry)
  {
    heap_[place]        = entry;
    places_[entry.item] = static_cast<std::uint32_t>(place);
  }
  void rise(std::size_t place, Entry entry)
  {
    while (place > 0 && heap_[(place - 1) / 2].time > entry.time) {
      put(place, heap_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    put(place, entry);
  }
  void sink(std::size_t place, Entry entry)
  {
    for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].time < heap_[child].time)
        ++child;
      if (heap_[child].time >= entry.time)
        break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }
  void move(std::size_t place, Entry entry)
  {
    if (place > 0 && heap_[(place - 1) / 2].time > entry.time)
      rise(place, entry);
    else
      sink(place, entry);
  }

public:
  bool empty() const { return heap_.empty(); }
  /** Returns the earliest time; infinity if the heap is empty. */
  double next() const { return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().time; }
  /** Returns the item with the earliest time. */
  Item top() const { return heap_.front().item; }

  /** Adds an item, or changes its time. */
  void set(Item item, double time)
  {
    if (item >= places_.size())
      places_.resize(std::size_t{item} + 1, NOWHERE);
    if (places_[item] != NOWHERE) {
      move(places_[item], {time, item});
      return;
    }
    heap_.push_back({time, item});
    rise(heap_.size() - 1, {time, item});
  }
  /** Removes an item, if it is present. */
  void remove(Item item)
  {
    if (item >= places_.size() || places_[item] == NOWHERE)
      return;
    const std::size_t place = std::exchange(places_[item], NOWHERE);
    const Entry last        = heap_.back();
    heap_.pop_back();
    if (last.item != item)
      move(place, last);
  }
};

} // namespace weft
