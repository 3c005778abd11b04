// SPDX-License-Identifier: LGPL-2.1-only
/* Retransmission of transfers on SimGrid's network: when a profile of a platform turns a link off, a transfer on it
 * fails, and its sender resends the remainder whenever its retransmission timeout has passed, as on weft's own network
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
    std::string what;                                    ///< name of the transfer for errors if it is given up
    std::function<void(double part, FlowEnd done)> send; ///< sends the fraction `part` of the transfer
    std::function<std::string()> obstacle;               ///< names the parts of its route that are off; empty: none
    FlowEnd done;                                        ///< called when the transfer has arrived, or is given up
  };

  explicit ResentTransfers(const RecoveryModel& model) : model_(model) {}
  /** Takes the simulated time from this network, which must outlive the object. */
  void serve(HostNetwork& network) { network_ = &network; }
  void start(Transfer transfer);
  const RecoveryCounts& counts() const { return counts_; }

  void due(std::uint64_t what) override;

private:
  struct Rest {
    Transfer transfer;
    double part  = 1; // fraction that has not arrived
    double since = 0; // time of the cut
    int timeouts = 0; // timeouts since the cut
  };
  const RecoveryModel model_;
  HostNetwork* network_ = nullptr;
  std::vector<Rest> rests_; // includes transfers that have not been cut
  std::vector<std::size_t> idle_;
  RecoveryCounts counts_;

  void send(std::size_t place);
  void ended(std::size_t place, const FlowResult& result);
  void await(std::size_t place);
  void give_up(std::size_t place, const std::string& obstacle);
  FlowEnd free(std::size_t place);
};

} // namespace weft
