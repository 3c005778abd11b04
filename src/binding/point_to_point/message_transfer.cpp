// SPDX-License-Identifier: LGPL-2.1-only
/* Matched messages: their data, and their transfer from the sender's host to the receiver's. */
#include "binding/point_to_point/own_messages.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/data/exchange.hpp"
#include "binding/point_to_point/request_list.hpp"
#include "model/host/mpi_model.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {

/** Returns whether a buffer is shared by ranks to save memory (SMPI_SHARED_MALLOC, --unchecked), so that a copy would
 * only take memory. Such buffers consist of pages. */
bool OwnMessages::has_no_data(const void* buffer, std::size_t size)
{
  constexpr std::size_t PAGE = 4096;
  return size >= PAGE && is_shared(buffer);
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

/** Copies the data, since the sender may reuse its buffer. */
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
    std::memmove(fields.buffer, message.data, size); // placeholders in SMPI collectives share scratch memory
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
  const KernelScope kernel;
  network().call_after(Seconds(), *this, 0);
}

void OwnMessages::due(std::uint64_t what)
{
  if (what > 0) {
    take_turn(what - 1);
    return;
  }
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
  const bool of_jobs = context_.jobs.are_own();
  Messages& all      = network().messages();
  for (const Index number : left_) {
    const Message& message = messages_[number];
    if (message.asks && not leaves_at_once(number))
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
void OwnMessages::failed(std::uint64_t number, const std::string& why)
{
  Message& message = messages_[number];
  message.failed   = true;
  failed_[number]  = why;
  if (message.sender != MPI_REQUEST_NULL && not message.detached)
    fail(message.sender, why);
  arrived(number);
}

void OwnMessages::fail(MPI_Request request, const std::string& why)
{
  fields_of(request).flags |= simgrid::smpi::FAILED_FLAG;
  failures_[request] = why;
}

/** Completes a message that has arrived and is matched. */
void OwnMessages::deliver(Index number)
{
  Message& message          = messages_[number];
  const MPI_Request receive = message.receive;
  copy_to_receive(message);
  if (message.failed)
    fail(receive, failed_[number]);
  forget(number);
  end(receive);
}

void OwnMessages::forget(Index number)
{
  Message& message = messages_[number];
  if (message.kept)
    std::free(message.data);
  if (message.failed)
    failed_.erase(number);
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
  if ((fields.flags & LISTED_FLAG) != 0 && RequestList::note_end(request, owner_of(request)))
    fields.flags |= AWAITED_FLAG;
  if ((fields.flags & AWAITED_FLAG) != 0)
    end_awaited(request);
  if (told_of_end_)
    told_of_end_(request);
  release(request);
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

} // namespace weft
