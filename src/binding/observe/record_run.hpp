// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/record_part.hpp"
#include "binding/process/stacks.hpp"
#include "fabric/fabric.hpp"
#include "fabric/forwarding_state.hpp"
#include "model/mechanism/offload_mode.hpp"
#include "model/switch/aggregation.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Facts about the run that the record needs in addition to the calls. */
struct RecordRun {
  const Fabric& fabric;
  OffloadMode mode;
  int ranks             = 0;
  int hosts_used        = 0;
  double simulated_time = 0;
  const std::vector<Aggregation>& switches;
  std::vector<const RecordPart*> parts;                      ///< record parts of mechanisms, in order
  std::function<double(LinkId)> bytes_on_link;               ///< 0 if not counted
  std::function<std::optional<LookupCounters>(int)> lookups; ///< by switch; empty without a cache
  std::map<std::string, std::string> algorithms;             ///< fallback algorithm by collective
  std::optional<StacksMade> stacks;                          ///< empty if SimGrid allocated them
  std::vector<std::string> tunings_off;                      ///< names of disabled tunings
  std::optional<Seconds> poll_overhead;                      ///< empty if set by SMPI's options
  Json jobs;       ///< rows of the jobs; null if smpirun launched the only job
  Json spawned;    ///< rows of spawned worlds; null if there are none
  Json resolution; ///< use of the network's time resolution; null if it had no effect
  Json packets;    ///< work counters of the packet network; null if messages are flows
};

} // namespace weft
