// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/pooled_requests.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/tuning/request_numbers.hpp"

#include <utility>
#include <vector>

using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Flags of requests that SMPI must finish. */
constexpr unsigned UNUSUAL = simgrid::smpi::PREPARED_FLAG | simgrid::smpi::FINISHED_FLAG |
                             simgrid::smpi::CANCELLED_FLAG | simgrid::smpi::FAILED_FLAG;

std::vector<MPI_Request>& idle_requests()
{
  static auto* const IDLE = new std::vector<MPI_Request>; // leaked, since ranks may end during static destruction
  return *IDLE;
}

/** Communicators may be freed while their messages are in flight; a program's MPI_COMM_WORLD is not. */
void hold(MPI_Comm comm)
{
  if (comm != MPI_COMM_WORLD)
    comm->ref();
}

void let_go(MPI_Comm comm)
{
  if (comm != MPI_COMM_WORLD)
    simgrid::smpi::Comm::unref(comm);
}

/** By actor: request of its last detached send, which its next send may share. */
ActorMap<MPI_Request>& shareable_requests()
{
  static auto* const ALL = new ActorMap<MPI_Request>; // leaked for the same reason
  return *ALL;
}

/** Prevents further sharing of a request. */
void no_longer_share(MPI_Request request)
{
  if ((fields_of(request).flags & simgrid::smpi::SEND_FLAG) == 0)
    return;
  MPI_Request* const shareable = shareable_requests().find(fields_of(request).source);
  if (shareable && *shareable == request)
    *shareable = MPI_REQUEST_NULL;
}

/** Number of unfinished sends that share a request, stored in a field that sends do not use. */
int& unfinished_sends(MPI_Request request)
{
  return fields_of(request).real_tag;
}

void set_message(RequestLayout& fields, const RequestArguments& arguments)
{
  fields.buffer      = arguments.buffer;
  fields.old_buffer  = arguments.buffer;
  fields.type        = arguments.type;
  fields.size        = arguments.size;
  fields.source      = arguments.source;
  fields.destination = arguments.destination;
  fields.tag         = arguments.tag;
  fields.source_host = arguments.source_host;
}

/** Returns a new request of SMPI, without a reference to its communicator. */
MPI_Request make_request(MPI_Comm comm)
{
  constexpr int TAG         = 7;
  MPI_Request const request = simgrid::smpi::Request::irecv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, TAG, comm);
  const RequestLayout& its  = layout_of(request);
  const bool is_expected    = its.type == MPI_BYTE && its.size == 0 && its.source == MPI_PROC_NULL && its.tag == TAG &&
                              its.comm == comm && not its.action && its.references == 1 && its.parts.empty();
  simgrid::smpi::require_layout(is_expected);
  simgrid::smpi::Comm::unref(comm);
  return request;
}

/** Drops a reference, and returns the request to the pool after the last one. */
void drop(MPI_Request& request)
{
  RequestLayout& fields = fields_of(request);
  if (--fields.references > 0)
    return;
  no_longer_share(request);
  fields.action = nullptr;
  let_go(fields.comm);
  idle_requests().push_back(std::exchange(request, MPI_REQUEST_NULL));
}

/** Releases the number of a request that Fortran knows, or that SMPI gives to every request if the tuning of numbers is
 * off. SMPI itself would need a running rank, for its MPI_COMM_WORLD. */
void take_number_back(MPI_Request request)
{
  simgrid::smpi::F2C::free_f(fields_of(request).f2c_id);
  fields_of(request).f2c_id = simgrid::smpi::UNNUMBERED;
}

} // namespace

MPI_Request pooled_request(const RequestArguments& arguments)
{
  std::vector<MPI_Request>& idle = idle_requests();
  if (idle.empty())
    idle.push_back(make_request(arguments.comm));
  MPI_Request const request = idle.back();
  idle.pop_back();
  hold(arguments.comm);
  RequestLayout& fields = fields_of(request);
  set_message(fields, arguments);
  fields.deleted         = false;
  fields.real_source     = 0;
  fields.real_tag        = 0;
  fields.real_size       = 0;
  fields.comm            = arguments.comm;
  fields.flags           = arguments.flags | simgrid::smpi::NON_PERSISTENT_FLAG | simgrid::smpi::POOLED_FLAG;
  fields.detached        = false;
  fields.detached_sender = MPI_REQUEST_NULL;
  fields.references      = 0;
  return request;
}

MPI_Request request_of_sends(const RequestArguments& arguments)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  constexpr unsigned USUAL  = OWN_FLAG | ENDED_FLAG;
  MPI_Request const request = std::exchange(shareable_requests()[arguments.source], MPI_REQUEST_NULL);
  if (request == MPI_REQUEST_NULL || fields_of(request).comm != arguments.comm ||
      (fields_of(request).flags & (USUAL | UNUSUAL)) != USUAL || has_number(request))
    return pooled_request(arguments);
  set_message(fields_of(request), arguments);
  fields_of(request).flags |= SHARED_FLAG;
  ++unfinished_sends(request);
  return request;
}

void share_sends(MPI_Request request)
{
  if ((fields_of(request).flags & simgrid::smpi::SHARED_FLAG) == 0)
    unfinished_sends(request) = 1;
  shareable_requests()[fields_of(request).source] = request;
}

bool finish_pooled(MPI_Request* request, MPI_Status* status)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields = fields_of(*request);
  if (not is_pooled(*request) || (fields.flags & UNUSUAL) != 0 || fields.truncated || fields.unmatched_types ||
      has_number(*request)) // its next use must not inherit the number
    return false;
  if (status != MPI_STATUS_IGNORE) {
    const aid_t source = fields.source == MPI_ANY_SOURCE ? fields.real_source : fields.source;
    *status            = {.MPI_SOURCE = fields.comm->group()->rank(source),
                          .MPI_TAG    = fields.tag == MPI_ANY_TAG ? fields.real_tag : fields.tag,
                          .MPI_ERROR  = MPI_SUCCESS,
                          .count      = 0,
                          .cancelled  = 0};
    set_status_bytes(*status, static_cast<std::int64_t>(fields.real_size));
  }
  OwnMessages::get()->overheads().pay_for_receives({request, 1});
  if ((fields.flags & SHARED_FLAG) == 0 || --unfinished_sends(*request) == 0)
    fields.flags |= FINISHED_FLAG;
  drop(*request);
  return true;
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED void Request::unref(MPI_Request* request)
{
  static const auto THEIRS = weft::original(&Request::unref);
  if (*request == MPI_REQUEST_NULL || not weft::is_pooled(*request))
    return THEIRS(request);
  if (layout_of(*request).references == 1 && weft::has_number(*request))
    weft::take_number_back(*request);
  weft::drop(*request);
}

} // namespace simgrid::smpi
