// SPDX-License-Identifier: LGPL-2.1-only
/* Start, cancellation and end of SMPI's requests.
 *
 * Starts tell ranks that poll, and go to weft's messages where these carry them.
 *
 * SMPI assumes that a persistent receive that was matched once is matched again (Request::finish_wait in
 * src/smpi/mpi/smpi_request.cpp): it then releases the previous message a second time, and aborts on a wrong reference
 * count. A cancelled persistent request stays active, so that further tests release it again, and it cannot be
 * restarted.
 *
 * SMPI cancels a message that both sides have posted as if the network had failed. In MPI such a cancellation fails,
 * and the message is received (MPI 4.1, 3.8.4: either the cancellation succeeds, or the communication does).
 *
 * A message may end within an element of a derived type (MPI 4.1, 3.2.4); SMPI unpacks whole elements only. */
#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/data/elements.hpp"
#include "binding/entries/polls/polls.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/point_to_point/pooled_requests.hpp"
#include "binding/requests/composed_waits.hpp"
#include "binding/requests/poller.hpp"
#include "binding/requests/request_list.hpp"
#include "binding/run/request.hpp"

#include <cstddef>
#include <string_view>

using simgrid::smpi::fields_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Clears the state of a persistent request's last message, before the request is started. */
void forget_last_use(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & simgrid::smpi::PERSISTENT_FLAG) == 0)
    return;
  fields.flags &= ~(simgrid::smpi::MATCHED_FLAG | simgrid::smpi::CANCELLED_FLAG);
  fields.detached_sender = MPI_REQUEST_NULL;
}

void unpack_last_part(const RequestLayout& fields)
{
  const bool is_packed = (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0 && fields.buffer != fields.old_buffer;
  if (not is_packed || not fields.buffer || fields.op != MPI_REPLACE)
    return;
  const std::size_t size = element_size(fields.type);
  const std::size_t part = size == 0 ? 0 : fields.real_size % size;
  if (part == 0)
    return;
  const std::size_t whole = fields.real_size / size;
  unpack_part(static_cast<const std::byte*>(fields.buffer) + whole * size,
              moved(fields.old_buffer, static_cast<MPI_Aint>(whole) * extent_of(fields.type)), part, fields.type);
}

} // namespace
} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED void Request::start()
{
  static const auto THEIRS = weft::original<void (*)(Request*)>("_ZN7simgrid4smpi7Request5startEv");
  weft::forget_last_use(this);
  const RequestLayout& sent = layout_of(this);
  if ((sent.flags & LISTED_FLAG) != 0)
    weft::RequestList::note_start(this, weft::owner_of(this));
  const aid_t receiver = (sent.flags & RECEIVE_FLAG) == 0 ? sent.destination : -1;
  if (weft::OwnMessages* const messages = weft::OwnMessages::get(); not messages || not messages->start(this))
    THEIRS(this);
  if (receiver >= 0)
    weft::tell_receiver(receiver);
}

WEFT_INTERPOSED void Request::cancel()
{
  static const auto THEIRS = weft::original<void (*)(Request*)>("_ZN7simgrid4smpi7Request6cancelEv");
  if (is_active(this) && is_own(this))
    return weft::OwnMessages::get()->cancel(this);
  const auto& action = layout_of(this).action;
  if (action == nullptr || std::string_view(action->get_state_str()) == "WAITING")
    THEIRS(this);
}

WEFT_INTERPOSED void Request::finish_wait(MPI_Request* request, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::finish_wait);
  const unsigned flags     = layout_of(*request).flags;
  const auto size          = static_cast<std::int64_t>(layout_of(*request).real_size);
  if (is_own(*request))
    weft::OwnMessages::get()->ends().check(*request);
  if (weft::finish_pooled(request, status))
    return;
  weft::unpack_last_part(layout_of(*request));
  const MPI_Request composed = weft::is_composed(*request) ? *request : MPI_REQUEST_NULL;
  THEIRS(request, status);
  if (status != MPI_STATUS_IGNORE && status->count == static_cast<int>(size))
    weft::set_status_bytes(*status, size);
  if (composed != MPI_REQUEST_NULL)
    weft::take_status(composed, status);
  const bool is_cancelled =
      (flags & PERSISTENT_FLAG) != 0 && (flags & (CANCELLED_FLAG | MATCHED_FLAG)) == CANCELLED_FLAG;
  if (not is_cancelled || *request == MPI_REQUEST_NULL)
    return;
  fields_of(*request).action = nullptr;
  fields_of(*request).flags |= FINISHED_FLAG;
}

} // namespace simgrid::smpi
