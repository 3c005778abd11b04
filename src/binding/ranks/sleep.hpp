// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeping ranks that SimGrid's kernel wakes. A semaphore does the same at several times the cost, and a collective
 * needs one per rank and call. */
#pragma once

#include <simgrid/forward.h>

#include <cstddef>
#include <vector>

namespace weft {

/** Sleeping rank, with the memory to prefetch before it resumes. */
struct Sleeper {
  simgrid::kernel::actor::ActorImpl* rank = nullptr;
  const std::byte* context                = nullptr; ///< SimGrid's context of the rank
  const std::byte* stack                  = nullptr; ///< start of the part of its stack that it will touch first
};

/** Call in which a rank sleeps, which determines how far its stack has grown beyond the program's own frames. */
enum class SleepsIn { collective, wait };

class Sleep {
  Sleeper sleeper_;
  bool over_ = false;

public:
  /** Blocks the calling rank until wake(); returns immediately if that has already been called. Call it once. */
  void sleep(SleepsIn where);
  /** Wakes the rank. Called once, from the kernel. */
  void wake();
  bool over() const { return over_; }
};

/** Queue of ranks; each open() releases one. Same times and FIFO order as a SimGrid semaphore, but without
 * allocation. */
class Gate {
  struct Waiting {
    Sleeper sleeper;
    bool in_simcall;
  };
  std::vector<Waiting> waiting_; // in order of arrival
  std::size_t passed_ = 0;       // number of them that have passed
  int open_           = 0;       // permits for ranks that have not arrived

  void wait_in_simcall(const Sleeper& self);

public:
  /** Waits for the calling rank's turn. */
  void pass();
  /** Releases one rank. Called from a rank or SimGrid's kernel. */
  void open();
};

} // namespace weft
