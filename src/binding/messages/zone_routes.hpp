// SPDX-License-Identifier: LGPL-2.1-only
/* Routes of messages on a fabric, which are counted: their bytes on links, look-ups in caches, and jitter. */
#pragma once

#include "binding/platform/fabric_traffic.hpp"
#include "network/fabric_routes.hpp"

#include <cstddef>
#include <vector>

namespace weft {

class ZoneRoutes : public FabricRoutes {
  const Fabric& fabric_;
  FabricTraffic& traffic_;
  const bool repeats_;
  double part_                            = 1; // fraction of the message that is sent
  ForwardingState::MessageNumber started_ = ForwardingState::NONE;

  void add_jitter(int from, FlowRoute& into);

protected:
  Bytes sent_of(Bytes bytes) const { return bytes * part_; }
  bool is_rest() const { return part_ < 1; }
  Seconds start(const Route& route, int from, int to, Bytes bytes) override;
  /** Counts a file's data on a link. */
  virtual void count_storage(int resource, int from, int to, Bytes bytes);

public:
  ZoneRoutes(const Fabric& fabric, FabricTraffic& traffic);
  ZoneRoutes(const FabricState* known, FabricTraffic& traffic);

  bool repeats() const override { return repeats_; }
  void repeat(const FlowRoute& way, int from, int to, Bytes bytes) override
  {
    traffic_.count_again(way, from, to, bytes);
  }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override;
  void find_rest(int from, int to, Bytes bytes, double missed, double part, FlowRoute& into) override;
  /** Finds the route of a file's data between two hosts, one of which uses the resources @p storage at a rate of at
   * most @p limit, and counts its bytes. */
  void find_storage_flow(int from, int to, const std::vector<int>& storage, Bytes bytes, BytesPerSecond limit,
                         FlowRoute& into);
  bool vary() const override { return traffic_.ports_bound(); }
  void left(const FlowRoute& way) override;
  double capacity(int resource, double fixed) override { return traffic_.capacity(resource, fixed); }
};

} // namespace weft
