// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of SimGrid 4.1 that weft calls and SimGrid 4.0 lacks. */
#pragma once

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/version.h>

namespace weft {

#if SIMGRID_VERSION >= 40100

/** Lets further hosts and links be added to @p zone. */
inline void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone)
{
  zone.unseal();
}

#else

/** Gives access to a private member, which an explicit instantiation may name. */
template <bool simgrid::kernel::routing::NetZoneImpl::* SEALED> struct SealedFlag {
  friend void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone) { zone.*SEALED = false; }
};
void unseal_zone(simgrid::kernel::routing::NetZoneImpl& zone);
template struct SealedFlag<&simgrid::kernel::routing::NetZoneImpl::sealed_>;

#endif

} // namespace weft
