// SPDX-License-Identifier: LGPL-2.1-only
/* Throughput of the network of packets, or of flows if the fabric says so: each host sends one message, without SimGrid.
 *
 *   packets_benchmark FABRIC BYTES permutation|incast [TABLE.KEY=VALUE ...]
 *
 * In a permutation, each host sends to another one and receives from another one, at random; in an incast, all hosts
 * send to the first one. It prints messages, packets, crossed links (hops), events, CPU seconds of the simulation, peak
 * RSS in bytes, most packets in flight, and the times of the first and the last arrival.
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
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

class Ends : public Receiving {
  const Agenda& agenda_;

public:
  std::size_t ended = 0;
  double first      = std::numeric_limits<double>::infinity();
  double last       = 0;
  explicit Ends(const Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t /*message*/) override
  {
    ++ended;
    last  = agenda_.now().value();
    first = std::min(first, last);
  }
};

/** Returns the receiver of each host; the host itself if it does not send. */
std::vector<int> receivers(int hosts, bool permutes)
{
  std::vector<int> to(static_cast<std::size_t>(hosts));
  if (not permutes)
    return to;
  std::iota(to.begin(), to.end(), 0);
  std::mt19937 random(1);
  for (std::size_t last = to.size(); --last > 0;) // Sattolo's algorithm: one cycle, so that no host sends to itself
    std::swap(to[last], to[random() % last]);
  return to;
}

int run(const std::vector<std::string>& arguments)
{
  constexpr std::size_t NEEDED = 3;
  if (arguments.size() < NEEDED) {
    std::fputs("usage: packets_benchmark FABRIC BYTES permutation|incast [TABLE.KEY=VALUE ...]\n", stderr);
    return 2;
  }
  const Fabric fabric = Fabric::load(arguments[0], {arguments.begin() + NEEDED, arguments.end()});
  const bool as_packets = fabric.packets().carries();
  if (as_packets)
    check_packets(fabric);
  Agenda agenda;
  FabricRoutes routes(fabric);
  FlowNetwork flows(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count());
  PacketNetwork packets(agenda, routes, fabric, flows);
  Messages& network = as_packets ? static_cast<Messages&>(packets) : flows;
  Ends ends(agenda);
  const std::vector<int> to = receivers(fabric.host_count(), arguments[2] == "permutation");
  const double begun        = seconds(usage().ru_utime);
  std::size_t sent          = 0;
  for (int host = 0; host < fabric.host_count(); ++host)
    if (to[static_cast<std::size_t>(host)] != host) {
      network.send(host, to[static_cast<std::size_t>(host)], Bytes(std::stod(arguments[1])), UNKNOWN_PART, ends, sent);
      ++sent;
    }
  while (ends.ended < sent)
    agenda.run_until(agenda.next());
  const rusage used              = usage();
  const double cpu               = seconds(used.ru_utime) - begun;
  const PacketNetwork::Work work = packets.work();
  std::printf(
      "{\"messages\": %zu, \"packets\": %zu, \"hops\": %zu, \"events\": %zu, \"dropped\": %zu, \"pauses\": %zu, "
      "\"cpu_s\": %.6f, \"peak_bytes\": %ld, \"most_packets\": %zu, \"first_s\": %.17g, \"last_s\": %.17g}\n",
      sent, std::size_t{work.packets}, std::size_t{work.hops}, std::size_t{work.events}, std::size_t{work.dropped},
      std::size_t{work.pauses}, cpu, used.ru_maxrss * 1024, work.most_packets, ends.first, ends.last);
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
