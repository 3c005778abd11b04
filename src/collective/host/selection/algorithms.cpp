// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/algorithms.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/host/algorithms/allgather.hpp"
#include "collective/host/algorithms/allreduce.hpp"
#include "collective/host/algorithms/alltoall.hpp"
#include "collective/host/algorithms/barrier.hpp"
#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/algorithms/gather_scatter.hpp"
#include "collective/host/algorithms/neighbor.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/algorithms/reduce_scatter.hpp"
#include "collective/host/algorithms/scan.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/libraries/han.hpp"
#include "collective/host/libraries/mpich.hpp"
#include "collective/host/libraries/nonblocking.hpp"
#include "collective/host/libraries/shared_memory.hpp"
#include "collective/host/libraries/ucc.hpp"
#include "collective/host/steps/halving.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace weft {
namespace {

/** Returns the substitute for calls that do not meet a condition. */
Substitute unless(bool met, std::string_view name, Tuning tuning)
{
  return met ? Substitute{} : Substitute{name, tuning};
}

Substitute unless_power_of_two(const HostCall& call, Tuning tuning)
{
  return unless(is_power_of_two(call.ranks), call.blocking ? "bruck" : "nbc_linear", tuning);
}

Substitute unless_even(const HostCall& call, Tuning tuning)
{
  return unless(call.ranks % 2 == 0, "ring", tuning);
}

Substitute unless_ring(const HostCall& call, Tuning tuning)
{
  return unless(has_one_for_each(call), "recursive_doubling", tuning);
}

Substitute unless_segmented_ring(const HostCall& call, Tuning tuning)
{
  return unless(fills_segmented_ring(call, tuning.segment), "ring", tuning);
}

Substitute unless_scattered(const HostCall& call, Tuning tuning)
{
  return unless(has_one_for_each(call), "basic_linear", tuning);
}

Substitute unless_halves(const HostCall& call, Tuning tuning)
{
  return unless(bcast_is_split(call, tuning.segment), "pipeline", tuning);
}

Substitute unless_halved(const HostCall& call, Tuning tuning)
{
  return unless(can_be_halved(call), call.collective == "allreduce" ? "basic_linear" : "linear", tuning);
}

Substitute unless_commutative(const HostCall& call, Tuning tuning)
{
  return unless(call.commutative, "basic_linear", tuning);
}

Substitute unless_halved_nonblocking(const HostCall& call, Tuning tuning)
{
  if (call.collective == "allreduce")
    return unless(can_be_halved(call), "nbc_ring", tuning);
  if (nbc_reduce_is_chain(call))
    return {"nbc_chain", {NBC_REDUCE_CHAIN_SEGMENT}};
  return unless(can_be_halved(call), "nbc_binomial", tuning);
}

// Names and numbers: coll_tuned_<collective>_algorithm of Open MPI 4.1 (`ompi_info --param coll tuned --level 9`).
// Names of non-blocking algorithms begin with nbc_ and follow coll_libnbc_i<collective>_algorithm.
constexpr auto ALGORITHMS = std::to_array<Algorithm>({
    {"allgather", "linear", 1, allgather_linear},
    {"allgather", "bruck", 2, allgather_bruck},
    {"allgather",
     "recursive_doubling",
     3,
     allgather_recursive_doubling,
     Needs::nothing,
     Library::open_mpi,
     {},
     unless_power_of_two},
    {"allgather", "ring", 4, allgather_ring},
    {"allgather", "neighbor", 5, allgather_neighbor, Needs::nothing, Library::open_mpi, {}, unless_even},
    {"allgather", "two_proc", 6, allgather_two_proc, Needs::two_ranks},
    {"allgather", "nbc_linear", 0, nbc_exchange_linear},
    {"allgather",
     "nbc_recursive_doubling",
     0,
     nbc_allgather_recursive_doubling,
     Needs::nothing,
     Library::open_mpi,
     {},
     unless_power_of_two},
    {"allgather", "han", 0, han_allgather, Needs::nothing, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"allgatherv", "default", 1, allgather_linear},
    {"allgatherv", "bruck", 2, allgather_bruck},
    {"allgatherv", "ring", 3, allgather_ring},
    {"allgatherv", "neighbor", 4, allgather_neighbor, Needs::nothing, Library::open_mpi, {}, unless_even},
    {"allgatherv", "two_proc", 5, allgather_two_proc, Needs::two_ranks},
    {"allgatherv", "nbc_linear", 0, nbc_allgatherv_linear},
    {"allgatherv",
     "recursive_doubling",
     0,
     allgather_recursive_doubling,
     Needs::nothing,
     Library::mpich,
     {},
     unless_power_of_two},
    {"allgatherv", "mpich_ring", 0, mpich::allgatherv_ring, Needs::nothing, Library::mpich},
    {"allreduce", "basic_linear", 1, allreduce_linear},
    {"allreduce", "nonoverlapping", 2, allreduce_nonoverlapping},
    {"allreduce", "recursive_doubling", 3, allreduce_recursive_doubling},
    {"allreduce", "ring", 4, allreduce_ring, Needs::commutative, Library::open_mpi, {}, unless_ring},
    {"allreduce",
     "segmented_ring",
     5,
     allreduce_segmented_ring,
     Needs::commutative,
     Library::open_mpi,
     {},
     unless_segmented_ring},
    {"allreduce", "rabenseifner", 6, allreduce_rabenseifner, Needs::commutative, Library::open_mpi, "basic_linear",
     unless_halved},
    {"allreduce", "nbc_ring", 0, nbc_allreduce_ring, Needs::commutative},
    {"allreduce", "nbc_binomial", 0, nbc_allreduce_binomial},
    {"allreduce",
     "nbc_rabenseifner",
     0,
     nbc_allreduce_rabenseifner,
     Needs::commutative,
     Library::open_mpi,
     {},
     unless_halved_nonblocking},
    {"allreduce", "nbc_recursive_doubling", 0, allreduce_recursive_doubling},
    {"allreduce", "han", 0, han_allreduce, Needs::commutative, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"allreduce", "reduce_scatter_allgather", 0, mpich::allreduce_reduce_scatter_allgather, Needs::commutative,
     Library::mpich},
    {"allreduce", "smp", 0, mpich::allreduce_smp, Needs::commutative, Library::mpich},
    {"allreduce", "release_gather", 0, allreduce_release_gather, Needs::one_host_commutative, Library::mpich},
    {"allreduce", "sm", 0, allreduce_sm, Needs::one_host},
    {"allreduce", "knomial", 0, ucc::allreduce_knomial, Needs::commutative, Library::ucc},
    {"allreduce", "sra_knomial", 0, ucc::allreduce_sra_knomial, Needs::commutative, Library::ucc},
    {"allreduce", "rab", 0, ucc::allreduce_rab, Needs::commutative, Library::ucc},
    {"alltoall", "linear", 1, alltoall_linear},
    {"alltoall", "pairwise", 2, alltoall_pairwise},
    {"alltoall", "modified_bruck", 3, alltoall_bruck},
    {"alltoall", "linear_sync", 4, alltoall_linear},
    {"alltoall", "two_proc", 5, alltoall_two_proc, Needs::two_ranks},
    {"alltoall", "nbc_linear", 0, nbc_exchange_linear},
    {"alltoall", "scattered", 0, mpich::alltoall_scattered, Needs::nothing, Library::mpich},
    {"alltoall", "mpich_pairwise", 0, mpich::alltoall_pairwise, Needs::nothing, Library::mpich},
    {"alltoallv", "basic_linear", 1, alltoall_linear},
    {"alltoallv", "pairwise", 2, alltoall_pairwise},
    {"alltoallv", "nbc_linear", 0, nbc_alltoallv_linear},
    {"alltoallv", "scattered", 0, mpich::alltoall_scattered, Needs::nothing, Library::mpich},
    {"alltoallw", "basic_linear", 0, alltoallw_linear},
    {"alltoallw", "nbc_linear", 0, nbc_alltoallv_linear},
    {"alltoallw", "scattered", 0, mpich::alltoall_scattered, Needs::nothing, Library::mpich},
    {"barrier", "linear", 1, barrier_linear},
    {"barrier", "double_ring", 2, barrier_double_ring},
    {"barrier", "recursive_doubling", 3, barrier_recursive_doubling},
    {"barrier", "bruck", 4, barrier_bruck},
    {"barrier", "two_proc", 5, barrier_two_proc, Needs::two_ranks},
    {"barrier", "tree", 6, barrier_tree},
    {"barrier", "basic_log", 0, barrier_basic_log},
    {"barrier", "knomial", 0, ucc::barrier_knomial, Needs::nothing, Library::ucc},
    {"barrier", "nbc_dissemination", 0, nbc_barrier_dissemination},
    {"barrier", "han", 0, han_barrier, Needs::nothing, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"barrier", "smp", 0, mpich::barrier_smp, Needs::nothing, Library::mpich},
    {"barrier", "release_gather", 0, barrier_release_gather, Needs::one_host, Library::mpich},
    {"barrier", "sm", 0, barrier_sm, Needs::one_host},
    {"bcast", "basic_linear", 1, bcast_linear},
    {"bcast", "chain", 2, bcast_chain},
    {"bcast", "pipeline", 3, bcast_pipeline},
    {"bcast", "split_binary_tree", 4, bcast_split_binary_tree, Needs::nothing, Library::open_mpi, {}, unless_halves},
    {"bcast", "binary_tree", 5, bcast_binary_tree},
    {"bcast", "binomial", 6, bcast_binomial},
    {"bcast", "knomial", 7, bcast_knomial},
    {"bcast", "scatter_allgather", 8, bcast_scatter_allgather, Needs::nothing, Library::open_mpi, {}, unless_scattered},
    {"bcast",
     "scatter_allgather_ring",
     9,
     bcast_scatter_allgather_ring,
     Needs::nothing,
     Library::open_mpi,
     {},
     unless_scattered},
    {"bcast", "nbc_linear", 0, nbc_bcast_linear},
    {"bcast", "nbc_binomial", 0, nbc_bcast_binomial},
    {"bcast", "nbc_chain", 0, nbc_bcast_chain},
    {"bcast", "nbc_knomial", 0, nbc_bcast_knomial},
    {"bcast", "han", 0, han_bcast, Needs::nothing, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"bcast", "mpich_binomial", 0, mpich::bcast_binomial, Needs::nothing, Library::mpich},
    {"bcast", "scatter_recursive_doubling_allgather", 0, mpich::bcast_scatter_recursive_doubling_allgather,
     Needs::nothing, Library::mpich},
    {"bcast", "scatter_ring_allgather", 0, mpich::bcast_scatter_ring_allgather, Needs::nothing, Library::mpich},
    {"bcast", "smp", 0, mpich::bcast_smp, Needs::nothing, Library::mpich},
    {"bcast", "smp_node_first", 0, mpich::bcast_smp_node_first, Needs::nothing, Library::mpich},
    {"bcast", "release_gather", 0, bcast_release_gather, Needs::one_host, Library::mpich},
    {"bcast", "sm", 0, bcast_sm, Needs::one_host},
    {"exscan", "linear", 1, scan_linear},
    {"exscan", "recursive_doubling", 2, scan_recursive_doubling},
    {"exscan", "nbc_linear", 0, scan_linear},
    {"exscan", "nbc_recursive_doubling", 0, scan_recursive_doubling},
    {"gather", "basic_linear", 1, gather_linear},
    {"gather", "binomial", 2, gather_binomial},
    {"gather", "linear_sync", 3, gather_linear_sync},
    {"gather", "nbc_linear", 0, nbc_gather_linear},
    {"gather", "han", 0, han_gather, Needs::nothing, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"gatherv", "basic_linear", 0, gatherv_linear},
    {"gatherv", "nbc_linear", 0, nbc_gather_linear},
    {"gatherv", "mpich_linear", 0, mpich::gatherv_linear, Needs::nothing, Library::mpich},
    {"neighbor_allgather", "basic_linear", 0, neighbor_alternating},
    {"neighbor_allgather", "nbc_linear", 0, neighbor_linear},
    {"neighbor_allgather", "mpich_linear", 0, neighbor_sends_first, Needs::nothing, Library::mpich},
    {"neighbor_allgatherv", "basic_linear", 0, neighbor_alternating},
    {"neighbor_allgatherv", "nbc_linear", 0, neighbor_linear},
    {"neighbor_allgatherv", "mpich_linear", 0, neighbor_sends_first, Needs::nothing, Library::mpich},
    {"neighbor_alltoall", "basic_linear", 0, neighbor_linear},
    {"neighbor_alltoall", "nbc_linear", 0, neighbor_linear},
    {"neighbor_alltoall", "mpich_linear", 0, neighbor_sends_first, Needs::nothing, Library::mpich},
    {"neighbor_alltoallv", "basic_linear", 0, neighbor_linear},
    {"neighbor_alltoallv", "nbc_linear", 0, neighbor_linear},
    {"neighbor_alltoallv", "mpich_linear", 0, neighbor_sends_first, Needs::nothing, Library::mpich},
    {"neighbor_alltoallw", "basic_linear", 0, neighbor_linear},
    {"neighbor_alltoallw", "nbc_linear", 0, neighbor_linear},
    {"neighbor_alltoallw", "mpich_linear", 0, neighbor_sends_first, Needs::nothing, Library::mpich},
    {"reduce", "linear", 1, reduce_linear},
    {"reduce", "chain", 2, reduce_chain, Needs::commutative},
    {"reduce", "pipeline", 3, reduce_pipeline, Needs::commutative},
    {"reduce", "binary", 4, reduce_binary, Needs::commutative},
    {"reduce", "binomial", 5, reduce_binomial, Needs::commutative},
    {"reduce", "in-order_binary", 6, reduce_in_order_binary},
    {"reduce", "rabenseifner", 7, reduce_rabenseifner, Needs::commutative, Library::open_mpi, "linear", unless_halved},
    {"reduce", "basic_log", 0, reduce_basic_log},
    {"reduce", "knomial", 0, ucc::reduce_knomial, Needs::commutative, Library::ucc},
    {"reduce", "nbc_chain", 0, nbc_reduce_chain, Needs::commutative},
    {"reduce", "nbc_binomial", 0, nbc_reduce_binomial},
    {"reduce", "nbc_rabenseifner", 0, nbc_reduce_rabenseifner, Needs::commutative, Library::open_mpi, "nbc_binomial",
     unless_halved_nonblocking},
    {"reduce", "han", 0, han_reduce, Needs::commutative, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"reduce", "mpich_binomial", 0, mpich::reduce_binomial, Needs::nothing, Library::mpich},
    {"reduce", "reduce_scatter_gather", 0, mpich::reduce_reduce_scatter_gather, Needs::commutative, Library::mpich},
    {"reduce", "smp", 0, mpich::reduce_smp, Needs::commutative, Library::mpich},
    {"reduce", "smp_node_last", 0, mpich::reduce_smp_node_last, Needs::commutative, Library::mpich},
    {"reduce", "release_gather", 0, reduce_release_gather, Needs::one_host_commutative, Library::mpich},
    {"reduce", "sm", 0, reduce_sm, Needs::one_host},
    {"reduce_scatter", "non-overlapping", 1, reduce_scatter_nonoverlapping},
    {"reduce_scatter", "recursive_halving", 2, reduce_scatter_recursive_halving, Needs::commutative},
    {"reduce_scatter", "ring", 3, reduce_scatter_ring, Needs::commutative},
    {"reduce_scatter", "butterfly", 4, reduce_scatter_butterfly},
    {"reduce_scatter", "nbc_binomial", 0, nbc_reduce_scatter_binomial},
    {"reduce_scatter", "recursive_doubling", 0, reduce_scatter_recursive_doubling, Needs::nothing, Library::mpich},
    {"reduce_scatter", "noncommutative", 0, mpich::reduce_scatter_noncommutative, Needs::nothing, Library::mpich},
    {"reduce_scatter", "pairwise", 0, mpich::reduce_scatter_pairwise, Needs::commutative, Library::mpich},
    {"reduce_scatter", "two_rings", 0, ucc::reduce_scatter_ring, Needs::commutative, Library::ucc},
    {"reduce_scatter_block", "basic_linear", 1, reduce_scatter_block_linear},
    {"reduce_scatter_block", "recursive_doubling", 2, reduce_scatter_recursive_doubling},
    {"reduce_scatter_block",
     "recursive_halving",
     3,
     reduce_scatter_block_recursive_halving,
     Needs::nothing,
     Library::open_mpi,
     {},
     unless_commutative},
    {"reduce_scatter_block", "butterfly", 4, reduce_scatter_block_butterfly},
    {"reduce_scatter_block", "nbc_binomial", 0, nbc_reduce_scatter_binomial},
    {"reduce_scatter_block", "pairwise", 0, mpich::reduce_scatter_pairwise, Needs::commutative, Library::mpich},
    {"scan", "linear", 1, scan_linear},
    {"scan", "recursive_doubling", 2, scan_recursive_doubling},
    {"scan", "nbc_linear", 0, scan_linear},
    {"scan", "nbc_recursive_doubling", 0, scan_recursive_doubling},
    {"scan", "smp", 0, mpich::scan_smp, Needs::in_order, Library::mpich},
    {"scatter", "basic_linear", 1, scatter_linear},
    {"scatter", "binomial", 2, scatter_binomial},
    {"scatter", "linear_nb", 3, scatter_linear_nonblocking},
    {"scatter", "nbc_linear", 0, nbc_scatter_linear},
    {"scatter", "han", 0, han_scatter, Needs::nothing, Library::open_mpi, {}, nullptr, han_ignores_hosts},
    {"scatterv", "basic_linear", 0, scatterv_linear},
    {"scatterv", "nbc_linear", 0, nbc_scatter_linear},
    {"scatterv", "mpich_linear", 0, mpich::scatterv_linear, Needs::nothing, Library::mpich},
});

template <class Holds> const Algorithm* first_that(Holds&& holds)
{
  const auto* const found = std::ranges::find_if(ALGORITHMS, holds);
  return found == ALGORITHMS.end() ? nullptr : found;
}

} // namespace

std::span<const Algorithm> host_algorithms()
{
  return ALGORITHMS;
}

const Algorithm* find_algorithm(std::string_view collective, std::string_view name)
{
  return first_that([&](const Algorithm& one) { return one.collective == collective && one.name == name; });
}

const Algorithm* find_algorithm(std::string_view collective, int number)
{
  return first_that([&](const Algorithm& one) { return one.collective == collective && one.number == number; });
}

bool can_do(const Algorithm& algorithm, const HostCall& call)
{
  switch (algorithm.needs) {
    case Needs::commutative:
      return call.commutative;
    case Needs::two_ranks:
      return call.ranks == 2;
    case Needs::one_host:
      return is_within_host(call);
    case Needs::one_host_commutative:
      return call.commutative && is_within_host(call);
    case Needs::in_order:
      return (call.nodes ? *call.nodes : Nodes::of(call)).in_order();
    default:
      return true;
  }
}

const Algorithm* fitting(const Algorithm& algorithm, const HostCall& call)
{
  if (can_do(algorithm, call))
    return &algorithm;
  if (not algorithm.otherwise.empty())
    return find_algorithm(algorithm.collective, algorithm.otherwise);
  std::vector<std::string> others;
  for (const Algorithm& one : host_algorithms())
    if (one.collective == algorithm.collective && can_do(one, call))
      others.emplace_back(one.name);
  const bool of_one_host = algorithm.needs == Needs::one_host || algorithm.needs == Needs::one_host_commutative;
  std::string found      = " needs a commutative operation, but this one is not";
  if (of_one_host && not is_within_host(call))
    found = " needs all ranks on one host, but they are on several";
  if (algorithm.needs == Needs::two_ranks)
    found = " needs two ranks, but there are " + std::to_string(call.ranks);
  else if (algorithm.needs == Needs::in_order)
    found = " needs consecutive ranks on each host, which these are not";
  throw UserError("algorithm \"" + std::string(algorithm.name) + "\" for " + std::string(algorithm.collective) + found +
                  "; allowed: " + join(others));
}

std::vector<std::string> algorithms_of(std::string_view collective)
{
  std::vector<std::string> names;
  for (const Algorithm& one : host_algorithms())
    if (one.collective == collective)
      names.emplace_back(one.name);
  return names;
}

const std::vector<std::string>& collectives_with_algorithms()
{
  static const std::vector<std::string> ALL = [] {
    std::set<std::string> names;
    for (const Algorithm& one : host_algorithms())
      names.emplace(one.collective);
    return std::vector<std::string>{names.begin(), names.end()};
  }();
  return ALL;
}

} // namespace weft
