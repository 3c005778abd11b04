// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/host/scheduled_call.hpp"

#include "binding/data/elements.hpp"
#include "binding/data/handles.hpp"
#include "collective/host/selection/between_groups.hpp"

#include <bit>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

Elements bytes_of(int count, MPI_Datatype type)
{
  return count == 0 ? 0 : static_cast<Elements>(count) * static_cast<Elements>(element_size(type));
}

HostCall on_hosts(HostCall call, std::vector<int> hosts)
{
  call.host = [all = std::make_shared<const std::vector<int>>(std::move(hosts))](int rank) {
    return (*all)[static_cast<std::size_t>(rank)];
  };
  return call;
}

/** Returns the size in bytes of a typical block that a rank sends, or receives if it sends none: the mean over all
 * ranks, rounded up to a power of two. */
Elements usual_block(const Sides& sides, int ranks)
{
  const Side& known = sides.gives.peers != Side::Peers::none ? sides.gives : sides.gets;
  if (not known.counts)
    return static_cast<Elements>(std::bit_ceil(static_cast<std::uint64_t>(bytes_of(known.count, known.type))));
  Elements sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    sum += bytes_of(known.counts[rank], known.types ? known.types[rank] : known.type);
  return static_cast<Elements>(std::bit_ceil(static_cast<std::uint64_t>(sum / ranks)));
}

} // namespace

ScheduledCall::Blocks::Blocks(const Side& side, int ranks, bool keep) : side_(side)
{
  std::vector<Elements> kept;
  for (int rank = 0; keep && rank < (side.counts ? ranks : 1); ++rank)
    kept.push_back(of(rank));
  kept_ = std::move(kept);
}

Elements ScheduledCall::Blocks::of(int rank) const
{
  const auto at = static_cast<std::size_t>(rank);
  if (not kept_.empty())
    return kept_[kept_.size() > 1 ? at : 0];
  if (not side_.counts)
    return bytes_of(side_.count, side_.type);
  return bytes_of(side_.counts[at], side_.types ? side_.types[at] : side_.type);
}

ScheduledCall::ScheduledCall(HostNetwork& network, const Communicator& communicator, const HostFallback& fallback,
                             HostCall call, const HostShape& shape)
    : network_(network), call_(fallback.selection().resolved(on_hosts(std::move(call), communicator.rank_hosts))),
      fallback_(fallback), on_end_(communicator.actors.size()), actors_(network, communicator),
      execution_(
          network.agenda(), network.messages_of(communicator.world), network.costs, communicator.rank_hosts,
          [this](int rank) { return steps(rank); }, *this, network.memory)
{
  if (shape.between) {
    between_.resize(communicator.actors.size());
    call_.groups = [this](int rank) -> const BetweenGroups& { return between_[static_cast<std::size_t>(rank)]; };
  } else if (shape.neighborhood) {
    neighborhood_ = shape.neighborhood;
    members_.resize(communicator.actors.size());
    call_.neighbors = [this](int rank) { return neighbors(rank); };
  } else if (shape.parts) {
    parts_.assign(shape.parts, shape.parts + communicator.size());
    call_.block = [this](int from, int to) {
      return parts_[static_cast<std::size_t>(call_.collective == "reduce_scatter" ? to : from)];
    };
  } else if (shape.uneven) {
    members_.resize(communicator.actors.size());
    call_.block = [this](int from, int to) { return block(from, to); };
  }
}

Schedule ScheduledCall::steps(int rank)
{
  Schedule made = choice_.algorithm->schedule(call_, rank, choice_.tuning);
  return tallies_.empty() ? std::move(made) : tallied(std::move(made), tallies_[static_cast<std::size_t>(rank)]);
}

std::string ScheduledCall::algorithm() const
{
  return choice_.name();
}

bool ScheduledCall::choose(const HostShape& shape, int calls)
{
  if (shape.between) {
    choice_.algorithm = algorithm_between_groups(call_.collective);
    call_             = fallback_.resolved(std::move(call_), choice_);
    execution_.work_on(buffers_of_a_rank(call_));
    return choice_.algorithm != nullptr;
  }
  HostCall asked = call_;
  if (shape.uneven && not shape.parts && not neighborhood_ && fallback_.takes_best(call_.collective)) {
    // No rank knows all blocks. The prediction assumes that every block has the mean size of the first rank's blocks,
    // rounded up to a power of two.
    asked.block = {};
    asked.count = usual_block(*shape.sides, call_.ranks);
  }
  choice_ = shape.smpi_refuses ? fallback_.selection().choose_instead(asked) : fallback_.choose(asked, calls);
  call_   = fallback_.resolved(std::move(call_), choice_);
  execution_.work_on(buffers_of_a_rank(call_));
  return choice_.algorithm != nullptr;
}

/** Returns the bytes that @p from sends to @p to. The calling rank, one of the two, has entered the call. */
Elements ScheduledCall::block(int from, int to) const
{
  const Member& giver = members_[static_cast<std::size_t>(from)];
  return giver.inside ? giver.gives.of(to) : members_[static_cast<std::size_t>(to)].gets.of(from);
}

/** Returns the messages of a rank that has entered the call. */
NeighborMessages ScheduledCall::neighbors(int rank) const
{
  const Member& own = members_[static_cast<std::size_t>(rank)];
  NeighborMessages all;
  all.cartesian  = neighborhood_->cartesian();
  all.undirected = neighborhood_->undirected();
  for (int place = 0; const NeighborEdge& edge : neighborhood_->received(rank))
    all.received.push_back({edge.peer, own.gets.of(place++)});
  for (int place = 0; const NeighborEdge& edge : neighborhood_->sent(rank))
    all.sent.push_back({edge.peer, own.gives.of(place++)});
  return all;
}

void ScheduledCall::join(int rank, const HostShape& shape, bool blocks, FlowEnd on_end)
{
  on_end_[static_cast<std::size_t>(rank)] = std::move(on_end);
  if (shape.between)
    between_[static_cast<std::size_t>(rank)] = *shape.between;
  if (not members_.empty()) {
    const bool keep = not blocks;
    const auto size = [&](const Neighborhood::Edges& edges) { return static_cast<int>(edges.size()); };
    const int given = neighborhood_ ? size(neighborhood_->sent(rank)) : call_.ranks;
    const int taken = neighborhood_ ? size(neighborhood_->received(rank)) : call_.ranks;
    members_[static_cast<std::size_t>(rank)] = {
        {shape.sides->gives, given, keep}, {shape.sides->gets, taken, keep}, true};
  }
  actors_.enter(rank, blocks, *this);
  if (entered_++ == 0)
    network_.begin();
  execution_.enter(rank, Seconds(sg::Engine::get_clock()));
}

void ScheduledCall::rank_ended(int rank)
{
  actors_.end(rank, *this);
  if (not members_.empty())
    members_[static_cast<std::size_t>(rank)] = {};
  if (++ended_ == call_.ranks)
    network_.end(shared_from_this());
  if (const FlowEnd on_end =
          std::exchange(on_end_[static_cast<std::size_t>(rank)], nullptr)) // null: the call has failed
    on_end({});
}

void ScheduledCall::call_failed(const std::string& why)
{
  for (FlowEnd& one : on_end_)
    if (const FlowEnd on_end = std::exchange(one, nullptr))
      on_end({why});
}

std::shared_ptr<ScheduledCall> make_scheduled_call(HostNetwork& network, const Communicator& communicator,
                                                   const HostFallback& fallback, HostCall call, const HostShape& shape)
{
  const auto scheduled = std::make_shared<ScheduledCall>(network, communicator, fallback, std::move(call), shape);
  return scheduled->choose(shape, communicator.calls_in_a_row) ? scheduled : nullptr;
}

} // namespace weft
