// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/actor_hosts.hpp"

namespace sg = simgrid::s4u;

namespace weft {

ActorHosts::ActorHosts(const RunContext& context) : context_(context)
{
  sg::Actor::on_termination_cb([this](const sg::Actor& actor) { hosts_[actor.get_pid()].gone = true; });
}

void ActorHosts::find(ActorHost& its, aid_t actor) const
{
  const sg::ActorPtr found = sg::Actor::by_pid(actor);
  if (not found) {
    its.gone = true;
    return;
  }
  its.host   = found->get_host();
  its.vertex = context_.network.vertex_of(its.host);
}

} // namespace weft
