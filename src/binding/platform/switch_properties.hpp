// SPDX-License-Identifier: LGPL-2.1-only
/* Properties of a platform's hosts that describe smart switches and NICs.
 *
 * A host with the properties `processing_latency` (seconds, or text with a unit) and `max_ports` is
 * a smart switch. `preset` supplies the values that its properties do not give: a switch preset,
 * `tofino` by default, or `none` for properties only. Every key of [switch] can be a property. The
 * offload tables are one text,
 *
 *   allreduce,reduce MPI_INT,MPI_LONG MPI_SUM; allreduce MPI_FLOAT MPI_SUM fixed-point 9.9GBps; barrier,bcast
 *
 * with rows separated by semicolons: collectives, datatypes, operations, conversion and its rate.
 * They replace the preset's. `meeting`, which the first switch sets for all, selects the root of a
 * communicator's tree: the switch `nearest` to all of its hosts together (the default); the
 * `centre`, whose distance to its farthest host is smallest, as in fat trees; or any switch
 * `next-to-hosts`, to which one of them is cabled, as in tori. Hosts and switches, and ranks with
 * them, are sorted by `number`, then by name, where digits sort by value (host-2 before host-10).
 *
 * The keys of [nic] are properties of the switches above the hosts and must be equal on all of
 * them. Plain numbers are seconds, bytes and bytes per second. */
#pragma once

#include "model/nic/nic_model.hpp"
#include "model/switch/switch_model.hpp"

#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace weft {

/** Returns whether a host of a platform is a smart switch. */
bool is_smart(const simgrid::s4u::Host* host);

/** Returns the `number` of a host or switch; 0 if absent. */
long number_of(const simgrid::s4u::Host* host);

/** Returns `meeting` of the first smart switch. */
std::string meeting_of(const simgrid::s4u::Host* first);

/** Returns the switch that @p host describes in the platform @p file. Throws UserError. */
SwitchModel read_switch_properties(const std::string& file, const simgrid::s4u::Host* host);

/** Returns the model of the hosts' NICs from the properties of all smart @p switches. Throws
 * UserError if they differ. */
NicModel read_nic_properties(const std::string& file, const std::vector<simgrid::s4u::Host*>& switches);

} // namespace weft
