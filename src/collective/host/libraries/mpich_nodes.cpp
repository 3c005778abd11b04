// SPDX-License-Identifier: LGPL-2.1-only
/* Composition of calls in MPICH's device ch4 if ranks share hosts: within each host, between the
 * first ranks of all hosts, within each host again (src/mpid/ch4/src/ch4_coll_impl.h; for
 * non-blocking calls src/mpi/coll/i<collective>/i<collective>_intra_sched_smp.c). */
#include "collective/host/algorithms/barrier.hpp"
#include "collective/host/algorithms/scan.hpp"
#include "collective/host/libraries/mpich.hpp"
#include "collective/host/steps/within_nodes.hpp"

namespace weft::mpich {
Schedule allreduce_smp(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  co_yield locally(call, stand, "reduce", 0, reduce_binomial);
  if (stand.leads())
    co_yield between(call, stand, "allreduce", 0, allreduce_reduce_scatter_allgather);
  co_yield locally(call, stand, "bcast", 0, bcast_binomial);
}

Schedule barrier_smp(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  co_yield locally(call, stand, "barrier", 0, barrier_bruck);
  if (stand.leads())
    co_yield between(call, stand, "barrier", 0, barrier_bruck);
  HostCall one_byte = call;
  one_byte.element  = Bytes(1);
  one_byte.count    = 1;
  co_yield locally(one_byte, stand, "bcast", 0, bcast_binomial);
}

Schedule bcast_smp(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  const int root_place = stand.place_of(call.root);
  if (stand.node == stand.node_of(call.root) && root_place > 0) {
    if (rank == call.root)
      co_yield send(stand.local.front(), call.bytes(call.count));
    else if (stand.leads())
      co_yield recv(call.root, call.bytes(call.count));
  }
  if (stand.leads())
    co_yield between(call, stand, "bcast", stand.node_of(call.root), bcast_binomial);
  if (not call.blocking)
    co_yield wait_all();
  co_yield locally(call, stand, "bcast", 0, bcast_binomial);
}

Schedule bcast_smp_node_first(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  const int root_place = stand.place_of(call.root);
  const bool first     = stand.node == stand.node_of(call.root) && root_place > 0;
  if (first)
    co_yield locally(call, stand, "bcast", root_place, bcast_binomial);
  if (stand.leads())
    co_yield between(call, stand, "bcast", stand.node_of(call.root), bcast_binomial);
  if (not first)
    co_yield locally(call, stand, "bcast", 0, bcast_binomial);
}

Schedule reduce_smp(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  co_yield locally(call, stand, "reduce", 0, reduce_binomial);
  if (stand.leads())
    co_yield between(call, stand, "reduce", 0, reduce_binomial);
  if (call.root == 0)
    co_return;
  if (rank == 0)
    co_yield send(call.root, call.bytes(call.count));
  else if (rank == call.root)
    co_yield recv(0, call.bytes(call.count));
}

Schedule reduce_smp_node_last(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  const bool with_root = stand.node == stand.node_of(call.root);
  if (not with_root)
    co_yield locally(call, stand, "reduce", 0, reduce_binomial);
  if (stand.leads())
    co_yield between(call, stand, "reduce", stand.node_of(call.root), reduce_binomial);
  if (with_root)
    co_yield locally(call, stand, "reduce", stand.place_of(call.root), reduce_binomial);
}

Schedule scan_smp(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  const Bytes vector = call.bytes(call.count);
  const int last     = stand.local.back();
  co_yield locally(call, stand, "scan", 0, scan_recursive_doubling);
  // The first rank of each host gets the sum over its host, then the sum over all previous hosts.
  if (rank == last && not stand.leads())
    co_yield send(stand.local.front(), vector);
  if (stand.leads()) {
    if (last != rank)
      co_yield recv(last, vector);
    co_yield between(call, stand, "scan", 0, scan_recursive_doubling);
    if (stand.node + 1 < stand.nodes->number())
      co_yield send(stand.nodes->ranks[static_cast<std::size_t>(stand.node) + 1].front(), vector);
    if (stand.node > 0)
      co_yield recv(stand.nodes->ranks[static_cast<std::size_t>(stand.node) - 1].front(), vector);
  }
  if (call.blocking) { // an int that tells whether there is a prefix to add
    HostCall word = call;
    word.element  = Bytes(4);
    word.count    = 1;
    co_yield locally(word, stand, "bcast", 0, bcast_binomial);
  }
  if (stand.node == 0)
    co_return;
  co_yield locally(call, stand, "bcast", 0, bcast_binomial);
  co_yield reduce(vector);
}

} // namespace weft::mpich
