// SPDX-License-Identifier: LGPL-2.1-only
/* Actors, and the engine that schedules them. */
#pragma once

#include <simgrid/forward.h>

namespace simgrid::kernel::actor {

/** Declared in src/kernel/actor/ActorImpl.hpp. */
class ActorImpl {
public:
  void simcall_answer(); ///< resumes after the current simcall; simcall.hpp says when
  /** Called by the actor itself: others run until it is in the run list again. Interposed in
   * binding/process/switched_state.cpp. */
  void yield();
  void cleanup_from_kernel(); ///< called after the actor's end; interposed in binding/ranks/actors_by_number.cpp
  void suspend();             ///< until it is resumed; suspends its activities too
};

} // namespace simgrid::kernel::actor

namespace simgrid::kernel {

/** Declared in src/kernel/EngineImpl.hpp. */
class EngineImpl {
  static EngineImpl* instance_; // NOLINT(readability-identifier-naming): SimGrid's name

public:
  static EngineImpl& get() { return *instance_; }
  /** Schedules an actor that has yielded, and is not in the list yet, for the next round. */
  void add_actor_to_run_list_no_check(actor::ActorImpl* actor);
  /** Null if it has ended; interposed in binding/ranks/actors_by_number.cpp. */
  actor::ActorImpl* get_actor_by_pid(aid_t pid);
};

} // namespace simgrid::kernel
