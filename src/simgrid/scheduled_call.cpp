// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/scheduled_call.hpp"

#include "simgrid/described.hpp"
#include "simgrid/elements.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

Elements bytes_of(int count, MPI_Datatype type)
{
  return count == 0 ? 0 : static_cast<Elements>(count) * static_cast<Elements>(element_size(type));
}

} // namespace

/** Of its block for @p rank, or from it. */
Elements ScheduledCall::Blocks::of(int rank) const
{
  const auto at = static_cast<std::size_t>(rank);
  if (not kept.empty())
    return kept[at];
  if (not side.counts)
    return bytes_of(side.count, side.type);
  return bytes_of(side.counts[at], side.types ? side.types[at] : side.type);
}

ScheduledCall::ScheduledCall(HostNetwork& network, const Communicator& communicator, const HostFallback& fallback,
                             HostCall call, const HostShape& shape)
    : network_(network), call_(fallback.selection().resolved(std::move(call))), fallback_(fallback),
      hosts_(communicator.rank_hosts), on_end_(communicator.actors.size()),
      execution_(
          network.agenda(), network.messages(), network.costs, communicator.rank_hosts,
          [this](int rank) { return choice_.algorithm->schedule(call_, rank, choice_.tuning); }, *this)
{
  call_.host = [this](int rank) { return hosts_[static_cast<std::size_t>(rank)]; };
  if (shape.parts) {
    parts_.assign(shape.parts, shape.parts + communicator.size());
    call_.block = [this](int from, int to) {
      return parts_[static_cast<std::size_t>(call_.collective == "reduce_scatter" ? to : from)];
    };
  } else if (shape.uneven) {
    members_.resize(communicator.actors.size());
    call_.block = [this](int from, int to) { return block(from, to); };
  }
}

bool ScheduledCall::choose()
{
  choice_ = fallback_.choose(call_);
  return choice_.algorithm != nullptr;
}

/** A rank that asks is in the call. */
Elements ScheduledCall::block(int from, int to) const
{
  const Member& giver = members_[static_cast<std::size_t>(from)];
  return giver.inside ? giver.gives.of(to) : members_[static_cast<std::size_t>(to)].gets.of(from);
}

void ScheduledCall::join(int rank, const HostShape& shape, bool blocks, FlowEnd on_end)
{
  on_end_[static_cast<std::size_t>(rank)] = std::move(on_end);
  if (not members_.empty()) {
    Member& member = members_[static_cast<std::size_t>(rank)];
    member         = {{shape.sides->gives, {}}, {shape.sides->gets, {}}, true};
    for (Blocks* its : {&member.gives, &member.gets}) {
      if (blocks || not its->side.counts)
        continue;
      std::vector<Elements> kept;
      for (int other = 0; other < call_.ranks; ++other)
        kept.push_back(its->of(other));
      its->kept = std::move(kept);
    }
  }
  execution_.enter(rank, Seconds(sg::Engine::get_clock()));
  network_.wake();
}

void ScheduledCall::rank_ended(int rank)
{
  if (not members_.empty())
    members_[static_cast<std::size_t>(rank)] = {};
  if (++ended_ == call_.ranks)
    network_.retire(shared_from_this());
  const FlowEnd on_end = std::exchange(on_end_[static_cast<std::size_t>(rank)], nullptr);
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
  return scheduled->choose() ? scheduled : nullptr;
}

} // namespace weft
