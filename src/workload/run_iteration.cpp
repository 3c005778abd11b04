// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/run_iteration.hpp"

#include "base/error.hpp"
#include "disturbances/disturbances.hpp"
#include "network/agenda.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "packets/deadlock/credit_cycles.hpp"
#include "packets/packet_network.hpp"
#include "workload/group_links.hpp"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Routes that record messages over links of groups. */
class GuardedRoutes : public FabricRoutes {
  GroupLinks* links_ = nullptr;

public:
  using FabricRoutes::FabricRoutes;
  void guard(GroupLinks* links) { links_ = links; }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    FabricRoutes::find(from, to, bytes, missed, into);
    if (links_)
      links_->note_message(into.resources);
  }
};

std::vector<int> first_hosts(const Workload& workload, const Fabric& fabric)
{
  if (workload.ranks() > fabric.host_count())
    throw UserError("found " + std::to_string(workload.ranks()) + " ranks; " + fabric.name() + " has " +
                    std::to_string(fabric.host_count()) + " GPUs");
  std::vector<int> hosts(static_cast<std::size_t>(workload.ranks()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/** Returns the options on a network of packets, on which equal calls may take different times. */
IterationOptions on_packets(const Fabric& fabric, IterationOptions options)
{
  check_packets(fabric);
  const auto refuse = [&fabric](const std::string& what) {
    throw UserError(fabric.file() + R"(: [network] model = "packets": found together with )" + what +
                    "; allowed: with flows only");
  };
  if (options.disturbances.faults)
    refuse("faults");
  if (not options.disturbances.traffic.empty())
    refuse("background traffic");
  if (options.multicast)
    refuse("Allgathers by multicast");
  if (options.detail == CallDetail::call)
    refuse(R"(the detail "call")");
  options.execute_all = true;
  return options;
}

class OwnNetwork {
  const IterationOptions& options_;
  Agenda agenda_;
  FabricState known_;
  GuardedRoutes routes_;
  FlowNetwork network_;
  std::optional<PacketNetwork> packets_; // for all messages, if the fabric says so
  std::optional<Disturbances> disturbances_;
  Iteration iteration_;

  Messages& messages(const Fabric& fabric)
  {
    if (fabric.packets().carries())
      return packets_.emplace(agenda_, routes_, fabric, network_);
    return network_;
  }

  /** Returns whether pending events may complete an operation. */
  bool something_happens() const
  {
    return network_.carries_foreground() || agenda_.any_but([this](const Due& due) {
      return &due == static_cast<const Due*>(&network_) || dynamic_cast<const BackgroundReceiver*>(&due) != nullptr;
    });
  }

public:
  OwnNetwork(const Workload& workload, const Fabric& fabric, const IterationOptions& options)
      : options_(options), known_(fabric),
        routes_(options.disturbances.faults ? GuardedRoutes(&known_) : GuardedRoutes(fabric)),
        network_(agenda_, routes_, FabricRoutes::capacities(fabric), fabric.host_count()),
        iteration_(workload, fabric, options,
                   {first_hosts(workload, fabric), agenda_, messages(fabric), {}, false, &network_, &routes_})
  {
    routes_.guard(iteration_.own_links());
    if (options.disturbances.any())
      disturbances_.emplace(options.disturbances, fabric, agenda_, network_, known_);
  }

  /** Returns the times; nothing if results were reused wrongly. */
  std::optional<IterationTimes> run()
  {
    constexpr std::size_t INSTANTS = 16384; // instants between two progress reports
    if (disturbances_)
      disturbances_->begin([this](int host, Seconds since) { iteration_.host_failed(host, since); });
    iteration_.begin();
    for (std::size_t instant = 1; std::isfinite(agenda_.next().value()) && not iteration_.reuse_is_wrong(); ++instant) {
      if (disturbances_ && iteration_.is_over())
        break;
      agenda_.run_until(agenda_.next());
      if (instant % INSTANTS != 0)
        continue;
      if (options_.progress)
        options_.progress(iteration_.done());
      if (disturbances_ && not iteration_.is_over() && not something_happens())
        break;
    }
    if (not iteration_.reuse_is_wrong() && not iteration_.is_over())
      throw UserError(iteration_.waits());
    if (iteration_.reuse_was_wrong())
      return {};
    IterationTimes times = iteration_.take_times();
    iteration_.add_links(times);
    times.messages += network_.work().messages;
    if (packets_) {
      times.packets = packets_->work();
      times.messages += times.packets->messages;
    }
    if (disturbances_) {
      times.messages -= disturbances_->sent();
      times.faults  = disturbances_->faults();
      times.traffic = disturbances_->traffic();
    }
    return times;
  }
};

} // namespace

IterationTimes run_iteration(const Workload& workload, const Fabric& fabric, IterationOptions options)
{
  if (fabric.packets().carries())
    options = on_packets(fabric, std::move(options));
  if (auto times = OwnNetwork(workload, fabric, options).run())
    return std::move(*times);
  options.execute_all = true;
  return OwnNetwork(workload, fabric, options).run().value();
}

} // namespace weft
