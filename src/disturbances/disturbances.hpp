// SPDX-License-Identifier: LGPL-2.1-only
/* Timed background traffic and faults, on the agenda and the flow network that they disturb. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "faults/fault_events.hpp"
#include "faults/recovery.hpp"
#include "network/flow_network.hpp"
#include "traffic/traffic_stream.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct DisturbanceDescription {
  std::optional<FaultDescription> faults;
  std::vector<TrafficTable> traffic;

  bool any() const { return faults || not traffic.empty(); }
  /** Returns the links that faults name, and the links of switches and hosts that they name. */
  std::vector<LinkId> faulty_links(const Fabric& fabric) const;
};

class Disturbances : public BackgroundReceiver, TrafficNetwork {
  Agenda& agenda_;
  FlowNetwork& flows_;
  const Bytes eager_;
  std::vector<std::unique_ptr<TrafficStream>> streams_;
  std::size_t sent_ = 0; // messages sent by traffic
  bool ended_       = false;
  FabricState actual_;
  LinkLosses losses_;
  std::optional<FaultEvents> faults_;
  std::optional<Recovery> recovery_;
  std::function<void(int host, Seconds since)> host_dies_;

  void await();

  Seconds now() const override { return agenda_.now(); }
  bool ended() const override { return ended_; }
  Bytes eager_below() const override { return eager_; }
  void call_after(Seconds delay, Due& receiver, std::uint64_t what) override
  {
    agenda_.add(agenda_.now() + delay, receiver, what);
  }
  void send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
            std::uint64_t number) override;

public:
  /** @p known: what routing believes to be up, which the routes of @p flows follow. All references must outlive the
   * object. */
  Disturbances(const DisturbanceDescription& description, const Fabric& fabric, Agenda& agenda, FlowNetwork& flows,
               FabricState& known);
  /** Begins, with the faults at time 0. @p host_dies is called with each host that fails, and the time of its
   * failure. */
  void begin(std::function<void(int host, Seconds since)> host_dies);
  /** Prevents further traffic from beginning. */
  void end() { ended_ = true; }
  /** Returns the number of messages sent by traffic. */
  std::size_t sent() const { return sent_; }
  /** Returns the faults so far; nothing if the description contains no faults. */
  std::optional<FaultReport> faults() const;
  std::vector<TrafficReport> traffic() const;

  void due(std::uint64_t what) override;
  void arrived(std::uint64_t /*message*/) override {}
};

} // namespace weft
