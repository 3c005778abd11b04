// SPDX-License-Identifier: LGPL-2.1-only
/* Matched messages: their data, and their transfer from the sender's host to the receiver's. */
#include "binding/abi/smpi/requests.hpp"
#include "binding/point_to_point/own_messages.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/requests/poller.hpp"
#include "model/host/mpi_model.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::RequestLayout;

namespace weft {

// ---- Matching ----------------------------------------------------------------------------------------------------

/** Returns the endpoint of a receive or probe by the current rank. */
MessageMatching::Endpoint OwnMessages::receiving_endpoint(aid_t actor, MPI_Comm comm, aid_t source)
{
  const auto endpoint = endpoints_.of(actor, comm);
  if (source == MPI_ANY_SOURCE && not matching_.collects(endpoint)) {
    const double now = sg::Engine::get_clock();
    matching_.begin_collecting(endpoint, [this, now](std::uint64_t message) { return sent_[message].sent == now; });
    receivers_.push_back(actor);
    end_instant();
  }
  return endpoint;
}

/** Pairs a message with a receive. @p source is the sender's actor. */
void OwnMessages::match(Index number, MPI_Request receive, int source, int tag)
{
  SentMessage& message  = sent_[number];
  RequestLayout& fields = fields_of(receive);
  message.receive       = receive;
  if (fields.source == MPI_ANY_SOURCE) {
    fields.real_source = source;
    fields.source_host = hosts_.of(source).host;
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
      fields.detached_sender = message.sender; // finish_wait() of the receive releases it
  }
  if (message.arrived) {
    deliver(number);
    return;
  }
  if (message.detached && not is_one_sided(fields)) // the receive buffer must not be read before completion
    copy_to_receive(message);
  if (not message.left)
    leave(number);
}

// ---- Transport ---------------------------------------------------------------------------------------------------

void OwnMessages::leave(Index number)
{
  sent_[number].left = true;
  leaving_.push_back(number);
  network().message_leaves();
  end_instant();
}

/** Calls due() in the kernel's turn at the same instant, so that the rank does not yield. */
void OwnMessages::end_instant()
{
  if (std::exchange(instant_ends_, true))
    return;
  const KernelScope kernel;
  network().call_after(Seconds(), *this, 0);
}

void OwnMessages::due(std::uint64_t /*what*/)
{
  for (const auto& [message, receive, source, tag] : matching_.end_instant())
    match(message, request_of(receive), source, tag);
  std::ranges::for_each(receivers_, tell_receiver);
  receivers_.clear();
  instant_ends_ = false;
  std::swap(leaving_, left_);
  // Caches and random jitter depend on the order.
  if (const auto source = [this](Index number) { return sent_[number].source; };
      not std::ranges::is_sorted(left_, {}, source))
    std::ranges::stable_sort(left_, {}, source);
  const bool of_jobs = context_.jobs.are_own();
  Messages& all      = network().messages();
  for (const Index number : left_) {
    const SentMessage& message = sent_[number];
    if (message.asks && not rendezvous_.leaves_at_once(number))
      continue;
    const Bytes size = Bytes(static_cast<double>(message.size)) + SMPI_ENVELOPE;
    Messages& its    = of_jobs ? network().messages_of(context_.jobs.world_of(message.source)) : all;
    its.send(message.from, message.to, size, UNKNOWN_PART, *this, number);
  }
  left_.clear();
}

void OwnMessages::arrived(std::uint64_t number)
{
  network().message_ends();
  SentMessage& message = sent_[number];
  message.arrived      = true;
  if (not message.detached && message.sender != MPI_REQUEST_NULL) {
    if (message.receive == MPI_REQUEST_NULL) {
      sent_.keep(message);
      descriptions_.note_growth();
    } else {
      copy_to_receive(message);
    }
    message.type = MPI_DATATYPE_NULL;
    ends_.end(std::exchange(message.sender, MPI_REQUEST_NULL));
  }
  if (sent_[number].withdrawn)
    forget(number);
  else if (sent_[number].receive != MPI_REQUEST_NULL)
    deliver(number);
}

// check() reports the failure when a rank finishes the request, as in SMPI.
void OwnMessages::failed(std::uint64_t number, const std::string& why)
{
  SentMessage& message = sent_[number];
  message.failed       = true;
  failed_[number]      = why;
  if (message.sender != MPI_REQUEST_NULL && not message.detached)
    ends_.fail(message.sender, why);
  arrived(number);
}

/** Completes a message that has arrived and is matched. */
void OwnMessages::deliver(Index number)
{
  SentMessage& message      = sent_[number];
  const MPI_Request receive = message.receive;
  copy_to_receive(message);
  if (message.failed)
    ends_.fail(receive, failed_[number]);
  forget(number);
  ends_.end(receive);
}

void OwnMessages::forget(Index number)
{
  if (sent_[number].failed)
    failed_.erase(number);
  sent_.forget(number);
}

} // namespace weft
