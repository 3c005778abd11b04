// SPDX-License-Identifier: LGPL-2.1-only
/* Throughput of the flow network in messages: one collective on the hosts, without SimGrid.
 *
 *   network_benchmark FABRIC RANKS COLLECTIVE ALGORITHM BYTES in-order|random MESSAGES [TABLE.KEY=VALUE ...]
 *
 * There is one rank per host, in host order or placed at random. The program stops after the call or after MESSAGES
 * messages, whichever comes first. It prints messages, flows, solves, CPU seconds of the simulation, peak RSS in bytes,
 * simulated time and a checksum of the times at which ranks end.
 */
#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "fabric/fabric.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"

#include "usage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

/** Counts the ranks that have ended, and sums their end times. */
class Ends : public RankCallbacks {
  const Agenda& agenda_;

public:
  int ended  = 0;
  double sum = 0;
  explicit Ends(const Agenda& agenda) : agenda_(agenda) {}
  void rank_ended(int /*rank*/) override
  {
    ++ended;
    sum += agenda_.now().value();
  }
};

std::vector<int> placed(int ranks, bool at_random)
{
  std::vector<int> hosts(static_cast<std::size_t>(ranks));
  std::iota(hosts.begin(), hosts.end(), 0);
  std::mt19937 random(1);
  for (std::size_t last = hosts.size(); at_random && --last > 0;)
    std::swap(hosts[last], hosts[random() % (last + 1)]);
  return hosts;
}

HostCall call_of(const std::string& collective, int ranks, double bytes)
{
  const bool combines = collective == "allreduce";
  HostCall call;
  call.collective = collective;
  call.ranks      = ranks;
  call.element    = Bytes(combines ? 4 : 1);
  call.count      = static_cast<Elements>(bytes / call.element.value());
  return call;
}

int run(const std::vector<std::string>& arguments)
{
  constexpr std::size_t NEEDED = 7;
  if (arguments.size() < NEEDED) {
    std::fputs("usage: network_benchmark FABRIC RANKS COLLECTIVE ALGORITHM BYTES in-order|random MESSAGES "
               "[TABLE.KEY=VALUE ...]\n",
               stderr);
    return 2;
  }
  const Fabric fabric = Fabric::load(arguments[0], {arguments.begin() + NEEDED, arguments.end()});
  const int ranks     = std::stoi(arguments[1]);
  const HostCall call = call_of(arguments[2], ranks, std::stod(arguments[4]));
  const auto most     = static_cast<std::size_t>(std::stod(arguments[6]));

  const Algorithm* const algorithm = find_algorithm(arguments[2], arguments[3]);
  if (algorithm == nullptr) {
    std::fprintf(stderr, "no algorithm %s of %s\n", arguments[3].c_str(), arguments[2].c_str());
    return 2;
  }
  Agenda agenda;
  FabricRoutes ways(fabric);
  FlowNetwork network(agenda, ways, FabricRoutes::capacities(fabric), fabric.host_count());
  const MessageCosts costs = costs_of(fabric.mpi().value_or(MpiModel()), fabric.host());
  Ends ends(agenda);
  const auto schedule = [&](int rank) { return algorithm->schedule(call, rank, {}); };
  Execution execution(agenda, network, costs, placed(ranks, arguments[5] == "random"), schedule, ends);
  const double begun = seconds(usage().ru_utime);
  for (int rank = 0; rank < ranks; ++rank)
    execution.enter(rank, Seconds());
  while (ends.ended < ranks && network.work().messages < most)
    agenda.run_until(agenda.next());
  const rusage used = usage();
  const double cpu  = seconds(used.ru_utime) - begun;
  const auto work   = network.work();
  std::printf("{\"messages\": %zu, \"flows\": %zu, \"solves\": %zu, \"cpu_s\": %.6f, \"peak_bytes\": %ld, "
              "\"simulated_s\": %.17g, \"ends\": %d, \"ends_sum\": %.17g}\n",
              work.messages, work.flows, work.solved, cpu, used.ru_maxrss * 1024, agenda.now().value(), ends.ended,
              ends.sum);
  return 0;
}

} // namespace
} // namespace weft

int main(int argc, char** argv)
{
  try {
    return weft::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network_benchmark: %s\n", error.what());
    return 1;
  }
}
