// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: messages on networks of packets and of flows. */
#pragma once

#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "packets/packet_network.hpp"

#include <map>
#include <string>
#include <vector>

namespace weft {

struct TestMessage {
  int from;
  int to;
  double bytes;
  double at = 0; ///< seconds
};

class TestArrivals : public Receiving {
  Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  explicit TestArrivals(Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
};

/** Sends messages at their times. */
class TestSenders : public Due {
  Messages& network_;
  const std::vector<TestMessage>& messages_;
  Receiving& receiver_;

public:
  TestSenders(Agenda& agenda, Messages& network, const std::vector<TestMessage>& messages, Receiving& receiver)
      : network_(network), messages_(messages), receiver_(receiver)
  {
    for (std::size_t number = 0; number < messages.size(); ++number)
      agenda.add(Seconds(messages[number].at), *this, number);
  }
  void due(std::uint64_t number) override
  {
    const TestMessage& message = messages_[number];
    network_.send(message.from, message.to, Bytes(message.bytes), UNKNOWN_PART, receiver_, number);
  }
};

struct TestRun {
  std::vector<double> times; ///< of arrivals, in order of the messages; -1: none
  PacketNetwork::Work work;
};

inline void run_to_end(Agenda& agenda)
{
  while (agenda.next() < Seconds(1e6))
    agenda.run_until(agenda.next());
}

inline std::vector<double> times_of(const TestArrivals& arrivals, std::size_t messages)
{
  std::vector<double> times(messages, -1);
  for (const auto& [number, time] : arrivals.times)
    times[number] = time;
  return times;
}

/** Sends messages as packets until nothing happens anymore. */
inline TestRun run_packets(const Fabric& fabric, const std::vector<TestMessage>& messages)
{
  Agenda agenda;
  FabricRoutes routes(fabric);
  FlowNetwork local(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count());
  PacketNetwork network(agenda, routes, fabric, local);
  TestArrivals arrivals(agenda);
  const TestSenders senders(agenda, network, messages, arrivals);
  run_to_end(agenda);
  return {times_of(arrivals, messages.size()), network.work()};
}

/** Sends them as flows. */
inline std::vector<double> run_flows(const Fabric& fabric, const std::vector<TestMessage>& messages)
{
  Agenda agenda;
  FabricRoutes routes(fabric);
  FlowNetwork network(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count());
  TestArrivals arrivals(agenda);
  const TestSenders senders(agenda, network, messages, arrivals);
  run_to_end(agenda);
  return times_of(arrivals, messages.size());
}

/** Star of hosts with links of 1 GB/s and 1 us and a switch of 0.25 us, with further keys of [network]. */
inline Fabric packet_star(int hosts, const std::string& keys)
{
  std::string text = replaced(FABRIC, "hosts = 4", "hosts = " + std::to_string(hosts));
  text             = replaced(text, "max_ports = 8", "max_ports = 64");
  return fabric_of(text + "[network]\nmodel = \"packets\"\n" + keys + "\n");
}

} // namespace weft
