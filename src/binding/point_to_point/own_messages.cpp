// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/own_messages.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/data/exchange.hpp"
#include "binding/ranks/current.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/settings/settings.hpp"
#include "binding/tuning/shared_sleeps.hpp"
#include "model/host/mpi_model.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <simgrid/s4u.hpp>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

OwnMessages*& messages_of_run()
{
  static OwnMessages* all = nullptr;
  return all;
}

int matched_source(aid_t source)
{
  return source == MPI_ANY_SOURCE ? MessageMatching::ANY_SOURCE : static_cast<int>(source);
}

int matched_tag(int tag)
{
  return tag == MPI_ANY_TAG ? MessageMatching::ANY_TAG : tag;
}

/** Returns whether weft's definitions precede SMPI's (LD_PRELOAD). */
bool interposes()
{
  Dl_info used;
  Dl_info own;
  void* const start = dlsym(RTLD_DEFAULT, "_ZN7simgrid4smpi7Request5startEv");
  return start && dladdr(start, &used) != 0 && dladdr(reinterpret_cast<void*>(&messages_of_run), &own) != 0 &&
         used.dli_fbase == own.dli_fbase;
}

bool is_replayed()
{
  return sg::Actor::self()->extension<simgrid::smpi::ActorExt>()->replaying();
}

/** "rank 3" */
std::string name_of_rank(aid_t actor)
{
  const sg::ActorPtr its = sg::Actor::by_pid(actor);
  const char* rank       = its ? its->get_property("rank") : nullptr;
  return rank ? "rank " + std::string(rank) : "a rank that has ended";
}

/** Returns whether a buffer is shared by ranks to save memory (SMPI_SHARED_MALLOC, --unchecked), so that copying it
 * would only take memory. Such buffers consist of pages. */
bool has_no_data(const void* buffer, std::size_t size)
{
  constexpr std::size_t PAGE = 4096;
  return size >= PAGE && is_shared(buffer);
}

/** Returns the actor that started a request. */
aid_t owner_of(MPI_Request request)
{
  const RequestLayout& fields = layout_of(request);
  return (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0 ? fields.destination : fields.source;
}

} // namespace

OwnMessages::OwnMessages(RunContext& context) : context_(context), endpoints_(matching_)
{
  using simgrid::config::is_default;
  const bool costs =
      context.fabric.mpi() || context.fabric.host().message_overhead > Seconds() || context.core_noise.any();
  sends_cost_    = costs || not is_default("smpi/os") || not is_default("smpi/ois");
  receives_cost_ = costs || not is_default("smpi/or");
  costs_vary_ =
      context.core_noise.any() || not is_default("smpi/os") || not is_default("smpi/ois") || not is_default("smpi/or");
  sg::Actor::on_termination_cb([this](const sg::Actor& actor) { places_[actor.get_pid()].gone = true; });
}

OwnMessages* OwnMessages::get()
{
  return messages_of_run();
}

std::optional<std::string> OwnMessages::refusal()
{
  if (not interposes())
    return "weft's library is not preloaded";
  if (not memory_is_shared())
    return "smpi/privatization:mmap maps a rank's memory only while the rank runs";
  if (const std::string& reason = need_of_simgrid_flows(); not reason.empty())
    return reason;
  return std::nullopt;
}

void OwnMessages::begin(RunContext& context)
{
  share_all_sleeps();                                   // overheads of messages
  messages_of_run()         = new OwnMessages(context); // ranks may still end while static objects are destroyed
  context.describe_messages = [] { return messages_of_run()->describe_waits(); };
}

HostNetwork& OwnMessages::network()
{
  if (not network_)
    network_ = &context_.host_network();
  return *network_;
}

void OwnMessages::find(Place& place, aid_t actor) const
{
  const sg::ActorPtr its = sg::Actor::by_pid(actor);
  if (not its) {
    place.gone = true;
    return;
  }
  place.host   = its->get_host();
  place.vertex = context_.network.vertex_of(place.host);
}

// ---- Starting requests -------------------------------------------------------------------------------------------

bool OwnMessages::start(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & simgrid::smpi::ONE_SIDED_FLAG) != 0 || fields.source == MPI_PROC_NULL ||
      fields.destination == MPI_PROC_NULL)
    return false;
  const bool receives = (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0;
  if (not receives && place_of(fields.destination).gone)
    return false; // SMPI reports it
  prepare(fields, request);
  if (receives)
    post(request);
  else
    send(request);
  return true;
}

/** Resets a request, which may have been started before. */
void OwnMessages::prepare(RequestLayout& fields, MPI_Request request) const
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  if ((fields.flags & FINISHED_FLAG) != 0 && (fields.flags & PACKED_FLAG) != 0) {
    int type_size = 0;
    PMPI_Type_size(fields.type, &type_size);
    fields.buffer = fields.old_buffer;
    if (type_size > 0)
      request->init_buffer(static_cast<int>(fields.size / static_cast<std::size_t>(type_size)));
  } else if ((fields.flags & OWN_FLAG) == 0 && fields.buffer != fields.old_buffer) {
    fields.flags |= PACKED_FLAG;
  }
  fields.flags = (fields.flags & ~(PREPARED_FLAG | FINISHED_FLAG | ENDED_FLAG | FAILED_FLAG | AWAITED_FLAG)) | OWN_FLAG;
  fields.action          = nullptr;
  fields.truncated       = false;
  fields.unmatched_types = false;
  fields.real_size       = fields.size;
  // finish_wait() drops one reference; end() drops the other or, for a detached send, the end of its receive.
  fields.references += 2;
}

void OwnMessages::post(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  if (auto* const next = receives_next_ ? next_received_.find(fields.destination) : nullptr; next && *next) {
    match(*std::exchange(*next, std::nullopt), request, static_cast<int>(fields.source), fields.tag);
    return;
  }
  const auto posted =
      matching_.post(receiving_endpoint(fields.destination, fields.comm, fields.source),
                     reinterpret_cast<std::uint64_t>(request), matched_source(fields.source), matched_tag(fields.tag));
  if (posted.found)
    match(posted.found->message, request, posted.found->source, posted.found->tag);
  else
    fields.real_source = posted.place; // which SMPI reads only after a match
}

/** Returns a message's overhead on the sender's host for last_send_, on the receiver's for last_receive_. SMPI finds it
 * by way of several tables. */
double OwnMessages::overhead(Overhead& last, AskOverhead ask, std::size_t size, sg::Host* from, sg::Host* to) const
{
  const bool local = from == to;
  if (costs_vary_ || last.seconds < 0 || last.size != size || last.local != local)
    last = {size, local, ((&last == &last_send_ ? from : to)->extension<simgrid::smpi::Host>()->*ask)(size, from, to)};
  return last.seconds;
}

void OwnMessages::pay_for_send(const RequestLayout& fields)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const bool goes_on = fields.detached || (fields.flags & (NONBLOCKING_SEND_FLAG | SYNCHRONOUS_FLAG)) != 0;
  if (not sends_cost_ || not goes_on)
    return;
  // The two kinds of sends cost the same unless SMPI's options say otherwise; costs then vary.
  const auto ask = (fields.flags & NONBLOCKING_SEND_FLAG) != 0 ? &Host::oisend : &Host::osend;
  const double sleep =
      overhead(last_send_, ask, fields.size, place_of(fields.source).host, place_of(fields.destination).host);
  if (sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

/** Returns the overhead of a request that has received a detached message, and releases the sender's request; 0 if
 * there is none. */
double OwnMessages::take_overhead(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  if (not is_active(request) || is_own_and_pending(request))
    return 0;
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & RECEIVE_FLAG) == 0 || fields.detached_sender == MPI_REQUEST_NULL)
    return 0;
  simgrid::smpi::Request::unref(&fields.detached_sender);
  fields.detached_sender = MPI_REQUEST_NULL; // also if others refer to it
  return overhead(last_receive_, &Host::orecv, fields.real_size, fields.source_host, place_of(fields.destination).host);
}

double OwnMessages::take_overheads(std::span<const MPI_Request> requests)
{
  double sum = 0;
  for (MPI_Request request : requests)
    if (request != MPI_REQUEST_NULL && layout_of(request).detached_sender != MPI_REQUEST_NULL)
      sum += take_overhead(request);
  return sum;
}

void OwnMessages::pay_for_receives(std::span<const MPI_Request> requests)
{
  if (not receives_cost_)
    return;
  if (const double sleep = take_overheads(requests); sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

void OwnMessages::send(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields   = fields_of(request);
  const MessageCosts& its = network().costs;
  const Bytes size(static_cast<double>(fields.size));
  const bool synchronous = (fields.flags & SYNCHRONOUS_FLAG) != 0;
  fields.detached        = not synchronous && ((fields.flags & BUFFERED_FLAG) != 0 || detaches(fields.size));
  if (fields.detached)
    fields.flags |= ENDED_FLAG;
  pay_for_send(fields);

  const Index number  = new_message(request);
  const auto endpoint = endpoints_.of(fields.destination, fields.comm);
  const int source    = static_cast<int>(fields.source);
  Message& message    = messages_[number];
  if (matching_.collects(endpoint)) {
    matching_.collect(endpoint, number, source, fields.tag);
    receivers_.push_back(fields.destination);
    end_instant();
  } else if (const auto receive = matching_.arrive(endpoint, number, source, fields.tag)) {
    match(number, request_of(*receive), source, fields.tag);
    return;
  }
  if (message.detached)
    keep(message);
  if (not synchronous && size < its.eager_below)
    leave(number);
}

OwnMessages::Index OwnMessages::new_message(MPI_Request request)
{
  const RequestLayout& fields = layout_of(request);
  Index number                = messages_.size();
  if (idle_.empty()) {
    messages_.emplace_back();
    note_growth(0);
  } else {
    number = idle_.back();
    idle_.pop_back();
  }
  fields_of(request).real_source = static_cast<aid_t>(number); // which SMPI does not read for sends
  const int from                 = place_of(fields.source).vertex;
  const int to                   = place_of(fields.destination).vertex;
  messages_[number]              = {.sender    = request,
                                    .receive   = MPI_REQUEST_NULL,
                                    .type      = fields.type,
                                    .data      = static_cast<std::byte*>(fields.buffer),
                                    .size      = fields.size,
                                    .sent      = time_of_rank(),
                                    .source    = static_cast<int>(fields.source),
                                    .from      = from,
                                    .to        = to,
                                    .detached  = fields.detached,
                                    .kept      = fields.detached && (fields.flags & simgrid::smpi::PACKED_FLAG) != 0,
                                    .left      = false,
                                    .arrived   = false,
                                    .copied    = fields.size == 0 || not fields.buffer || is_replayed() ||
                                                 has_no_data(fields.buffer, fields.size),
                                    .failed    = false,
                                    .withdrawn = false};
  return number;
}

// ---- Matching ----------------------------------------------------------------------------------------------------

/** Returns the endpoint of a receive or probe by the current rank. */
MessageMatching::Endpoint OwnMessages::receiving_endpoint(aid_t actor, MPI_Comm comm, aid_t source)
{
  const auto endpoint = endpoints_.of(actor, comm);
  if (source == MPI_ANY_SOURCE && not matching_.collects(endpoint)) {
    const double now = sg::Engine::get_clock();
    matching_.begin_collecting(endpoint, [this, now](std::uint64_t message) { return messages_[message].sent == now; });
    receivers_.push_back(actor);
    end_instant();
  }
  return endpoint;
}

/** Pairs a message with a receive. @p source is the sender's actor. */
void OwnMessages::match(Index number, MPI_Request receive, int source, int tag)
{
  Message& message      = messages_[number];
  RequestLayout& fields = fields_of(receive);
  message.receive       = receive;
  if (fields.source == MPI_ANY_SOURCE) {
    fields.real_source = source;
    fields.source_host = place_of(source).host;
  }
  if (fields.tag == MPI_ANY_TAG)
    fields.real_tag = tag;
  if (message.size != 0 && fields.real_size != 0 && message.type && message.type != fields.type &&
      not simgrid::smpi::Request::match_types(message.type, fields.type))
    fields.unmatched_types = true;
  if (fields.real_size < message.size)
    fields.truncated = true;
  else
    fields.real_size = message.size;
  fields.flags |= simgrid::smpi::MATCHED_FLAG;
  if (message.sender != MPI_REQUEST_NULL) {
    fields_of(message.sender).flags |= simgrid::smpi::MATCHED_FLAG;
    if (message.detached)
      fields.detached_sender = message.sender; // released by finish_wait() of the receive
  }
  if (message.arrived) {
    deliver(number);
    return;
  }
  if (message.detached) // the receive buffer must not be read before its end
    copy_to_receive(message);
  if (not message.left)
    leave(number);
}

/** Copies the data, as the sender may reuse its buffer. */
void OwnMessages::keep(Message& message)
{
  if (message.copied || message.kept)
    return;
  auto* const copy = static_cast<std::byte*>(std::malloc(message.size));
  if (not copy)
    throw std::bad_alloc();
  std::memcpy(copy, message.data, message.size);
  message.data = copy;
  message.kept = true;
  note_growth(message.size);
}

void OwnMessages::copy_to_receive(Message& message) const
{
  const RequestLayout& fields = layout_of(message.receive);
  const std::size_t size      = std::min(message.size, fields.real_size);
  if (not message.copied && fields.buffer && size > 0 && not has_no_data(fields.buffer, size))
    std::memcpy(fields.buffer, message.data, size);
  message.copied = true;
  if (message.kept)
    std::free(message.data);
  message.kept = false;
}

// ---- Transport ---------------------------------------------------------------------------------------------------

void OwnMessages::leave(Index number)
{
  messages_[number].left = true;
  leaving_.push_back(number);
  network().message_leaves();
  end_instant();
}

/** Calls due() in the kernel's turn at the same instant, so that the rank does not yield. */
void OwnMessages::end_instant()
{
  if (std::exchange(instant_ends_, true))
    return;
  network().agenda().add(Seconds(sg::Engine::get_clock()), *this, 0);
  const KernelScope kernel;
  network().wake();
}

void OwnMessages::due(std::uint64_t /*what*/)
{
  for (const auto& [message, receive, source, tag] : matching_.end_instant())
    match(message, request_of(receive), source, tag);
  if (told_of_message_)
    std::ranges::for_each(receivers_, told_of_message_);
  receivers_.clear();
  instant_ends_ = false;
  std::swap(leaving_, left_);
  // Caches and random jitter depend on the order.
  if (const auto source = [this](Index number) { return messages_[number].source; };
      not std::ranges::is_sorted(left_, {}, source))
    std::ranges::stable_sort(left_, {}, source);
  for (const Index number : left_) {
    const Message& message = messages_[number];
    const Bytes size       = Bytes(static_cast<double>(message.size)) + SMPI_ENVELOPE;
    network().messages().send(message.from, message.to, size, UNKNOWN_PART, *this, number);
  }
  left_.clear();
}

void OwnMessages::arrived(std::uint64_t number)
{
  network().message_ends();
  Message& message = messages_[number];
  message.arrived  = true;
  if (not message.detached && message.sender != MPI_REQUEST_NULL) {
    if (message.receive == MPI_REQUEST_NULL)
      keep(message);
    else
      copy_to_receive(message);
    message.type = MPI_DATATYPE_NULL;
    end(std::exchange(message.sender, MPI_REQUEST_NULL));
  }
  if (messages_[number].withdrawn)
    forget(number);
  else if (messages_[number].receive != MPI_REQUEST_NULL)
    deliver(number);
}

// check() reports the failure when a rank finishes the request, as in SMPI.
void OwnMessages::failed(std::uint64_t number, const std::string& /*why*/)
{
  Message& message = messages_[number];
  message.failed   = true;
  if (message.sender != MPI_REQUEST_NULL && not message.detached)
    fields_of(message.sender).flags |= simgrid::smpi::FAILED_FLAG;
  arrived(number);
}

/** Completes a message that has arrived and is matched. */
void OwnMessages::deliver(Index number)
{
  Message& message          = messages_[number];
  const MPI_Request receive = message.receive;
  copy_to_receive(message);
  if (message.failed)
    fields_of(receive).flags |= simgrid::smpi::FAILED_FLAG;
  forget(number);
  end(receive);
}

void OwnMessages::forget(Index number)
{
  Message& message = messages_[number];
  if (message.kept)
    std::free(message.data);
  message = {};
  idle_.push_back(number);
}

void OwnMessages::end(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields = fields_of(request);
  fields.flags |= ENDED_FLAG;
  if (fields.action) {
    if (const auto found = activities_.find(request); found != activities_.end()) {
      const std::shared_ptr<RequestSignal> signal = std::move(found->second);
      activities_.erase(found);
      signal->fire();
    }
  }
  if ((fields.flags & AWAITED_FLAG) != 0)
    end_awaited(request);
  if (told_of_end_)
    told_of_end_(request);
  release(request);
}

/** Returns the actor that waits for a request: mostly the one that started it, or another of the same rank. */
aid_t OwnMessages::waiting_actor(MPI_Request request)
{
  if (not other_waiters_.empty())
    if (const auto other = other_waiters_.find(request); other != other_waiters_.end())
      return other->second;
  return owner_of(request);
}

void OwnMessages::end_awaited(MPI_Request request)
{
  Waiter* const waiter = waiters_.find(waiting_actor(request));
  no_longer_await(request);
  if (not waiter || not waiter->asleep)
    return;
  const double now = sg::Engine::get_clock();
  if (waiter->pays)
    if (const double its = take_overhead(request); its > 0)
      waiter->busy_until = std::max(waiter->busy_until, now) + its;
  if (--waiter->missing > 0)
    return;
  if (waiter->busy_until > now)
    wake_at(waiter->busy_until, *waiter->asleep);
  else
    std::exchange(waiter->asleep, nullptr)->wake();
}

/** Drops the transport's reference to a request. */
void OwnMessages::release(MPI_Request request) const
{
  RequestLayout& fields = fields_of(request);
  if (fields.references > 1) {
    --fields.references;
    return;
  }
  // MPI_Request_free() was called, so finish_wait() will not be.
  if (fields.detached_sender != MPI_REQUEST_NULL && (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0)
    simgrid::smpi::Request::unref(&fields.detached_sender);
  simgrid::smpi::Request::unref(&request);
}

// ---- Waiting -----------------------------------------------------------------------------------------------------

void OwnMessages::await(MPI_Request request)
{
  fields_of(request).flags |= simgrid::smpi::AWAITED_FLAG;
  if (const aid_t self = current_actor(); self != owner_of(request))
    other_waiters_[request] = self;
}

void OwnMessages::no_longer_await(MPI_Request request)
{
  fields_of(request).flags &= ~simgrid::smpi::AWAITED_FLAG;
  if (not other_waiters_.empty())
    other_waiters_.erase(request);
}

void OwnMessages::sleep(int ends)
{
  sleep({.missing = ends});
}

void OwnMessages::sleep_and_pay(int ends, std::span<const MPI_Request> requests)
{
  sleep({.missing = ends, .pays = true, .busy_until = time_of_rank() + take_overheads(requests)});
}

void OwnMessages::sleep(const Waiter& waiter)
{
  struct Asleep {
    ActorMap<Waiter>& waiters;
    aid_t self = current_actor();
    Sleep sleep;
    Asleep(ActorMap<Waiter>& all, const Waiter& waiter) : waiters(all)
    {
      waiters[self]        = waiter;
      waiters[self].asleep = &sleep;
      waiters[self].since  = time_of_rank();
    }
    Asleep(const Asleep&)            = delete;
    Asleep& operator=(const Asleep&) = delete;
    ~Asleep() // also if the rank is killed
    {
      Waiter& its = waiters[self];
      if (std::exchange(its.asleep, nullptr) && its.missing == 0 && not sleep.over())
        do_not_wake_at(its.busy_until, sleep);
    }
  } asleep(waiters_, waiter);
  asleep.sleep.sleep(SleepsIn::wait);
}

void OwnMessages::give_activity(MPI_Request request)
{
  if (layout_of(request).action || not simgrid::smpi::is_own_and_pending(request))
    return;
  const auto signal = std::make_shared<RequestSignal>();
  activities_.emplace(request, signal);
  signal->make_activity(request);
}

void OwnMessages::check(MPI_Request request)
{
  if ((layout_of(request).flags & simgrid::smpi::FAILED_FLAG) != 0)
    context_.abort("network-failure", describe_broken_message(name_of_rank(sg::this_actor::get_pid())));
}

// ---- Probe and cancel --------------------------------------------------------------------------------------------

std::optional<OwnMessages::Seen> OwnMessages::probe(aid_t source, int tag, MPI_Comm comm)
{
  const auto found = matching_.probe(receiving_endpoint(sg::this_actor::get_pid(), comm, source),
                                     matched_source(source), matched_tag(tag));
  if (not found)
    return std::nullopt;
  return Seen{found->source, found->tag, messages_[found->message].size};
}

std::optional<OwnMessages::Taken> OwnMessages::extract(aid_t source, int tag, MPI_Comm comm)
{
  const auto found =
      matching_.extract(endpoints_.of(sg::this_actor::get_pid(), comm), matched_source(source), matched_tag(tag));
  return found ? std::optional<Taken>({found->message, found->source, found->tag}) : std::nullopt;
}

void OwnMessages::receive_next(std::uint64_t message)
{
  receives_next_                            = true;
  next_received_[sg::this_actor::get_pid()] = message;
}

bool OwnMessages::forget_next()
{
  return std::exchange(next_received_[sg::this_actor::get_pid()], std::nullopt).has_value();
}

void OwnMessages::cancel(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const unsigned flags = layout_of(request).flags;
  if ((flags & (MATCHED_FLAG | CANCELLED_FLAG | SHARED_FLAG)) != 0)
    return;
  if ((flags & RECEIVE_FLAG) != 0)
    cancel_receive(request);
  else
    cancel_send(request);
}

void OwnMessages::cancel_receive(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  matching_.cancel(static_cast<MessageMatching::Place>(fields.real_source));
  if ((fields.flags & simgrid::smpi::PACKED_FLAG) != 0)
    std::free(std::exchange(fields.buffer, nullptr));
  fields.flags |= simgrid::smpi::CANCELLED_FLAG;
  end(request);
}

// A message in flight still uses the network, but is dropped when it arrives.
void OwnMessages::cancel_send(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  const auto number     = static_cast<Index>(fields.real_source);
  Message& message      = messages_[number];
  if (message.sender != request || not matching_.withdraw(endpoints_.of(fields.destination, fields.comm), number,
                                                          static_cast<int>(fields.source), fields.tag))
    return;
  fields.flags |= simgrid::smpi::CANCELLED_FLAG;
  message.withdrawn = true;
  message.copied    = true; // the data is not needed
  message.sender    = MPI_REQUEST_NULL;
  if (not message.left || message.arrived)
    forget(number);
  end(request);
}

} // namespace weft
