// SPDX-License-Identifier: LGPL-2.1-only
/* Hosts of actors, for messages between them. */
#pragma once

#include "binding/ranks/actor_map.hpp"
#include "binding/run/run_context.hpp"

#include <simgrid/s4u.hpp>

namespace weft {

/** Host of an actor. */
struct ActorHost {
  simgrid::s4u::Host* host = nullptr; ///< null if the actor has ended before it was looked up
  int vertex               = -1;      ///< the host's vertex of the fabric
  bool gone                = false;   ///< true if the actor has ended
};

class ActorHosts {
  const RunContext& context_;
  ActorMap<ActorHost> hosts_;

  void find(ActorHost& its, aid_t actor) const;

public:
  explicit ActorHosts(const RunContext& context);
  ActorHosts(const ActorHosts&)            = delete;
  ActorHosts& operator=(const ActorHosts&) = delete;

  ActorHost& of(aid_t actor)
  {
    ActorHost& its = hosts_[actor];
    if (not its.host && not its.gone) [[unlikely]]
      find(its, actor);
    return its;
  }
};

} // namespace weft
