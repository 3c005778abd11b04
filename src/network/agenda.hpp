// SPDX-License-Identifier: LGPL-2.1-only
/* What happens when, of a simulation of weft's own: many things happen at the same instant, so they are kept by
 * instants, and those who wait for all of an instant to have happened are told. */
#pragma once

#include "base/units.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft {

/** Who is told that something is due. */
class Due {
public:
  Due()                                = default;
  Due(const Due&)                      = delete;
  Due& operator=(const Due&)           = delete;
  virtual ~Due()                       = default;
  virtual void due(std::uint64_t what) = 0;
};

/** Who is told that all of an instant has happened. */
class Settling {
public:
  Settling()                           = default;
  Settling(const Settling&)            = delete;
  Settling& operator=(const Settling&) = delete;
  virtual ~Settling()                  = default;
  /** It may add to the same instant, and is told again after that. */
  virtual void settle() = 0;
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
  struct Place { // in the heap: the earliest instant is on top
    double time;
    std::uint64_t number; // of equal times the first comes first
    std::size_t instant;
    static bool later(const Place& one, const Place& other)
    {
      return one.time != other.time ? one.time > other.time : one.number > other.number;
    }
  };
  static constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

  std::vector<Instant> instants_;
  std::vector<std::size_t> idle_; // of those
  std::vector<Place> heap_;
  std::vector<Settling*> settling_;
  std::uint64_t opened_ = 0;    // instants
  std::size_t last_     = NONE; // that has been added to
  double now_           = 0;

  std::size_t open(double time);
  void run(std::size_t instant);

public:
  /** Whether two times are one instant: what should be equal differs by rounding. A ten-thousandth of it is a
   *  double's rounding; a nanosecond, to which SimGrid's own clock is exact, is that much of a quarter of an hour. */
  static bool same(double one, double other)
  {
    constexpr double ROUNDING = 1e-12;
    return one == other || std::abs(one - other) <= ROUNDING * std::abs(one);
  }
  Seconds now() const { return Seconds(now_); }
  /** The next instant at which something is due; infinity where nothing is. */
  Seconds next() const { return Seconds(heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().time); }
  /** @p who is to be told at @p time, or now where that has passed. It must outlive that, or the agenda. */
  void add(Seconds time, Due& who, std::uint64_t what);
  /** The same from now on, at the end of every instant. */
  void tell(Settling& who) { settling_.push_back(&who); }
  /** Nothing is due any more. Not while something happens. */
  void clear();
  /** Everything up to @p time happens; now() is @p time then. */
  void run_until(Seconds time);
};

} // namespace weft
