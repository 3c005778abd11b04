// SPDX-License-Identifier: LGPL-2.1-only
/* Per-rank instances of library state that a real process has once. They are created on first use, so ranks that never
 * use it pay nothing. */
#pragma once

#include "binding/process/process.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"

#include <cstdint>
#include <memory>
#include <simgrid/s4u/Actor.hpp>

namespace weft {

/** One State per rank. Never destroyed, since ranks' code may still run while the process ends. */
template <class State> class OwnState {
  ActorMap<std::unique_ptr<State>> states_;
  /** Context and turn for which here_ was looked up. Ranks that are threads have no turns. */
  simgrid::kernel::context::Context* found_for_ = nullptr;
  std::uint64_t turn_                           = 0;
  State* here_                                  = nullptr;

  // Out of line: needed once per turn, while callers such as rand() are frequent.
  [[gnu::noinline]] State* find()
  {
    here_ = nullptr;
    if (rank_here()) {
      std::unique_ptr<State>& own = states_[simgrid::s4u::this_actor::get_pid()];
      if (not own)
        own = std::make_unique<State>();
      here_ = own.get();
    }
    found_for_ = running_context;
    turn_      = turn;
    return here_;
  }

public:
  static OwnState& get()
  {
    static auto* const STATES = new OwnState;
    return *STATES;
  }

  /** Returns the current rank's State, created if absent; null if no rank runs (in SimGrid, and on threads of the
   * program). */
  State* here()
  {
    if (not running_context)
      return nullptr;
    return turn_ == turn && found_for_ == running_context ? here_ : find();
  }

  /** Returns the current rank's State; null if absent. */
  State* find_made()
  {
    if (not running_context || not simgrid::s4u::Actor::self())
      return nullptr;
    std::unique_ptr<State>* const own = states_.find(simgrid::s4u::this_actor::get_pid());
    return own ? own->get() : nullptr;
  }
};

} // namespace weft
