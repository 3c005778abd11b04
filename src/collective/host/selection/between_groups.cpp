// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/between_groups.hpp"

#include "collective/host/algorithms/allgather.hpp"
#include "collective/host/algorithms/barrier.hpp"
#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/algorithms/gather_scatter.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/steps/within_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace weft {
namespace {

Bytes as_bytes(Elements bytes)
{
  return Bytes(static_cast<double>(bytes));
}

Elements sum_of(const std::vector<Elements>& all)
{
  return std::accumulate(all.begin(), all.end(), Elements{0});
}

bool is_in_own_group(const BetweenGroups& its, int rank)
{
  return rank >= its.own_begin && rank < its.own_begin + its.own_size;
}

/** One rank's position in a call. */
struct GroupPosition {
  const HostCall& call;
  const BetweenGroups& its;
  int rank;

  GroupPosition(const HostCall& of, int own) : call(of), its(of.groups(own)), rank(own) {}
  int place() const { return rank - its.own_begin; }
  bool leads() const { return rank == its.own_begin; }
  int other_leader() const { return its.other_begin; }
  /** Returns whether the root is in the remote group. */
  bool gets_from_root() const { return its.root >= 0 && not is_in_own_group(its, its.root); }
  /** Returns whether this rank does nothing: the root is another rank of its group. */
  bool is_idle() const { return its.root == BetweenGroups::NO_ROOT; }

  /** Returns a call of @p collective in the local group, rooted at its first rank. */
  HostCall local_call(std::string_view collective, Elements bytes) const
  {
    HostCall part = part_of(call, collective, static_cast<std::size_t>(its.own_size), 0);
    part.element  = Bytes(1);
    part.count    = bytes;
    if (call.host)
      part.host = [host = call.host, begin = its.own_begin](int place) { return host(begin + place); };
    return part;
  }
  Schedule locally(HostCall part, MakeSchedule otherwise) const
  {
    std::vector<int> ranks(static_cast<std::size_t>(its.own_size));
    std::iota(ranks.begin(), ranks.end(), its.own_begin);
    return among(std::move(ranks), std::move(part), place(), otherwise);
  }
  Schedule locally(std::string_view collective, Elements bytes, MakeSchedule otherwise) const
  {
    return locally(local_call(collective, bytes), otherwise);
  }
};

/** The first ranks exchange their groups' contributions. */
Schedule exchange_of_leaders(GroupPosition self, Elements given, Elements got)
{
  if (self.leads())
    co_yield send_receive(self.other_leader(), as_bytes(given), self.other_leader(), as_bytes(got));
}

Schedule barrier_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  co_yield self.locally("barrier", 0, barrier_bruck);
  co_yield exchange_of_leaders(self, 1, 1);
  co_yield self.locally("bcast", 1, bcast_binomial);
}

Schedule bcast_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  if (self.is_idle())
    co_return;
  if (not self.gets_from_root()) {
    co_yield send(self.other_leader(), as_bytes(self.its.gives));
    co_return;
  }
  if (self.leads())
    co_yield recv(self.its.root, as_bytes(self.its.gets));
  co_yield self.locally("bcast", self.its.gets, bcast_binomial);
}

Schedule reduce_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  if (self.is_idle())
    co_return;
  if (not self.gets_from_root()) {
    co_yield recv(self.other_leader(), as_bytes(self.its.gets));
    co_return;
  }
  co_yield self.locally("reduce", self.its.gives, reduce_binomial);
  if (self.leads())
    co_yield send(self.its.root, as_bytes(self.its.gives));
}

/** Largest size of all blocks for which MPICH's Gather and Scatter go through the first rank
 * (MPIR_CVAR_GATHER_INTER_SHORT_MSG_SIZE, MPIR_CVAR_SCATTER_INTER_SHORT_MSG_SIZE). */
constexpr Elements SHORT = 2048;

Schedule receive_from_all(GroupPosition self)
{
  for (int other = 0; other < self.its.other_size; ++other) {
    const Elements bytes = self.its.from.empty() ? self.its.gets : self.its.from[static_cast<std::size_t>(other)];
    co_yield irecv(self.its.other_begin + other, as_bytes(bytes));
  }
  co_yield wait_all();
}

Schedule send_to_all(GroupPosition self)
{
  for (int other = 0; other < self.its.other_size; ++other) {
    const Elements bytes = self.its.to.empty() ? self.its.gives : self.its.to[static_cast<std::size_t>(other)];
    co_yield isend(self.its.other_begin + other, as_bytes(bytes));
  }
  co_yield wait_all();
}

Schedule gatherv_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  if (self.gets_from_root())
    co_yield send(self.its.root, as_bytes(self.its.gives));
  else if (not self.is_idle())
    co_yield receive_from_all(self);
}

Schedule scatterv_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  if (self.gets_from_root())
    co_yield recv(self.its.root, as_bytes(self.its.gets));
  else if (not self.is_idle())
    co_yield send_to_all(self);
}

Schedule gather_between(const HostCall& call, int rank, Tuning tuning)
{
  const GroupPosition self(call, rank);
  if (self.is_idle())
    co_return;
  const bool gives     = self.gets_from_root();
  const Elements total = gives ? self.its.gives * self.its.own_size : self.its.gets * self.its.other_size;
  if (total >= SHORT) {
    co_yield gatherv_between(call, rank, tuning);
  } else if (gives) {
    co_yield self.locally("gather", self.its.gives, gather_binomial);
    if (self.leads())
      co_yield send(self.its.root, as_bytes(total));
  } else {
    co_yield recv(self.other_leader(), as_bytes(total));
  }
}

Schedule scatter_between(const HostCall& call, int rank, Tuning tuning)
{
  const GroupPosition self(call, rank);
  if (self.is_idle())
    co_return;
  const bool gets      = self.gets_from_root();
  const Elements total = gets ? self.its.gets * self.its.own_size : self.its.gives * self.its.other_size;
  if (total >= SHORT) {
    co_yield scatterv_between(call, rank, tuning);
  } else if (gets) {
    if (self.leads())
      co_yield recv(self.its.root, as_bytes(total));
    co_yield self.locally("scatter", self.its.gets, scatter_binomial);
  } else {
    co_yield send(self.other_leader(), as_bytes(total));
  }
}

Schedule allgather_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  const Elements got = self.its.gets * self.its.other_size;
  co_yield self.locally("gather", self.its.gives, gather_binomial);
  co_yield exchange_of_leaders(self, self.its.gives * self.its.own_size, got);
  co_yield self.locally("bcast", got, bcast_binomial);
}

/** Each rank sends its block to the first rank of the remote group, which broadcasts all blocks. */
Schedule allgatherv_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  const Request sent = co_yield isend(self.other_leader(), as_bytes(self.its.gives));
  if (self.leads())
    co_yield receive_from_all(self);
  else
    co_yield wait(sent);
  co_yield self.locally("bcast", sum_of(self.its.from), bcast_binomial);
}

Schedule allreduce_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  co_yield self.locally("reduce", self.its.gives, reduce_binomial);
  co_yield exchange_of_leaders(self, self.its.gives, self.its.gets);
  co_yield self.locally("bcast", self.its.gets, bcast_binomial);
}

Schedule reduce_scatter_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  co_yield self.locally("reduce", self.its.gives, reduce_binomial);
  co_yield exchange_of_leaders(self, self.its.gives, self.its.gives);
  if (self.its.parts.empty()) { // MPI_Reduce_scatter_block
    co_yield self.locally("scatter", self.its.gets, scatter_binomial);
    co_return;
  }
  HostCall part = self.local_call("scatterv", 0);
  part.block    = [parts = self.its.parts](int /*from*/, int to) { return parts[static_cast<std::size_t>(to)]; };
  co_yield self.locally(std::move(part), scatterv_linear);
}

/** In each round, a rank sends to one rank of the remote group and receives from one. */
Schedule alltoall_between(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const GroupPosition self(call, rank);
  const BetweenGroups& its = self.its;
  const int rounds         = std::max(its.own_size, its.other_size);
  for (int round = 0; round < rounds; ++round) {
    const int from = (self.place() + rounds - round) % rounds;
    const int to   = (self.place() + round) % rounds;
    Request coming = -1;
    if (from < its.other_size)
      coming = co_yield irecv(its.other_begin + from,
                              as_bytes(its.from.empty() ? its.gets : its.from[static_cast<std::size_t>(from)]));
    if (to < its.other_size)
      co_yield send(its.other_begin + to, as_bytes(its.to.empty() ? its.gives : its.to[static_cast<std::size_t>(to)]));
    if (coming >= 0)
      co_yield wait(coming);
  }
}

constexpr auto BETWEEN_GROUPS = std::to_array<Algorithm>({
    {"allgather", "inter_gather_exchange_bcast", 0, allgather_between, Needs::nothing, Library::mpich},
    {"allgatherv", "inter_remote_gather_bcast", 0, allgatherv_between, Needs::nothing, Library::mpich},
    {"allreduce", "inter_reduce_exchange_bcast", 0, allreduce_between, Needs::nothing, Library::mpich},
    {"alltoall", "inter_pairwise", 0, alltoall_between, Needs::nothing, Library::mpich},
    {"alltoallv", "inter_pairwise", 0, alltoall_between, Needs::nothing, Library::mpich},
    {"alltoallw", "inter_pairwise", 0, alltoall_between, Needs::nothing, Library::mpich},
    {"barrier", "inter_barrier_exchange_bcast", 0, barrier_between, Needs::nothing, Library::mpich},
    {"bcast", "inter_send_bcast", 0, bcast_between, Needs::nothing, Library::mpich},
    {"gather", "inter_gather_send", 0, gather_between, Needs::nothing, Library::mpich},
    {"gatherv", "inter_linear", 0, gatherv_between, Needs::nothing, Library::mpich},
    {"reduce", "inter_reduce_send", 0, reduce_between, Needs::nothing, Library::mpich},
    {"reduce_scatter", "inter_reduce_exchange_scatter", 0, reduce_scatter_between, Needs::nothing, Library::mpich},
    {"scatter", "inter_send_scatter", 0, scatter_between, Needs::nothing, Library::mpich},
    {"scatterv", "inter_linear", 0, scatterv_between, Needs::nothing, Library::mpich},
});

} // namespace

const Algorithm* algorithm_between_groups(std::string_view collective)
{
  const auto* const found = std::ranges::find(BETWEEN_GROUPS, collective, &Algorithm::collective);
  return found == BETWEEN_GROUPS.end() ? nullptr : found;
}

} // namespace weft
