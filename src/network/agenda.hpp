// SPDX-License-Identifier: LGPL-2.1-only
/* Event queue of weft's simulations. Many events happen at the same instant, so entries are
 * grouped by instant, and listeners are notified when an instant is complete. */
#pragma once

#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace weft {

/** Receiver of agenda entries that are due. */
class Due {
public:
  Due()                                = default;
  Due(const Due&)                      = delete;
  Due& operator=(const Due&)           = delete;
  virtual ~Due()                       = default;
  virtual void due(std::uint64_t what) = 0;
};

/** Listener that is called when all events of an instant have happened. */
class Settling {
public:
  Settling()                           = default;
  Settling(const Settling&)            = delete;
  Settling& operator=(const Settling&) = delete;
  virtual ~Settling()                  = default;
  /** Called at the end of an instant. May add events to the same instant; it is then called again after those
   * events. */
  virtual void settle() = 0;
  /** Called when all entries have been removed without being processed. */
  virtual void cleared() {}
};

/** Simulation with an event queue of its own, since its events are too many for the agenda. */
class EventSource {
public:
  EventSource()                              = default;
  EventSource(const EventSource&)            = delete;
  EventSource& operator=(const EventSource&) = delete;
  virtual ~EventSource()                     = default;
  /** Returns the time of the source's next event in seconds; infinity if there is none. */
  virtual double next() const = 0;
  /** Processes all events up to @p now, within rounding. Returns whether anything has happened outside the source, such
   * as an arrival. */
  virtual bool run(double now) = 0;
  /** Called when all entries have been removed without being processed. The source must not offer its events until new
   * work begins. */
  virtual void cleared() = 0;
};

class Agenda {
  struct Entry {
    Due* who;
    std::uint64_t what;
  };
  struct Instant {
    double time;
    std::vector<Entry> entries;
  };
  struct Place { // heap entry: the earliest instant is on top
    double time;
    std::uint64_t number; // breaks ties in FIFO order
    std::size_t instant;
    static bool later(const Place& one, const Place& other)
    {
      return one.time != other.time ? one.time > other.time : one.number > other.number;
    }
  };
  static constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

  std::vector<Instant> instants_;
  std::vector<std::size_t> idle_; // free positions in instants_
  std::vector<Place> heap_;
  std::vector<Settling*> settling_;
  EventSource* source_  = nullptr;
  std::uint64_t opened_ = 0;    // number of instants opened so far
  std::size_t last_     = NONE; // the instant to which an entry was added last
  double now_           = 0;

  std::size_t open(double time);
  void run(std::size_t instant);
  bool run_entries();

public:
  /** Returns whether two times are the same instant, since times that should be equal differ by rounding. The tolerance
   * is ten thousand times the rounding of a double; at a quarter of an hour, it equals SimGrid's precision of a
   * nanosecond. */
  static bool same(double one, double other)
  {
    constexpr double ROUNDING = 1e-12;
    return one == other || std::abs(one - other) <= ROUNDING * std::abs(one);
  }
  Seconds now() const { return Seconds(now_); }
  /** Returns the next instant at which an entry or source event is due; infinity if there is none. */
  Seconds next() const
  {
    const double entry = heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().time;
    return Seconds(source_ ? std::min(entry, source_->next()) : entry);
  }
  /** Schedules a call of @p who at @p time, or now if that has passed. @p who must live until the call or until the
   * agenda is destroyed. */
  void add(Seconds time, Due& who, std::uint64_t what);
  /** Registers @p who to be called at the end of every future instant. */
  void tell(Settling& who) { settling_.push_back(&who); }
  /** Makes the agenda process the events of @p source too. An agenda has at most one source. */
  void include(EventSource& source) { source_ = &source; }
  /** Returns whether an entry is due for a receiver that @p excluded rejects. */
  bool any_but(const std::function<bool(const Due&)>& excluded) const;
  /** Removes all entries. Must not be called while entries are processed. */
  void clear();
  /** Processes all entries up to @p time and advances now() to it. */
  void run_until(Seconds time);
};

} // namespace weft
