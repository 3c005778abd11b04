// SPDX-License-Identifier: LGPL-2.1-only
/* Faults as `weft run` describes them, in JSON (python/weft/runs/faults/description.py). */
#pragma once

#include "base/units.hpp"
#include "binding/run/call_recovery.hpp"
#include "faults/recovery.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Changes at one instant. */
struct FaultEvent {
  Seconds at;
  std::string what; ///< as messages and the record name it
  std::vector<FabricChange> changes;
  std::optional<int> without_state; ///< switch that loses its state
  std::vector<int> dead_hosts;      ///< whose ranks die
  std::vector<int> repaired_hosts;  ///< for each, one fault of dead_hosts is over

  /** Returns whether a link or switch goes down or comes up, unless another fault holds it down. */
  bool changes_what_is_up() const;
};

struct FaultDescription {
  RecoveryModel recovery;
  LossModel losses;
  CallPolicy policy = CallPolicy::hosts;
  std::vector<FaultEvent> events; ///< by time
};

/** Reads a description. Throws UserError. */
FaultDescription read_faults(const std::string& path);

} // namespace weft
