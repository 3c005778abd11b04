// SPDX-License-Identifier: LGPL-2.1-only
/* Threads of a rank that call MPI at the same time (MPI_THREAD_MULTIPLE).
 *
 * Each is a thread of the system, with its own stack and thread-local storage, and an actor of SimGrid on the rank's
 * host, with the rank's number, properties and SMPI extension: to SMPI it is the rank. It takes turns with SimGrid's
 * thread: during the actor's turn, SimGrid's thread waits and the simulated thread runs; it returns the turn when it
 * blocks in MPI, in a sleep or in a lock (futexes.hpp). So one thread of the simulation runs at a time, in an order
 * determined by simulated time alone, and a thread that blocks does not block the other threads of its rank. */
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <simgrid/forward.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context
namespace simgrid::smpi {
class ActorExt;
} // namespace simgrid::smpi

namespace weft {

class Sleep;

class SimulatedThread {
  enum class Turn : std::uint32_t { simgrid, thread };
  enum class Request : std::uint8_t { yield, end, leave };

  std::atomic<Turn> turn_{Turn::simgrid};
  Request request_ = Request::yield; ///< reason why the thread has returned its turn
  std::exception_ptr failure_;       ///< thrown where the thread yields
  std::function<void()> leave_;
  simgrid::kernel::actor::ActorImpl* actor_   = nullptr;
  simgrid::kernel::context::Context* context_ = nullptr;
  simgrid::smpi::ActorExt* extension_         = nullptr; ///< SMPI's own extension of the actor, which is unused
  aid_t rank_                                 = 0;       ///< number of the rank's actor
  aid_t number_                               = 0;       ///< of the thread's own actor
  pid_t system_thread_                        = 0;
  bool exits_                                 = true; ///< true if the system's thread ends with this one
  bool ended_                                 = false;
  std::vector<Sleep*> joiners_;

  void return_turn(Request request);
  void await_turn();
  void run_actor();
  void lend_turn();
  void yield_actor();
  void become_rank();
  void end_actor();

public:
  /** Thread of the current rank. @p exits: the system's thread ends with it. */
  explicit SimulatedThread(bool exits);
  SimulatedThread(const SimulatedThread&)            = delete;
  SimulatedThread& operator=(const SimulatedThread&) = delete;
  ~SimulatedThread()                                 = default;

  /** Returns the current simulated thread; null on a rank's main thread, and on threads outside the simulation. */
  static SimulatedThread* here();

  /** Creates the actor, which runs once the creating rank has blocked. */
  void start();
  /** Binds the current thread of the system to this object, and waits for its first turn. */
  void begin();
  /** Ends the current thread as part of the simulation. */
  void finish();
  /** Lets others run until the thread's actor resumes. */
  void yield();
  /** Runs @p leave, which ends the rank and does not return, on SimGrid's thread. */
  [[noreturn]] void leave(std::function<void()> leave);

  aid_t rank() const { return rank_; }
  bool ended() const { return ended_; }
  /** Blocks the caller until the thread has ended, or until simulated time @p deadline, unless that is negative. */
  bool join(double deadline);
};

/** Returns whether an actor is being created for a thread rather than a rank. */
bool is_creating_thread();

/** Returns the actors of the simulated threads of a rank, in the order of their creation. */
const std::vector<aid_t>& threads_of_rank(aid_t rank);

/** Records that a rank has ended. Its threads stay where they are; their actors end when they would resume. */
void end_threads_of_rank(aid_t rank);

} // namespace weft
