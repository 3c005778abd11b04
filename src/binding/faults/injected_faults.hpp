// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of links and switches while a program runs. They end with the last rank. */
#pragma once

#include "binding/faults/fault_file.hpp"
#include "binding/observe/record_part.hpp"
#include "fabric/fabric_state.hpp"
#include "faults/recovery.hpp"
#include "network/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace weft {

class RunContext;

class InjectedFaults : public RecordPart, public BackgroundReceiver {
  RunContext& context_;
  FabricState actual_;
  FaultDescription description_;
  LinkLosses losses_;
  Recovery* recovery_ = nullptr; // once the ranks have started
  std::size_t next_   = 0;       // event
  bool ended_         = false;
  std::vector<bool> hidden_; // by past event: its links or switches stay down through other faults

  explicit InjectedFaults(RunContext& context);
  void begin();
  void await();
  void end();
  /** Returns the hosts that are down now, with the times at which they failed. */
  std::map<int, Seconds> hosts_down() const;
  void tell_calls(const std::vector<FabricChange>& changes);

public:
  /** Adds the faults of the settings to a run on weft's network, if there are any. Throws UserError. */
  static void serve(RunContext& context);

  void due(std::uint64_t what) override;
  void arrived(std::uint64_t /*message*/) override {}
  void add_rows(Json& record) const override;
};

} // namespace weft
