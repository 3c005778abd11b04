// SPDX-License-Identifier: LGPL-2.1-only
/* Who decides for a call: asks the mechanisms and the predictions what collective/decision.hpp wants to know. */
#pragma once

#include "binding/data/described.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/mechanism.hpp"
#include "collective/decision.hpp"
#include "collective/host/engine/execution.hpp"
#include "collective/host/fallback.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class Decider {
  class Call;
  friend Call;

  const Fabric& fabric_;
  const OffloadMode asked_;
  const std::map<std::string, std::string>& algorithms_; // collective -> the SMPI algorithm that it falls back to
  const HostFallback& hosts_;                            // what weft carries out there
  const std::function<const MessageCosts&()> costs_;     // of the run's messages, once SMPI knows its options
  std::vector<std::unique_ptr<Mechanism>> mechanisms_;   // in the order of their kinds
  std::vector<const MechanismKind*> predictable_;

  const MechanismKind* hosts_mechanism(const CollectiveKind& collective) const;
  bool predict_hosts_faster(Mechanism& mechanism, Communicator& communicator, const Described& described) const;

public:
  /** All must outlive it. Predictions charge messages what @p costs returns, which is asked after the ranks started. */
  Decider(const Fabric& fabric, OffloadMode asked, const std::map<std::string, std::string>& algorithms,
          const HostFallback& hosts, std::function<const MessageCosts&()> costs);

  /** Takes the mechanisms, one of each kind, in their order. */
  void use(std::vector<std::unique_ptr<Mechanism>> mechanisms);
  const std::vector<std::unique_ptr<Mechanism>>& mechanisms() const { return mechanisms_; }
  Mechanism& mechanism(const MechanismKind& kind) const;

  /** Decide for a call on a communicator of more than one rank. */
  Decision decide(Communicator& communicator, const Described& described);
  /** For one of a communicator of one rank. */
  Decision decide_alone() const { return weft::decide_alone(asked_); }
};

} // namespace weft
