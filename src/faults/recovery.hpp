// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of links and switches in a flow network, and the reaction to them.
 *
 * A fault immediately cuts the flows on the failed part. Routing learns of the fault, or of a repair, after a detection
 * time and a convergence time, and then routes around failed parts. A sender is not notified: it retransmits
 * unacknowledged data whenever its retransmission timeout has passed, like the reliable connections of InfiniBand and
 * RoCE (InfiniBand Architecture Specification, volume 1, 9.7.6.1.3), and gives up after a number of retries. Data that
 * had arrived is not sent again. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "faults/faults_in_force.hpp"
#include "faults/spray_pools.hpp"
#include "model/recovery/recovery_model.hpp"
#include "network/agenda.hpp"
#include "network/failing_links.hpp"
#include "network/flow_network.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class Recovery : public Due, public CutFlows {
  struct Rest {
    CutFlow flow;
    int timeouts = 0; // number of timeouts that have passed
    double cut   = 0; // time of the cut
  };
  Agenda& agenda_;
  FlowNetwork& flows_;
  FailingLinks* packets_ = nullptr;
  FabricState& actual_;
  FabricState& known_;
  const RecoveryModel model_;
  FaultsInForce in_force_;
  SprayPools pools_;
  std::vector<std::vector<FabricChange>> batches_; // changes that routing has yet to learn, in batches
  std::vector<Rest> rests_;
  std::vector<std::size_t> idle_; // free positions in rests_
  RecoveryCounts counts_;
  std::vector<std::function<void()>> converged_;
  std::string latest_; // name of the latest failure

  void set(FabricState& state, const FabricChange& change) const;
  void set_bandwidth(LinkId link);
  void set_loss(LinkId link);
  std::vector<LinkId> links_of(const FabricChange& change) const;
  std::string name_of(const FabricChange& change) const;
  std::string obstacle(const CutFlow& flow) const;
  void await(std::size_t place);
  void retry(std::size_t place);
  void give_up(std::size_t place);

public:
  /** @p actual: the actual state. @p known: the state believed by routing, which the routes of @p flows follow. All
   * arguments must outlive this object. */
  Recovery(Agenda& agenda, FlowNetwork& flows, FabricState& actual, FabricState& known, const RecoveryModel& model);

  /** Begins and ends faults now. Returns whether a link or switch goes up or down. */
  bool apply(const std::vector<FabricChange>& changes);
  const FaultsInForce& in_force() const { return in_force_; }
  /** Lets the links of @p packets fail as well, which must outlive this object. */
  void include(FailingLinks& packets) { packets_ = &packets; }
  /** Registers @p converged to be called whenever routes have changed. */
  void on_convergence(std::function<void()> converged) { converged_.push_back(std::move(converged)); }
  /** Returns the counters of flows and packets. */
  RecoveryCounts counts() const;
  const RecoveryModel& model() const { return model_; }

  void cut(CutFlow rest) override;
  void due(std::uint64_t what) override;
};

} // namespace weft
