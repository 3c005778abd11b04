// SPDX-License-Identifier: LGPL-2.1-only
/* Actions of the network model, and its system of equations. */
#pragma once

#include <simgrid/forward.h>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Link.hpp>

#include <functional>

namespace simgrid::kernel::lmm {

/** System of equations of a model, declared in src/kernel/lmm/System.hpp. */
class System {
public:
  /** Adds @p weight times the value of @p variable to its load on @p link; @p anew: as a separate
   * term. Interposed in binding/tuning/flow_coalescing.cpp, as are Model's extract_done_action and
   * extract_failed_action. */
  void expand(Constraint* link, Variable* variable, double weight, bool anew);
};

} // namespace simgrid::kernel::lmm

namespace simgrid::kernel::resource {

/** Returns the action that the network model is creating, while it asks for its latency factors:
 * SimGrid's models create an action before that and append it to the started ones
 * (src/kernel/resource/models/network_cm02.cpp, Action.cpp). At other times, returns the most
 * recently started action; null if none is in progress. A NetworkModel is a Model, and a
 * NetworkAction an Action, at the same address (NetworkModel.hpp). */
inline Action* latest_action(NetworkModel& model)
{
  Action::StateSet& started = *reinterpret_cast<Model&>(model).get_started_action_set();
  return started.empty() ? nullptr : &started.back();
}

/** Calls @p told for each network action that ends, successfully or not. */
inline void on_end_of_action(const std::function<void(const void* action)>& told)
{
  s4u::Link::on_communication_state_change_cb([told](NetworkAction& network_action, Action::State) {
    const auto& action = reinterpret_cast<const Action&>(network_action);
    if (action.get_state() == Action::State::FINISHED || action.get_state() == Action::State::FAILED)
      told(&action);
  });
}

} // namespace simgrid::kernel::resource
