// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/host_stage.hpp"

#include "base/error.hpp"
#include "collective/host/steps/within_nodes.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

const Algorithm* algorithm_of(const std::string& collective, const std::string& name, const std::string& place)
{
  if (const Algorithm* const found = find_algorithm(collective, name))
    return found;
  const std::vector<std::string> known = algorithms_of(collective);
  throw UserError(place + ": found \"" + name + "\"; " + did_you_mean(name, known) + "allowed: an algorithm for " +
                  collective + " (`weft collectives list`): " + join(known));
}

/** Schedule of one message between two ranks. */
Schedule hand_over(int from, int to, Bytes bytes, int rank)
{
  if (from == to)
    co_return;
  if (rank == from)
    co_yield send(to, bytes);
  else if (rank == to)
    co_yield recv(from, bytes);
}

Schedule nothing()
{
  co_return;
}

int place_among(const std::vector<int>& ranks, int rank)
{
  return static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin());
}

} // namespace

HostStageAlgorithms HostStageAlgorithms::of(const NicModel& nic)
{
  return {algorithm_of("reduce", nic.host_reduce, nic.host_reduce_place),
          algorithm_of("bcast", nic.host_bcast, nic.host_bcast_place)};
}

HostStageCall host_stage_call(const CallDescriptor& call)
{
  HostStageCall work{.movement    = call.movement(),
                     .root        = call.root,
                     .message     = call.vector(),
                     .commutative = call.commutative(),
                     .parts       = call.part_sizes(),
                     .buffers     = buffers_of_a_rank(host_call(call))};
  if (call.type && call.type->size > 0)
    work.element = Bytes(static_cast<double>(call.type->size));
  return work;
}

HostStage::Way::Way(HostStage& its_stage, Schedule (HostStage::*steps)(int rank) const,
                    void (HostStage::*ended)(int rank), Agenda& agenda, Messages& network, const MessageCosts& costs,
                    const std::vector<int>& hosts, const std::shared_ptr<Execution::Memory>& memory)
    : stage(its_stage), when_ended(ended),
      execution(
          agenda, network, costs, hosts, [&its_stage, steps](int rank) { return (its_stage.*steps)(rank); }, *this,
          memory)
{
  execution.work_on(its_stage.call_.buffers);
}

HostStage::HostStage(Agenda& agenda, Messages& network, const MessageCosts& costs, const std::vector<int>& hosts,
                     Members members, HostStageAlgorithms algorithms, HostStageCall call, Listener& listener,
                     const std::shared_ptr<Execution::Memory>& memory)
    : all_(members), algorithms_(algorithms), call_(std::move(call)), listener_(listener), agenda_(agenda),
      members_(members.ranks.size()),
      up_(*this, &HostStage::give, &HostStage::given, agenda, network, costs, hosts, memory),
      down_(*this, &HostStage::get, &HostStage::got, agenda, network, costs, hosts, memory)
{
}

const std::vector<int>& HostStage::ranks_of(int rank) const
{
  return all_.ranks[static_cast<std::size_t>(all_.of_rank[static_cast<std::size_t>(rank)])];
}

/** Returns a call of @p collective with the whole vector among the ranks of a host; the first rank is the root. */
HostCall HostStage::among_host(std::string_view collective, std::size_t ranks) const
{
  HostCall call;
  call.collective  = collective;
  call.ranks       = static_cast<int>(ranks);
  call.within_host = true;
  call.commutative = call_.commutative;
  call.element     = call_.element;
  call.count       = static_cast<Elements>(call_.message / call_.element);
  if (call_.movement.gives == Share::nothing) { // an empty message
    call.element = Bytes();
    call.count   = 1;
  }
  return call;
}

/** Returns the steps of a Gather or Scatter of the parts of a host's ranks. */
Schedule HostStage::in_parts(std::string_view collective, int rank) const
{
  const std::vector<int>& ranks = ranks_of(rank);
  HostCall call                 = among_host(collective, ranks.size());
  call.element                  = Bytes(1);
  call.block                    = [this, &ranks, gathers = collective == "gatherv"](int from, int to) {
    const int whose = ranks[static_cast<std::size_t>(gathers ? from : to)];
    return static_cast<Elements>(call_.parts[static_cast<std::size_t>(whose)]);
  };
  return among(std::span(ranks), std::move(call), place_among(ranks, rank),
               find_algorithm(collective, "basic_linear")->schedule);
}

/** Returns the steps of a rank until the leader of its host holds the host's contribution. */
Schedule HostStage::give(int rank) const
{
  const std::vector<int>& ranks = ranks_of(rank);
  if (ranks.size() == 1)
    return nothing();
  if (call_.movement.senders == Participants::root) {
    const bool here = std::ranges::count(ranks, call_.root) > 0;
    return here ? hand_over(call_.root, ranks.front(), call_.message, rank) : nothing();
  }
  if (not call_.movement.combines)
    return in_parts("gatherv", rank);
  const HostCall call = among_host("reduce", ranks.size());
  // Combines in rank order, for non-commutative operations.
  static const Algorithm& linear = *find_algorithm("reduce", "linear");
  const Algorithm& reduce        = can_do(*algorithms_.reduce, call) ? *algorithms_.reduce : linear;
  return among(std::span(ranks), call, place_among(ranks, rank), reduce.schedule);
}

/** Returns the steps of a rank once the leader of its host holds the result. */
Schedule HostStage::get(int rank) const
{
  const std::vector<int>& ranks = ranks_of(rank);
  if (ranks.size() == 1)
    return nothing();
  if (call_.movement.receivers == Participants::root) {
    const bool here = std::ranges::count(ranks, call_.root) > 0;
    return here ? hand_over(ranks.front(), call_.root, call_.message, rank) : nothing();
  }
  if (not call_.movement.copies())
    return in_parts("scatterv", rank);
  std::vector<int> receivers = ranks;
  if (call_.movement.senders == Participants::root && call_.root != ranks.front()) // the root has its own data
    std::erase(receivers, call_.root);
  const int place = place_among(receivers, rank);
  if (std::cmp_equal(place, receivers.size()))
    return nothing();
  const HostCall call = among_host("bcast", receivers.size());
  return among(std::move(receivers), call, place, fitting(*algorithms_.bcast, call)->schedule);
}

void HostStage::enter(int rank, Seconds now)
{
  const int member = all_.of_rank[static_cast<std::size_t>(rank)];
  ++members_[static_cast<std::size_t>(member)].entered;
  up_.execution.enter(rank, now);
  tell_if_together(member); // the leader of a Bcast needs no data from other ranks
}

void HostStage::make_progress(int rank)
{
  up_.execution.make_progress(rank);
  down_.execution.make_progress(rank);
}

void HostStage::given(int rank)
{
  const int member = all_.of_rank[static_cast<std::size_t>(rank)];
  if (rank != ranks_of(rank).front()) {
    down_.execution.enter(rank, agenda_.now());
    return;
  }
  members_[static_cast<std::size_t>(member)].together = true;
  tell_if_together(member);
}

void HostStage::tell_if_together(int member)
{
  const Member& its = members_[static_cast<std::size_t>(member)];
  if (its.together && std::cmp_equal(its.entered, all_.ranks[static_cast<std::size_t>(member)].size()))
    listener_.contributed(member);
}

void HostStage::got(int rank)
{
  Member& its = members_[static_cast<std::size_t>(all_.of_rank[static_cast<std::size_t>(rank)])];
  if (its.delivered)
    listener_.rank_ended(rank);
  else
    its.waiting.push_back(rank);
}

void HostStage::deliver(int member, Seconds now)
{
  Member& its   = members_[static_cast<std::size_t>(member)];
  its.delivered = true;
  down_.execution.enter(all_.ranks[static_cast<std::size_t>(member)].front(), now);
  for (const int rank : std::exchange(its.waiting, {}))
    listener_.rank_ended(rank);
}

} // namespace weft
