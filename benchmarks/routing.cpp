// SPDX-License-Identifier: LGPL-2.1-only
// Queries SimGrid for the route between two different hosts, as a message does: `routing ROUTES`. Requires a rank on
// each host, because SimGrid has no other hosts. The first rank queries.
#include <cstdint>
#include <cstdlib>
#include <mpi.h>
#include <simgrid/s4u.hpp>
#include <vector>

namespace sg = simgrid::s4u;

static void route(const std::vector<sg::Host*>& hosts, int routes)
{
  std::uint64_t state = 1;
  const auto draw     = [&state](std::size_t below) { // Knuth's 64-bit generator
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  std::vector<sg::Link*> links;
  for (int i = 0; i < routes; ++i) {
    const std::size_t from = draw(hosts.size());
    const std::size_t to   = (from + 1 + draw(hosts.size() - 1)) % hosts.size();
    double latency         = 0;
    links.clear();
    hosts[from]->route_to(hosts[to], links, &latency);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    route(sg::Engine::get_instance()->get_all_hosts(), argc > 1 ? std::atoi(argv[1]) : 0);
  MPI_Finalize();
}
