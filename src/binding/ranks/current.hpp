// SPDX-License-Identifier: LGPL-2.1-only
/* Current context and its turn, which current.cpp stores instead of SimGrid. */
#pragma once

#include <simgrid/forward.h>

#include <cstdint>

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SimGrid's, and read at each call of rand()
/** Current context; null on the program's own threads, in the kernel's role (KernelScope), and before SimGrid has an
 * engine. */
extern constinit thread_local simgrid::kernel::context::Context* running_context
    __attribute__((tls_model("initial-exec")));
/** Number of the current thread's own actor, if it is a simulated thread of a rank other than the main thread
 * (simulated_thread.hpp); otherwise 0. */
extern constinit thread_local aid_t thread_actor __attribute__((tls_model("initial-exec")));
/** Generation of running_context, incremented on each change: per-rank look-ups may be cached within a generation. */
extern constinit std::uint64_t turn;
using TurnCallback = void (*)();
/** Callback for each change of running_context; null if unused. Set by call_on_turn_change(). */
extern constinit TurnCallback on_turn_change;
extern constinit std::uint64_t turn_of_actor; ///< generation of the last current_actor() look-up
extern constinit aid_t asked_actor;
extern constinit std::uint64_t turn_of_time; ///< generation of the last time_of_rank() look-up
extern constinit double asked_time;
using ContextFinder = simgrid::kernel::context::Context* (*)();
/** Finds the context of a thread without one, if threads of the program may act as ranks (program_threads.cpp). */
extern constinit ContextFinder find_context_of_thread;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** Registers @p callback to be called at each change of running_context, in addition to earlier callbacks. */
void call_on_turn_change(TurnCallback callback);

/** Asks SimGrid for the current actor. */
aid_t ask_current_actor();

/** Returns the current actor's id, like this_actor::get_pid(), but asks SimGrid only once per turn. */
inline aid_t current_actor()
{
  return turn == turn_of_actor ? asked_actor : ask_current_actor();
}

/** Returns the number of the running actor: the current rank's, or that of one of its simulated threads. */
inline aid_t calling_actor()
{
  return thread_actor != 0 ? thread_actor : current_actor();
}

/** Asks SimGrid for the simulated time. */
double ask_time_of_rank();

/** Returns the simulated time, which does not change during a rank's turn. Not for the kernel. */
inline double time_of_rank()
{
  return turn == turn_of_time ? asked_time : ask_time_of_rank();
}

} // namespace weft
