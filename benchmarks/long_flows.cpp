// SPDX-License-Identifier: LGPL-2.1-only
/* Flows as packets, for comparisons with other packet simulators, without SimGrid.
 *
 *   long_flows_benchmark FABRIC FROM TO [TABLE.KEY=VALUE ...] < FLOWS
 *
 * A line of FLOWS is a flow: sender, receiver, packets, and start in seconds. A flow is a row of messages of one packet
 * each. It prints the time that each flow takes, in the order of the lines, counters of the network, and mean, 99 %
 * quantile and maximum of the bytes that wait at the switch from time FROM to time TO (seconds), for flows to one host
 * of a star whose switch takes no time: packets that have reached the switch, less those that have left it. Each is
 * known from the start or the arrival of the packet, a time of one link earlier or later.
 */
#include "fabric/fabric.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "packets/deadlock/credit_cycles.hpp"
#include "packets/packet_network.hpp"

#include "usage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

struct LongFlow {
  int from              = 0;
  int to                = 0;
  std::uint64_t packets = 0;
  double start          = 0; ///< seconds
  std::uint64_t sent    = 0;
  std::uint64_t arrived = 0;
  double end            = 0;
};

class LongFlowsRun : Due, Receiving {
  static constexpr std::uint64_t LOOK    = UINT64_MAX; // other numbers are those of flows
  static constexpr std::size_t LOOKS     = 11;         // in the time of a link
  static constexpr std::uint64_t WAITING = 6000;       // packets of a flow at its sender and in flight

  const Fabric& fabric_;
  Agenda agenda_;
  FabricRoutes routes_;
  FlowNetwork local_;
  PacketNetwork network_;
  std::vector<LongFlow> flows_;
  std::size_t left_;
  std::uint64_t all_ = 0; // packets that have arrived
  std::vector<std::uint64_t> started_packets_;
  std::vector<std::uint64_t> arrived_packets_;

  void due(std::uint64_t what) override
  {
    if (what != LOOK) {
      for (std::uint64_t packet = 0; packet < WAITING; ++packet)
        send(what);
      return;
    }
    started_packets_.push_back(network_.work().packets);
    arrived_packets_.push_back(all_);
    agenda_.add(agenda_.now() + between(), *this, LOOK);
  }
  void arrived(std::uint64_t number) override
  {
    ++all_;
    LongFlow& flow = flows_[number];
    if (++flow.arrived == flow.packets) {
      flow.end = agenda_.now().value();
      --left_;
    }
    send(number);
  }
  void send(std::uint64_t number)
  {
    LongFlow& flow = flows_[number];
    if (flow.sent == flow.packets)
      return;
    ++flow.sent;
    network_.send(flow.from, flow.to, fabric_.packets().packet, UNKNOWN_PART, *this, number);
  }
  /** Returns the time between two looks. */
  Seconds between() const
  {
    const Link& link = fabric_.links().front();
    return (link.latency + fabric_.packets().packet / link.bandwidth) * (1.0 / LOOKS);
  }

public:
  LongFlowsRun(const Fabric& fabric, std::vector<LongFlow> flows)
      : fabric_(fabric), routes_(fabric),
        local_(agenda_, routes_, FabricRoutes::capacities(fabric), fabric.host_count()),
        network_(agenda_, routes_, fabric, local_), flows_(std::move(flows)), left_(flows_.size())
  {
    for (std::size_t flow = 0; flow < flows_.size(); ++flow)
      agenda_.add(Seconds(flows_[flow].start), *this, flow);
    agenda_.add(Seconds(), *this, LOOK);
    while (left_ > 0)
      agenda_.run_until(agenda_.next());
  }
  const std::vector<LongFlow>& flows() const { return flows_; }
  const PacketWork& work() const { return network_.work(); }
  /** Returns the bytes that wait at the switch, at even distances from time @p from to time @p to. */
  std::vector<double> queues(double from, double to) const
  {
    std::vector<double> queues;
    for (std::size_t look = LOOKS; look + LOOKS < started_packets_.size(); ++look) {
      const double time = static_cast<double>(look) * between().value();
      if (time >= from && time <= to)
        queues.push_back(fabric_.packets().packet.value() *
                         static_cast<double>(started_packets_[look - LOOKS] - arrived_packets_[look + LOOKS]));
    }
    std::ranges::sort(queues);
    return queues;
  }
};

std::vector<LongFlow> read_flows()
{
  std::vector<LongFlow> flows;
  for (LongFlow flow; std::cin >> flow.from >> flow.to >> flow.packets >> flow.start;)
    flows.push_back(flow);
  return flows;
}

int run(const std::vector<std::string>& arguments)
{
  constexpr std::size_t NEEDED = 3;
  if (arguments.size() < NEEDED) {
    std::fputs("usage: long_flows_benchmark FABRIC FROM TO [TABLE.KEY=VALUE ...] < FLOWS\n", stderr);
    return 2;
  }
  const Fabric fabric = Fabric::load(arguments[0], {arguments.begin() + NEEDED, arguments.end()});
  check_packets(fabric);
  const double begun = seconds(usage().ru_utime);
  const LongFlowsRun run(fabric, read_flows());
  const double cpu       = seconds(usage().ru_utime) - begun;
  const PacketWork& work = run.work();
  std::fputs("{\"took_s\": [", stdout);
  const char* separator = "";
  for (const LongFlow& flow : run.flows())
    std::printf("%s%.9f", std::exchange(separator, ", "), flow.end - flow.start);
  std::printf("], \"packets\": %zu, \"hops\": %zu, \"marked\": %zu, \"notifications\": %zu, \"pauses\": %zu, "
              "\"paused_s\": %.9f, \"cpu_s\": %.3f",
              std::size_t{work.packets}, std::size_t{work.hops}, std::size_t{work.marked},
              std::size_t{work.notifications}, std::size_t{work.pauses}, work.paused_s, cpu);
  if (const std::vector<double> queues = run.queues(std::stod(arguments[1]), std::stod(arguments[2]));
      not queues.empty()) {
    const double mean = std::accumulate(queues.begin(), queues.end(), 0.0) / static_cast<double>(queues.size());
    std::printf(R"(, "queue": {"mean": %.0f, "p99": %.0f, "most": %.0f})", mean, queues[queues.size() * 99 / 100],
                queues.back());
  }
  std::printf(", \"most_queued\": %.0f}\n", work.most_queued);
  return 0;
}

} // namespace
} // namespace weft

int main(int count, char** words)
{
  try {
    return weft::run({words + 1, words + count});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
