#include "simgrid/offload.hpp"

#include "simgrid/transfer.hpp"

#include <numeric>
#include <simgrid/s4u.hpp>
#include <simgrid/simcall.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

std::vector<double> parts_of(int ranks, const Described& described)
{
  std::vector<double> parts;
  const CallSignature& signature = described.signature;
  if (described.movement->in_parts()) {
    parts.assign(static_cast<std::size_t>(ranks), static_cast<double>(described.message) / ranks);
    for (std::size_t rank = 0; rank < signature.parts.size(); ++rank)
      parts[rank] = static_cast<double>(signature.parts[rank]) * static_cast<double>(signature.part_size);
  } else if (described.movement->givers == Who::root) {
    parts.resize(static_cast<std::size_t>(ranks));
    parts[static_cast<std::size_t>(signature.root)] = static_cast<double>(described.message);
  }
  return parts;
}

TreeCall tree_call(const Communicator& communicator, const Described& described, const std::vector<double>& parts)
{
  const CallSignature& signature = described.signature;
  TreeCall call{*described.movement, Bytes(static_cast<double>(described.message)), -1, {}};
  if (signature.root >= 0)
    call.root = communicator.member(signature.root);
  if (call.movement.in_parts()) {
    call.parts.resize(communicator.member_ranks.size());
    for (int rank = 0; rank < communicator.size(); ++rank)
      call.parts[static_cast<std::size_t>(communicator.member(rank))] += parts[static_cast<std::size_t>(rank)];
  }
  return call;
}

std::shared_ptr<OffloadedCall> OffloadedCall::create(const std::shared_ptr<Communicator>& communicator, Path path,
                                                     const Described& described)
{
  switch (path) {
    case Path::stream:
      return make_stream_call(communicator, described);
    case Path::message:
      return make_message_call(communicator, described);
    case Path::multicast:
      return make_multicast_call(communicator, described);
    case Path::host:
      break;
  }
  throw std::logic_error("no way of offloading a call");
}

OffloadedCall::OffloadedCall(const std::shared_ptr<Communicator>& communicator, const Described& described,
                             std::size_t fixed_point_block)
    : on_end_(static_cast<std::size_t>(communicator->size())), simulation_(Simulation::get()),
      communicator_(communicator), collective_(described.signature.collective), movement_(*described.movement),
      root_(described.signature.root), parts_(parts_of(communicator->size(), described)),
      exchange_(Exchange::create({movement_, communicator->size(), root_, parts_, fixed_point_block}))
{
}

sg::SemaphorePtr OffloadedCall::gate()
{
  if (not all_end_together())
    return sg::Semaphore::create(0);
  if (not common_gate_)
    common_gate_ = sg::Semaphore::create(0);
  return common_gate_;
}

void OffloadedCall::join(int rank, RankBuffers buffers, MPI_Op operation, std::function<void()> on_end)
{
  buffers.send                            = address(buffers.send);
  buffers.receive                         = address(buffers.receive);
  const bool blocks                       = not is_nonblocking(collective_);
  on_end_[static_cast<std::size_t>(rank)] = std::move(on_end);
  exchange_->give(rank, buffers, not(blocks && memory_is_shared()));
  given(rank, buffers);
  if (++given_ == communicator_->size()) {
    exchange_->combine(operation);
    // A request is completed by SimGrid's kernel, which must not run SMPI's copies; a rank that blocks fetches its
    // result when it wakes and its memory is at hand.
    for (int other = 0; not blocks && other < communicator_->size(); ++other)
      deliver(other);
  }
  enter(rank);
}

TreeOffload::TreeOffload(const std::shared_ptr<Communicator>& communicator, const Described& described)
    : TreeOffload(communicator, described, Simulation::get().decider.host_work(*communicator, described))
{
}

TreeOffload::TreeOffload(const std::shared_ptr<Communicator>& communicator, const Described& described,
                         const HostWork& work)
    : OffloadedCall(communicator, described, work.fixed_point_block), arrived_(communicator->member_ranks.size()),
      call_(tree_call(*communicator, described, parts_)), host_work_(work)
{
}

void TreeOffload::enter(int rank)
{
  if (const std::optional<Bytes> bytes = to_speaker(rank))
    send_within(communicator_->hosts[static_cast<std::size_t>(rank)], *bytes,
                [self = std::static_pointer_cast<TreeOffload>(shared_from_this()), rank] { self->arrive(rank); });
  else
    arrive(rank);
}

void TreeOffload::arrive(int rank)
{
  const int member = communicator_->member(rank);
  const auto at    = static_cast<std::size_t>(member);
  if (std::cmp_equal(++arrived_[at], communicator_->member_ranks[at].size()))
    member_ready(member);
}

void TreeOffload::member_done(int member)
{
  for (const int rank : communicator_->member_ranks[static_cast<std::size_t>(member)]) {
    if (const std::optional<Bytes> bytes = from_speaker(rank))
      send_within(communicator_->hosts[static_cast<std::size_t>(rank)], *bytes,
                  [self = std::static_pointer_cast<TreeOffload>(shared_from_this()), rank] { self->end(rank); });
    else
      end(rank);
  }
}

void OffloadedCall::end(int rank)
{
  // It may hold what holds this.
  const std::function<void()> on_end = std::exchange(on_end_[static_cast<std::size_t>(rank)], nullptr);
  on_end();
}

/** What a rank hands to the one that speaks for its member, or gets from it: its share of what @p who give or get. */
std::optional<Bytes> TreeOffload::within_host(int rank, Who who, Share share) const
{
  if (communicator_->speaks(rank) || (who == Who::root && rank != root_))
    return std::nullopt;
  return share == Share::part ? Bytes(parts_[static_cast<std::size_t>(rank)]) : call_.message;
}

std::optional<Bytes> TreeOffload::to_speaker(int rank) const
{
  return within_host(rank, call_.movement.givers, call_.movement.gives);
}

std::optional<Bytes> TreeOffload::from_speaker(int rank) const
{
  // The only giver has what it gave.
  const bool has_it = call_.movement.givers == Who::root && rank == root_;
  return has_it ? std::nullopt : within_host(rank, call_.movement.getters, call_.movement.gets);
}

void OffloadedCall::speak_in_background(const std::shared_ptr<OffloadedCall>& call, int rank)
{
  if (not call->must_speak(rank))
    return;
  // By SimGrid's kernel: SMPI takes an actor whose parent is a rank for that rank (Group::rank), and counts it among
  // the ranks of its host (Comm::find_intra_comm).
  simgrid::kernel::actor::simcall_answered([&call, rank, host = sg::this_actor::get_host()] {
    host->add_actor(SPEAKER_NAME, [call, rank] { call->speak(rank); });
  });
}

} // namespace weft
