// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/simgrid_messages.hpp"

#include "binding/messages/zone_routes.hpp"

#include <simgrid/s4u.hpp>
#include <simgrid/simcall.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns a fraction of a flow. */
StreamFlow part_of(StreamFlow flow, double part)
{
  flow.wire = flow.wire * part;
  for (FlowLink& link : flow.links)
    link.wire = link.wire * part;
  return flow;
}

class SimGridMessages : public HostNetwork, public Messages {
protected:
  Network& network_;

private:
  ResentTransfers* resent_; // null: failures are reported

public:
  SimGridMessages(Network& network, MessageCosts its_costs, ResentTransfers* resent)
      : HostNetwork(std::move(its_costs)), network_(network), resent_(resent)
  {
    if (resent_)
      resent_->serve(*this);
  }

  Messages& messages() override { return *this; }
  void start_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int /*world*/, FlowEnd done) override
  {
    if (not resent_) {
      network_.start_flow(flow, latency, sharing, std::move(done));
      return;
    }
    resent_->start({"a flow of a collective in the network",
                    [this, flow, latency, sharing](double part, FlowEnd ended) {
                      network_.start_flow(part_of(flow, part), latency, sharing, std::move(ended));
                    },
                    [this, flow] {
                      std::vector<sg::Link*> links;
                      for (const FlowLink& link : flow.links)
                        network_.append_links(link.link, links);
                      return links_off(links);
                    },
                    std::move(done)});
  }
  void transfer(VertexId from, VertexId to, Bytes bytes, int /*world*/, FlowEnd done) override
  {
    if (not resent_) {
      network_.transfer(from, to, bytes, std::move(done));
      return;
    }
    resent_->start(
        {"a message from " + network_.endpoint(from)->get_name() + " to " + network_.endpoint(to)->get_name(),
         [this, from, to, bytes](double part, FlowEnd ended) {
           network_.transfer(from, to, bytes, std::move(ended), part);
         },
         [this, from, to] { return off_between(network_.endpoint(from), network_.endpoint(to)); }, std::move(done)});
  }
  double use_of(LinkId link) override { return network_.use_of(link); }

  void send(int from, int to, Bytes bytes, double /*missed*/, Receiving& receiver, std::uint64_t message) override
  {
    transfer(from, to, bytes, JobTraffic::UNKNOWN,
             [this, &receiver, message](const FlowResult& result) { ended(receiver, message, result); });
  }

protected:
  void ended(Receiving& receiver, std::uint64_t message, const FlowResult& result)
  {
    if (not result.arrived()) {
      receiver.failed(message, result.failure);
      return;
    }
    arrivals_.push_back({&receiver, message});
    agenda_.add(now(), due_, arrivals_.size() - 1);
    wake();
  }

private:
  struct Arrival {
    Receiving* receiver;
    std::uint64_t message;
  };
  struct ArrivalDue : Due {
    std::vector<Arrival>& arrivals;
    std::size_t told = 0;
    explicit ArrivalDue(std::vector<Arrival>& all) : arrivals(all) {}
    void due(std::uint64_t what) override
    {
      const Arrival arrival = arrivals[what];
      if (++told == arrivals.size()) {
        arrivals.clear();
        told = 0;
      }
      arrival.receiver->arrived(arrival.message);
    }
  };
  std::vector<Arrival> arrivals_;
  ArrivalDue due_{arrivals_};
};

/** On a fabric, messages are streams over the resources that weft's network would use. */
class SimGridFabricMessages : public SimGridMessages {
  FabricZone& zone_;
  ZoneRoutes ways_;
  FlowRoute way_;

public:
  SimGridFabricMessages(const Fabric& fabric, FabricZone& zone, MessageCosts its_costs)
      : SimGridMessages(zone, std::move(its_costs), nullptr), zone_(zone), ways_(fabric, zone.traffic())
  {
  }

  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override
  {
    way_.resources.clear();
    ways_.find(from, to, bytes, missed, way_);
    start_for(receiver, message);
  }
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override
  {
    if (message.from_socket == SocketMessage::UNKNOWN) {
      send(message.from, message.to, message.bytes, message.missed, receiver, number);
      return;
    }
    way_.resources.clear();
    ways_.find_on_sockets(message, way_);
    start_for(receiver, number);
  }
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override
  {
    way_.resources.clear();
    ways_.find_work(work, way_);
    start_for(receiver, number);
  }
  void start_storage_flow(VertexId from, VertexId to, const std::vector<int>& storage, Bytes bytes,
                          BytesPerSecond limit, FlowEnd done) override
  {
    way_.resources.clear();
    ways_.find_storage_flow(from, to, storage, bytes, limit, way_);
    start(std::move(done));
  }

private:
  void start_for(Receiving& receiver, std::uint64_t message)
  {
    start([this, &receiver, message](const FlowResult& result) { ended(receiver, message, result); });
  }

  void start(FlowEnd done)
  {
    const FlowRoute way = way_; // other ranks send before the kernel starts the stream
    StreamRequest request;
    request.base_latency    = Seconds(way.latency);
    request.sharing_latency = Seconds(way.penalty);
    request.wire            = Bytes(way.volume);
    request.rate_limit      = BytesPerSecond(way.bound);
    request.exact           = true;
    simgrid::kernel::actor::simcall_answered([&] {
      for (const int resource : way.resources)
        request.links.push_back(zone_.resources().link(resource));
      zone_.streams().start(request, [this, number = way.known_as, done = std::move(done)](const FlowResult& result) {
        zone_.traffic().end(number); // before SimGrid's solver queries capacities
        done(result);
      });
    });
  }
};

} // namespace

std::unique_ptr<HostNetwork> make_simgrid_fabric_network(const Fabric& fabric, FabricZone& zone, MessageCosts costs)
{
  return std::make_unique<SimGridFabricMessages>(fabric, zone, std::move(costs));
}

std::unique_ptr<HostNetwork> make_simgrid_host_network(Network& network, MessageCosts costs, ResentTransfers* resent)
{
  return std::make_unique<SimGridMessages>(network, std::move(costs), resent);
}

} // namespace weft
