// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/own_messages.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/data/exchange.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/settings.hpp"
#include "binding/tuning/shared_sleeps.hpp"

#include <cstdlib>
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

/** Out of line, so that its caller's stack frame stays small. */
[[gnu::noinline]] Rendezvous rendezvous_of(const Fabric& fabric)
{
  return fabric.mpi() ? fabric.mpi()->rendezvous : Rendezvous::get;
}

/** Resets a request, which may have been started before. */
void prepare(RequestLayout& fields, MPI_Request request)
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
  // finish_wait() drops one reference; end() drops the second or, for a detached send, the end of its receive.
  fields.references += 2;
}

bool is_replayed()
{
  return sg::Actor::self()->extension<simgrid::smpi::ActorExt>()->replaying();
}

} // namespace

OwnMessages::OwnMessages(RunContext& context)
    : context_(context), endpoints_(matching_), hosts_(context), overheads_(context, hosts_),
      waits_(overheads_, endpoints_), ends_(context, waits_), rendezvous_(context, sent_, waits_, *this),
      descriptions_(matching_, endpoints_, sent_, waits_)
{
}

OwnMessages* OwnMessages::get()
{
  return messages_of_run();
}

std::optional<std::string> refusal_of_own_messages(bool on_fabric)
{
  if (not interposes())
    return "weft's library is not preloaded";
  if (const std::string& reason = need_of_simgrid_flows(); on_fabric && not reason.empty())
    return reason;
  return std::nullopt;
}

std::optional<std::string> refusal_of_option(bool on_fabric)
{
  const auto why           = refusal_of_own_messages(on_fabric);
  const std::string option = option_for_simgrid_flows();
  return why && not option.empty() ? *why + " (" + option + ")" : why;
}

void OwnMessages::begin(RunContext& context)
{
  share_all_sleeps();                           // overheads of messages
  messages_of_run() = new OwnMessages(context); // leaked, since ranks may still end while static objects are destroyed
  context.describe_messages = [](const ConcernsRank& concerns) {
    return messages_of_run()->descriptions_.describe_waits(concerns);
  };
}

HostNetwork& OwnMessages::network()
{
  if (not network_) [[unlikely]] {
    network_ = &context_.host_network();
    waits_.set_by_calls(network_->by_calls());
    rendezvous_.use(*network_, rendezvous_of(context_.fabric));
  }
  return *network_;
}

// ---- Starting requests -------------------------------------------------------------------------------------------

bool OwnMessages::start(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  if (fields.source == MPI_PROC_NULL || fields.destination == MPI_PROC_NULL)
    return false;
  const bool receives = (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0;
  if (not receives && (hosts_.of(fields.destination).gone || hosts_.of(fields.source).gone))
    return false; // SMPI reports the error
  prepare(fields, request);
  ++started_;
  if (is_one_sided(fields) && receives)
    match(*std::exchange(one_sided_[calling_actor()], std::nullopt), request, static_cast<int>(fields.source),
          fields.tag);
  else if (receives)
    post(request);
  else
    send(request);
  if (not receives)
    descriptions_.note_growth();
  return true;
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
    fields.real_source = posted.place; // SMPI reads it only after a match
}

void OwnMessages::send(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields   = fields_of(request);
  const MessageCosts& its = network().costs;
  const Bytes size(static_cast<double>(fields.size));
  const bool synchronous = (fields.flags & SYNCHRONOUS_FLAG) != 0;
  const bool buffered    = (fields.flags & (BUFFERED_FLAG | ONE_SIDED_FLAG)) != 0;
  fields.detached        = not synchronous && (buffered || detaches(fields.size));
  if (fields.detached)
    fields.flags |= ENDED_FLAG;
  overheads_.pay_for_send(fields);

  const Index number = new_message(request);
  if (is_one_sided(fields)) {
    sent_.keep(sent_[number]);
    leave(number);
    one_sided_[calling_actor()] = number;
    return;
  }
  const auto endpoint  = endpoints_.of(fields.destination, fields.comm);
  const int source     = static_cast<int>(fields.source);
  SentMessage& message = sent_[number];
  const bool eager     = not synchronous && size < its.eager_below;
  if (waits_.by_calls() && not eager)
    message.asks = fields.source != fields.destination && not is_replayed(); // SimGrid's replay makes no calls
  if (matching_.collects(endpoint)) {
    matching_.collect(endpoint, number, source, fields.tag);
    receivers_.push_back(fields.destination);
    end_instant();
  } else if (const auto receive = matching_.arrive(endpoint, number, source, fields.tag)) {
    match(number, request_of(*receive), source, fields.tag);
    return;
  }
  if (message.detached)
    sent_.keep(message);
  if (eager)
    leave(number);
}

OwnMessages::Index OwnMessages::new_message(MPI_Request request)
{
  const RequestLayout& fields    = layout_of(request);
  const Index number             = sent_.add();
  fields_of(request).real_source = static_cast<aid_t>(number); // SMPI does not read it for sends
  const int from                 = hosts_.of(fields.source).vertex;
  const int to                   = hosts_.of(fields.destination).vertex;
  sent_[number]                  = {.sender    = request,
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
                                    .withdrawn = false,
                                    .asks      = false};
  return number;
}

// ---- Probe and cancel --------------------------------------------------------------------------------------------

std::optional<OwnMessages::Seen> OwnMessages::probe(aid_t source, int tag, MPI_Comm comm)
{
  const auto found = matching_.probe(receiving_endpoint(sg::this_actor::get_pid(), comm, source),
                                     matched_source(source), matched_tag(tag));
  if (not found)
    return std::nullopt;
  return Seen{found->source, found->tag, sent_[found->message].size};
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
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & (MATCHED_FLAG | CANCELLED_FLAG | SHARED_FLAG)) != 0)
    return;
  if ((fields.flags & RECEIVE_FLAG) == 0) {
    cancel_send(request);
    return;
  }
  matching_.cancel(static_cast<MessageMatching::Place>(fields.real_source));
  if ((fields.flags & PACKED_FLAG) != 0)
    std::free(std::exchange(fields.buffer, nullptr));
  fields.flags |= CANCELLED_FLAG;
  ends_.end(request);
}

// A message in flight still uses the network, but is dropped when it arrives.
void OwnMessages::cancel_send(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  const auto number     = static_cast<Index>(fields.real_source);
  SentMessage& message  = sent_[number];
  if (message.sender != request || not matching_.withdraw(endpoints_.of(fields.destination, fields.comm), number,
                                                          static_cast<int>(fields.source), fields.tag))
    return;
  fields.flags |= simgrid::smpi::CANCELLED_FLAG;
  message.withdrawn = true;
  message.copied    = true; // the data is no longer needed
  message.sender    = MPI_REQUEST_NULL;
  if (not message.left || message.arrived)
    forget(number);
  ends_.end(request);
}

} // namespace weft
