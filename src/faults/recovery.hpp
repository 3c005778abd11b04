// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of links and switches in a flow network, and the reaction to them.
 *
 * A fault cuts the flows on what fails at that instant. Routing learns of it, and of a repair, after a detection time
 * and a convergence time, and then routes around what is down. A sender learns nothing: it sends again what has not
 * been acknowledged whenever its retransmission timeout has passed, as the reliable connections of InfiniBand and RoCE
 * do (InfiniBand Architecture Specification, volume 1, 9.7.6.1.3), and gives up after a number of retries. What had
 * arrived is not sent again. */
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
    int timeouts = 0; // that have passed
    double cut   = 0; // time
  };
  Agenda& agenda_;
  FlowNetwork& flows_;
  FailingLinks* packets_ = nullptr;
  FabricState& actual_;
  FabricState& known_;
  const RecoveryModel model_;
  FaultsInForce in_force_;
  SprayPools pools_;
  std::vector<std::vector<FabricChange>> batches_; // changes that routing has to learn, each batch at once
  std::vector<Rest> rests_;
  std::vector<std::size_t> idle_; // free places in rests_
  RecoveryCounts counts_;
  std::vector<std::function<void()>> converged_;
  std::string latest_; // what failed last

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
  /** @p actual: what is up. @p known: what routing believes to be up, which the routes of @p flows follow. All
   * arguments must outlive this object. */
  Recovery(Agenda& agenda, FlowNetwork& flows, FabricState& actual, FabricState& known, const RecoveryModel& model);

  /** Begins and ends faults now. Returns whether that changes what is up. */
  bool apply(const std::vector<FabricChange>& changes);
  const FaultsInForce& in_force() const { return in_force_; }
  /** Lets the links of @p packets fail as well, which must outlive this object. */
  void include(FailingLinks& packets) { packets_ = &packets; }
  /** Calls @p converged, too, whenever routes have changed. */
  void on_convergence(std::function<void()> converged) { converged_.push_back(std::move(converged)); }
  /** Returns the counters of flows and packets. */
  RecoveryCounts counts() const;
  const RecoveryModel& model() const { return model_; }

  void cut(CutFlow rest) override;
  void due(std::uint64_t what) override;
};

} // namespace weft
