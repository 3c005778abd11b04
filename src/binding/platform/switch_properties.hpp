// SPDX-License-Identifier: LGPL-2.1-only
/* What the properties of a platform's hosts say of smart switches and NICs.
 *
 * A host with the properties `processing_latency` (seconds, or a text with a unit) and `max_ports` is a smart switch.
 * `preset` names what it is beyond its properties: a switch preset, `tofino` where the property is absent, or `none`,
 * and then the properties say all. Every key of [switch] can be a property. The offload tables are one text,
 *
 *   allreduce,reduce MPI_INT,MPI_LONG MPI_SUM; allreduce MPI_FLOAT MPI_SUM fixed-point 9.9GBps; barrier,bcast
 *
 * a row between semicolons: collectives, datatypes, operations, conversion and its rate; they replace the preset's.
 * `meeting`, of the first switch for all, says where the tree of a communicator has its root: at the switch `nearest`
 * to all of its hosts together, as where the property is absent; at the `centre`, from which the farthest host is
 * nearest, as in fat trees; or at any `next-to-hosts`, to which one of them is cabled, as in tori. Hosts and switches
 * with a `number` come in that order, and ranks with them; without one, in the order of their names, in
 * which numbers count as such (host-2 is before host-10).
 *
 * The keys of [nic] are properties of the switches above the hosts and must be the same at all of them. Plain numbers
 * are seconds, bytes and bytes per second.
 */
#pragma once

#include "model/nic/nic_model.hpp"
#include "model/switch/switch_model.hpp"

#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace weft {

/** Whether a host of a platform is a smart switch. */
bool is_smart(const simgrid::s4u::Host* host);

/** The `number` of a host or switch; 0 where it has none. */
long number_of(const simgrid::s4u::Host* host);

/** `meeting` of the first smart switch. */
std::string meeting_of(const simgrid::s4u::Host* first);

/** The switch that @p host is in the platform @p file. Throws UserError. */
SwitchModel read_switch_properties(const std::string& file, const simgrid::s4u::Host* host);

/** What the properties of all smart @p switches say of the hosts' NICs. Throws UserError where they differ. */
NicModel read_nic_properties(const std::string& file, const std::vector<simgrid::s4u::Host*>& switches);

} // namespace weft
