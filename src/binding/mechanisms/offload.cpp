// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/offload.hpp"

#include <utility>

namespace weft {

OffloadedCall::OffloadedCall(RunContext& context, const std::shared_ptr<Communicator>& communicator,
                             const CallDescriptor& call, std::size_t fixed_point_block)
    : on_end_(static_cast<std::size_t>(communicator->size())), context_(context), communicator_(communicator),
      descriptor_(call), parts_(call.part_sizes()),
      exchange_(Exchange::create({call.movement(), call.ranks, call.root, parts_, fixed_point_block}))
{
}

MayChange OffloadedCall::changing(bool stay) const
{
  if (not stay)
    return MayChange::all;
  return descriptor_->blocking ? MayChange::nothing : MayChange::arrays;
}

void OffloadedCall::contribute(int rank, RankBuffers buffers, bool stay, MPI_Op operation)
{
  buffers.send    = address(buffers.send);
  buffers.receive = address(buffers.receive);
  exchange_->give(rank, buffers, changing(stay));
  given(rank, buffers);
  if (++given_ == communicator_->size()) {
    exchange_->combine(operation);
    // SimGrid's kernel completes requests, but must not run SMPI's copies. A rank that blocks fetches its result after
    // it has woken, when its memory is accessible.
    for (int other = 0; not descriptor_->blocking && other < communicator_->size(); ++other)
      deliver(other);
  }
  enter(rank);
}

void OffloadedCall::end(int rank, const FlowResult& result)
{
  // The callback may own this object.
  const CallEnd on_end = std::exchange(on_end_[static_cast<std::size_t>(rank)], nullptr);
  on_end(result);
}

void OffloadedCall::fail(const FlowResult& result)
{
  const auto self = shared_from_this();
  for (int rank = 0; rank < communicator_->size(); ++rank)
    if (on_end_[static_cast<std::size_t>(rank)])
      end(rank, result);
}

FlowEnd OffloadedCall::arrival(std::function<void()> next)
{
  return [self = shared_from_this(), next = std::move(next)](const FlowResult& result) {
    if (result.arrived())
      next();
    else if (result.left > 0)
      self->broken(result);
    else
      self->fail(result);
  };
}

} // namespace weft
