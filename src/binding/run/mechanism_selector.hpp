// SPDX-License-Identifier: LGPL-2.1-only
/* Selection of the mechanism for a call: passes the mechanisms' answers and the predictions to
 * collective/decision.hpp. */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/mechanism.hpp"
#include "collective/decision.hpp"
#include "collective/host/engine/execution.hpp"
#include "collective/host/fallback.hpp"
#include "fabric/fabric_state.hpp"
#include "model/collective/call_descriptor.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class MechanismSelector {
  class CallVerdicts;
  friend CallVerdicts;

  const FabricState& state_;
  const Fabric& fabric_;
  const OffloadMode asked_;
  const Jobs& jobs_;                                     // may request other modes and algorithms
  const std::map<std::string, std::string>& algorithms_; // fallback SMPI algorithm by collective
  const HostFallback& hosts_;                            // algorithms of host calls that weft executes itself
  const std::function<const MessageCosts&()> costs_;   // message costs of the run, known once SMPI has read its options
  std::vector<std::unique_ptr<Mechanism>> mechanisms_; // in the order of their kinds
  std::vector<const MechanismKind*> predictable_;

  const MechanismKind* hosts_mechanism(const CollectiveKind& collective) const;
  const HostFallback& hosts_of(const Communicator& communicator) const;
  bool predict_hosts_faster(Mechanism& mechanism, Communicator& communicator, const CallDescriptor& call) const;

public:
  /** All references must outlive the selector. Predictions use the message costs that @p costs returns; it is called
   * only after the ranks have started. */
  MechanismSelector(const FabricState& state, OffloadMode asked, const Jobs& jobs,
                    const std::map<std::string, std::string>& algorithms, const HostFallback& hosts,
                    std::function<const MessageCosts&()> costs);

  /** Takes the mechanisms, one of each kind, in order. */
  void use(std::vector<std::unique_ptr<Mechanism>> mechanisms);
  const std::vector<std::unique_ptr<Mechanism>>& mechanisms() const { return mechanisms_; }
  Mechanism& mechanism(const MechanismKind& kind) const;

  /** Decides for a call on a communicator of more than one rank. */
  Decision decide(Communicator& communicator, const CallDescriptor& call);
  /** Decides for a call on a communicator of one rank. */
  Decision decide_alone() const;
  /** Returns the offload mode of the job with this world. */
  OffloadMode mode_of(int world) const;
  /** Returns whether a job in mode @p asked may have calls that @p mechanism executes. */
  bool may_use(const Mechanism& mechanism, OffloadMode asked) const;
};

} // namespace weft
