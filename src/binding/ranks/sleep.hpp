// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks that sleep until SimGrid's kernel wakes them: what a semaphore does at several times the cost, of which a
 * collective needs one a rank and call. */
#pragma once

#include <simgrid/forward.h>

#include <cstddef>
#include <vector>

namespace weft {

/** A rank that sleeps, and where what it goes on with is. */
struct Sleeper {
  simgrid::kernel::actor::ActorImpl* rank = nullptr;
  const std::byte* context                = nullptr; ///< SimGrid's, of its stack
  const std::byte* stack                  = nullptr; ///< of its stack, what it will touch first
};

/** What a rank sleeps in: how far from its program's own part of its stack. */
enum class SleepsIn { collective, wait };

class Sleep {
  Sleeper sleeper_;
  bool over_ = false;

public:
  /** From the rank, once: until wake(); not at all where that has been called. */
  void sleep(SleepsIn where);
  /** From the kernel, once. */
  void wake();
  bool over() const { return over_; }
};

/** Ranks that wait for one thing after another, of which each lets one rank on: a semaphore without its allocations.
 * Times are those of a semaphore, and so is the order in which ranks go on: that in which they have come. */
class Gate {
  struct Waiting {
    Sleeper sleeper;
    bool in_simcall;
  };
  std::vector<Waiting> waiting_; // in the order in which they have come
  std::size_t passed_ = 0;       // of those
  int open_           = 0;       // for so many who have not come

  void wait_in_simcall(const Sleeper& self);

public:
  /** From a rank: until it is its turn. */
  void pass();
  /** Let one rank on. From a rank, an actor or SimGrid's kernel. */
  void open();
};

} // namespace weft
