// SPDX-License-Identifier: LGPL-2.1-only
/* Bisection bandwidth of a fabric. */
#pragma once

#include "base/units.hpp"
#include "fabric/fabric.hpp"

namespace weft {

/** Returns the bandwidth from the first half of the hosts to the second: the maximum flow over all links, whatever the
 * routes are. Hosts are numbered by leaf switch, group or dimension, so the result is the bisection given in the
 * literature for the topology; a cut by another numbering may be smaller. Throws std::logic_error if the fabric has a
 * single host. */
BytesPerSecond bisection_bandwidth(const Fabric& fabric);

/** Returns a host's share of the bisection: the rate at which every host of one half can send to the opposite half. */
BytesPerSecond bisection_per_host(const Fabric& fabric);

} // namespace weft
