// SPDX-License-Identifier: LGPL-2.1-only
/* Surroundings of calls over reduction trees: who carries and counts them, and the state of the switches. */
#pragma once

#include "collective/in_network/call_carrier.hpp"
#include "fabric/fabric.hpp"
#include "faults/call_recovery.hpp"
#include "model/switch/aggregation.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/** Part of a call that a switch has executed. */
struct ServedPart {
  int index; ///< of the switch in the fabric
  const std::string& collective;
  Bytes bytes;     ///< size of the message
  Bytes reduced;   ///< payload received from below and combined
  Bytes multicast; ///< payload sent down, over all copies
  Seconds start;
  Seconds end;
};

/** Surroundings of the calls of a communicator. All referents outlive them. */
struct TreeService {
  CallCarrier& carrier;
  const Fabric& fabric;
  std::vector<Aggregation>& switches; ///< by index in the fabric
  CallRecovery* recovery;             ///< null in runs without faults
  int world;                          ///< number of the job's MPI_COMM_WORLD
  /// Receives what switches have executed, in the order in which it ends.
  std::function<void(const ServedPart&)> served;

  Aggregation& aggregation(const TreeSwitch& node) const { return switches[static_cast<std::size_t>(node.index)]; }
};

} // namespace weft
