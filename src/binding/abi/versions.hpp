// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of SimGrid 4.1 that weft calls and SimGrid 4.0 lacks. */
#pragma once

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/version.h>

#include <functional>
#include <string>

namespace weft {

#if SIMGRID_VERSION >= 40100

/** Lets @p zone take further hosts and links. */
inline void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone)
{
  zone.unseal();
}

/** Starts an actor on @p host. */
inline simgrid::s4u::ActorPtr add_actor(simgrid::s4u::Host* host, const std::string& name,
                                        const std::function<void()>& code)
{
  return host->add_actor(name, code);
}

#else

/** Gives access to a private member: an explicit instantiation may name it. */
template <bool simgrid::kernel::routing::NetZoneImpl::* SEALED> struct SealedFlag {
  friend void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone) { zone.*SEALED = false; }
};
void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone);
template struct SealedFlag<&simgrid::kernel::routing::NetZoneImpl::sealed_>;

inline simgrid::s4u::ActorPtr add_actor(simgrid::s4u::Host* host, const std::string& name,
                                        const std::function<void()>& code)
{
  return simgrid::s4u::Engine::add_actor(name, host, code);
}

#endif

} // namespace weft
