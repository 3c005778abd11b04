// SPDX-License-Identifier: LGPL-2.1-only
/* Environment of calls over reduction trees: the carrier and counters of calls, and the state of the switches. */
#pragma once

#include "collective/in_network/call_carrier.hpp"
#include "fabric/fabric.hpp"
#include "faults/call_recovery.hpp"
#include "model/switch/aggregation.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/** Record of a call's execution by one switch. */
struct ServedPart {
  int index; ///< index of the switch in the fabric
  const std::string& collective;
  Bytes bytes;     ///< size of the message
  Bytes reduced;   ///< payload received from below and combined
  Bytes multicast; ///< payload sent down, over all copies
  Seconds start;
  Seconds end;
};

/** Environment of the calls of a communicator. All referents outlive the calls. */
struct TreeService {
  CallCarrier& carrier;
  const Fabric& fabric;
  std::vector<Aggregation>& switches; ///< by index in the fabric
  CallRecovery* recovery;             ///< null in runs without faults
  int world;                          ///< index of the job's MPI_COMM_WORLD
  /// Receives a record of each execution by a switch, in order of completion.
  std::function<void(const ServedPart&)> served;

  Aggregation& aggregation(const TreeSwitch& node) const { return switches[static_cast<std::size_t>(node.index)]; }
};

} // namespace weft
