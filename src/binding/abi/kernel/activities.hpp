// SPDX-License-Identifier: LGPL-2.1-only
/* Activities: flows, and the messages of message queues. */
#pragma once

#include <simgrid/forward.h>

#include <string_view>

namespace simgrid::kernel::activity {

/** Declared in src/kernel/activity/ActivityImpl.hpp. */
class ActivityImpl {
public:
  const char* get_state_str() const; ///< "DONE", "LINK_FAILURE", "SRC_HOST_FAILURE", …
};

/** Declared in src/kernel/activity/CommImpl.hpp: an ActivityImpl, at the same address. */
class CommImpl {
public:
  CommImpl& set_size(double bytes); ///< before it starts; Comm::set_payload_size() takes whole bytes
  CommImpl* start(); ///< once both sides have posted; interposed in binding/tuning/flow_coalescing.cpp, as is cancel()
  void cancel();
  /** Returns whether it has ended; interposed in binding/entries/requests/tested_messages.cpp. */
  bool test(actor::ActorImpl* issuer);
  void finish(); ///< called at its end; interposed in binding/entries/polls/polls.cpp
};

/** Declared in src/kernel/activity/MessImpl.hpp: an ActivityImpl, at the same address. */
class MessImpl {
public:
  void cancel(); ///< once it has ended: removes it from both actors
  void finish(); ///< interposed in binding/entries/polls/polls.cpp
};

/** State of a flow whose last byte has arrived. */
constexpr const char* FLOW_ARRIVED = "DONE";

/** Returns whether an activity has ended, successfully or not, as ActivityImpl::wait_any_for sees it. */
inline bool has_ended(const ActivityImpl& activity)
{
  const std::string_view state = activity.get_state_str();
  return state != "WAITING" && state != "RUNNING";
}

} // namespace simgrid::kernel::activity
