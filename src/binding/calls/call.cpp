// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/calls/call.hpp"

#include "base/error.hpp"
#include "binding/data/host_data.hpp"
#include "binding/mechanisms/offload.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/rank_counters.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/run/request.hpp"
#include "binding/run/run_context.hpp"
#include "collective/host/engine/host_call.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

ActorMap<bool>& inside()
{
  static ActorMap<bool> flags;
  return flags;
}

} // namespace

bool is_own_call(MPI_Comm comm)
{
  return number_of(comm) != MPI_UNDEFINED && not inside().get(calling_actor());
}

CollectiveScope::CollectiveScope() : pid_(calling_actor())
{
  before_        = inside()[pid_];
  inside()[pid_] = true;
}

CollectiveScope::~CollectiveScope()
{
  inside()[pid_] = before_;
}

void Call::begin(MPI_Comm comm)
{
  const Place place = place_in(comm);
  size_             = place.size;
  start_            = sg::Engine::get_clock();
  descriptor_.ranks = size_;
  rank              = place.rank;
  if (RankCounters::exist()) [[unlikely]]
    number_ = number_of(comm);
  if (size_ == 1) {
    decision_ = context_.selector.decide_alone();
  } else {
    communicator_ = context_.communicators.find(comm, rank);
    enter();
  }
}

Call::Call(RunContext& context, const KeptCall& kept)
    : size_(kept.descriptor.ranks), start_(sg::Engine::get_clock()), context_(context), descriptor_(kept.descriptor),
      communicator_(kept.communicator), rank(kept.rank)
{
  if (RankCounters::exist()) [[unlikely]]
    number_ = communicator_->id;
  enter();
}

void Call::enter()
{
  pending_             = communicator_->enter(rank, descriptor_);
  pending_->last_entry = start_;
  if (pending_->entered == 1)
    first_enters();
  else if (not pending_->call->is_same(descriptor_))
    compare();
  decision_ = pending_->decision;
}

void Call::first_enters()
{
  context_.check_members(*communicator_);
  decide();
  if (const MechanismKind* mechanism = pending_->decision.mechanism)
    pending_->offloaded = context_.selector.mechanism(*mechanism).start(communicator_, descriptor_);
}

void Call::compare() const
{
  const std::optional<std::string> difference = pending_->call->difference(
      descriptor_, "rank " + std::to_string(pending_->first_rank), "rank " + std::to_string(rank));
  if (not difference)
    return;
  const std::string calls = "collective number " + std::to_string(communicator_->calls_made(rank)) +
                            " is not the same call at all ranks: " + *difference;
  context_.abort("mismatch", describe_mismatch(*communicator_, calls));
}

/** Predicting the host cost may throw UserError. */
void Call::decide()
{
  try {
    pending_->decision = context_.selector.decide(*communicator_, descriptor_);
  } catch (const UserError& problem) {
    context_.refuse_fallback(problem.what());
  }
}

bool Call::may_be_scheduled() const
{
  return pending_ && not descriptor_.empty() &&
         (descriptor_.between_groups || context_.fallback_of(*communicator_).smpi(descriptor_.kind->name).empty());
}

bool Call::schedule(const HostShape& shape)
{
  HostCall call = host_call(descriptor_);
  call.block    = nullptr; // refers to counts that the rank may change; the schedule has its own copy
  call.count    = shape.count;
  call.element  = shape.element;
  try {
    pending_->scheduled =
        make_scheduled_call(context_.host_network(), *communicator_, context_.fallback_of(*communicator_), call, shape);
  } catch (const UserError& problem) {
    context_.refuse_fallback(problem.what());
  }
  if (pending_->scheduled && context_.record.keep_events)
    pending_->scheduled->keep_tallies();
  return pending_->scheduled != nullptr;
}

void Call::schedule_instead(HostShape shape)
{
  shape.smpi_refuses = true;
  if (not pending_->scheduled)
    schedule(shape);
}

void Call::join_schedule(const HostShape& shape, Sleep& until_end)
{
  pending_->scheduled->join(rank, shape, true, [this, &until_end](const FlowResult& result) {
    check(result);
    until_end.wake();
  });
}

void Call::wait_for_schedule(Sleep& until_end) const
{
  pending_->scheduled->wake();
  until_end.sleep(SleepsIn::collective);
}

void Call::offload(const RankBuffers& buffers, MPI_Op operation)
{
  OffloadedCall& offloaded = *pending_->offloaded;
  CoreNoise& noise         = context_.core_noise;
  noise.pay(offloaded.host_overhead());
  Gate own;
  Gate& gate = offloaded.gate(own);
  offloaded.join(rank, buffers, true, operation, [this, &gate](const FlowResult& result) {
    check(result);
    gate.open();
  });
  gate.pass();
  noise.pay({}); // resumes once OS noise has released the core
  offloaded.deliver(rank);
}

void Call::check(const FlowResult& result) const
{
  if (result.arrived())
    return;
  context_.keep_failed_call(pending_);
  context_.keep_failed_call(communicator_);
  context_.abort_on(*communicator_, describe_broken_call(*communicator_, descriptor_, result.failure));
}

void Call::leave_host_data()
{
  (pending_ ? pending_->host_data : alone_data_)->leave(rank);
}

void Call::record_schedule(Record& record) const
{
  if (not pending_ || not pending_->scheduled)
    return;
  const ScheduledCall& scheduled = *pending_->scheduled;
  const auto at                  = static_cast<std::size_t>(rank);
  record.add_host_call({Profile::get().rank_of(communicator_->actors[at]), descriptor_.name(), scheduled.algorithm(),
                        scheduled.tuning().segment.value(), scheduled.tallies()[at], start_, sg::Engine::get_clock()});
}

aid_t Call::actor() const
{
  // A non-blocking call may end while another rank runs.
  return communicator_ ? communicator_->actors[static_cast<std::size_t>(rank)] : current_actor();
}

void Call::count_for_tools(double duration) const
{
  RankCounters::count_collective(actor(),
                                 {descriptor_.kind, number_, descriptor_.own_bytes, decision_.offloaded(), duration});
}

/** Returns the name of the algorithm for the record; empty for SMPI's own choice. */
std::string Call::executing_algorithm() const
{
  if (not pending_)
    return "";
  return pending_->scheduled ? pending_->scheduled->algorithm() : "";
}

void Call::end()
{
  if (std::exchange(ended_, true))
    return;
  const std::string algorithm = executing_algorithm();
  const double now            = sg::Engine::get_clock();
  const double duration       = now - start_;
  const double wait           = pending_ ? pending_->wait(start_, now) : 0;
  const int world             = communicator_ ? communicator_->world : context_.jobs.world_of_current_rank();
  context_.record.count(descriptor_, decision_, algorithm, world, {duration, wait});
  if (context_.record.durations) [[unlikely]]
    context_.record.durations->add(descriptor_, world, Profile::get().rank_of(actor()), duration);
  if (RankCounters::exist()) [[unlikely]]
    count_for_tools(duration);
  if (context_.record.keep_events)
    record_schedule(context_.record);
  if (pending_) {
    communicator_->leave(rank, *pending_);
    context_.communicators.release_if_done(*communicator_);
  }
}

MPI_Request StartedCall::make_request(const std::shared_ptr<StartedCall>& call)
{
  call->itself_ = call;
  return RequestSignal::make_request({call, &call->signal_}, *call->descriptor_.kind);
}

void StartedCall::ends(const FlowResult& result)
{
  const auto itself = std::move(itself_);
  check(result);
  end();
  signal_.fire();
  // The request may keep this object alive for long, so release the state shared by ranks.
  pending_.reset();
  communicator_.reset();
}

// The callbacks below capture one pointer each, so std::function does not allocate.

MPI_Request StartedCall::start_schedule(const std::shared_ptr<StartedCall>& call, const HostShape& shape)
{
  const MPI_Request request = make_request(call);
  const auto pending        = call->pending_; // keeps the state alive, since the call may end immediately
  pending->scheduled->join(call->rank, shape, false,
                           [its = call.get()](const FlowResult& result) { its->ends(result); });
  pending->scheduled->wake();
  return request;
}

MPI_Request StartedCall::start_ended(const std::shared_ptr<StartedCall>& call)
{
  const MPI_Request request = make_request(call);
  call->ends({});
  return request;
}

MPI_Request StartedCall::start_offload(const std::shared_ptr<StartedCall>& call, const RankBuffers& buffers, bool stay,
                                       MPI_Op operation)
{
  call->context_.core_noise.pay(
      call->pending_->offloaded
          ->host_overhead()); // paid first: a rank that is killed meanwhile must not leave a request behind
  const MPI_Request request = make_request(call);
  const auto offloaded      = call->pending_->offloaded;
  offloaded->join(call->rank, buffers, stay, operation,
                  [its = call.get()](const FlowResult& result) { its->ends(result); });
  return request;
}

} // namespace weft
