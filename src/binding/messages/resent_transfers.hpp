// SPDX-License-Identifier: LGPL-2.1-only
/* Transfers of SimGrid's network that are sent again: when a profile of a platform turns a link off, a transfer on it
 * fails, and its sender sends the rest whenever its retransmission timeout has passed, as on weft's own network
 * (faults/recovery.hpp). SimGrid's routes do not change. */
#pragma once

#include "binding/platform/flow_result.hpp"
#include "faults/recovery.hpp"
#include "network/agenda.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

class HostNetwork;

class ResentTransfers : public Due {
public:
  struct Transfer {
    std::string what;                                    ///< names it if it is given up
    std::function<void(double part, FlowEnd done)> send; ///< sends a part of it
    std::function<std::string()> obstacle;               ///< names what is off on its way; empty: nothing
    FlowEnd done;                                        ///< runs when it has arrived, or is given up
  };

  explicit ResentTransfers(const RecoveryModel& model) : model_(model) {}
  /** Takes the time from this network, which must outlive it. */
  void serve(HostNetwork& network) { network_ = &network; }
  void start(Transfer transfer);
  const RecoveryCounts& counts() const { return counts_; }

  void due(std::uint64_t what) override;

private:
  struct Rest {
    Transfer transfer;
    double part  = 1; // that has not arrived
    double since = 0; // time of the cut
    int timeouts = 0; // that have passed since
  };
  const RecoveryModel model_;
  HostNetwork* network_ = nullptr;
  std::vector<Rest> rests_; // with transfers that have not been cut
  std::vector<std::size_t> idle_;
  RecoveryCounts counts_;

  void send(std::size_t place);
  void ended(std::size_t place, const FlowResult& result);
  void await(std::size_t place);
  void give_up(std::size_t place, const std::string& obstacle);
  FlowEnd free(std::size_t place);
};

} // namespace weft
