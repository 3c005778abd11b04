// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of links and switches while a program runs. They end with the last rank. */
#pragma once

#include "binding/observe/record_part.hpp"
#include "fabric/fabric_state.hpp"
#include "faults/fault_events.hpp"
#include "faults/recovery.hpp"
#include "network/messages.hpp"

#include <cstdint>
#include <vector>

namespace weft {

class RunContext;

class InjectedFaults : public RecordPart, public BackgroundReceiver {
  RunContext& context_;
  FabricState actual_;
  const RecoveryModel model_;
  const CallPolicy policy_;
  FaultEvents events_;
  LinkLosses losses_;
  Recovery* recovery_ = nullptr; // set once the ranks have started
  bool ended_         = false;

  InjectedFaults(RunContext& context, FaultDescription description);
  void begin();
  void await();
  void end();
  void tell_calls(const std::vector<FabricChange>& changes);

public:
  /** Adds the faults of the settings to a run on weft's network, if there are any. Throws UserError. */
  static void serve(RunContext& context);

  void due(std::uint64_t what) override;
  void arrived(std::uint64_t /*message*/) override {}
  void add_rows(Json& record) const override;
};

} // namespace weft
