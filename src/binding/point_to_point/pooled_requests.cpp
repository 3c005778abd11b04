// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/pooled_requests.hpp"

#include "binding/abi/original.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/tuning/request_numbers.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

std::vector<MPI_Request>& idle_requests()
{
  static auto* const IDLE = new std::vector<MPI_Request>; // leaked: ranks may end during static destruction
  return *IDLE;
}

RequestLayout& fields_of(MPI_Request request)
{
  return *reinterpret_cast<RequestLayout*>(request);
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

/** Returns a new request of SMPI, without a reference to its communicator. */
MPI_Request make_request(MPI_Comm comm)
{
  constexpr int TAG         = 7;
  MPI_Request const request = simgrid::smpi::Request::irecv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, TAG, comm);
  const RequestLayout& its  = layout_of(request);
  const bool known          = its.type == MPI_BYTE && its.size == 0 && its.source == MPI_PROC_NULL && its.tag == TAG &&
                              its.comm == comm && not its.action && its.references == 1 && its.parts.empty();
  if (not known)
    throw std::logic_error("the layout of MPI requests in this SimGrid is unknown to weft; use SimGrid 4.1");
  simgrid::smpi::Comm::unref(comm);
  return request;
}

/** Drops a reference, and puts the request back after the last one. */
void drop(MPI_Request& request)
{
  RequestLayout& fields = fields_of(request);
  if (--fields.references > 0)
    return;
  fields.action = nullptr;
  let_go(fields.comm);
  idle_requests().push_back(std::exchange(request, MPI_REQUEST_NULL));
}

/** Makes an ordinary request of a pooled one. */
void give_to_smpi(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  fields.flags &= ~simgrid::smpi::POOLED_FLAG;
  if (fields.comm == MPI_COMM_WORLD)
    fields.comm->ref();
  fields.type->ref();
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
  RequestLayout& fields  = fields_of(request);
  fields.deleted         = false;
  fields.buffer          = arguments.buffer;
  fields.old_buffer      = arguments.buffer;
  fields.type            = arguments.type;
  fields.size            = arguments.size;
  fields.source          = arguments.source;
  fields.destination     = arguments.destination;
  fields.tag             = arguments.tag;
  fields.real_source     = 0;
  fields.real_tag        = 0;
  fields.real_size       = 0;
  fields.comm            = arguments.comm;
  fields.flags           = arguments.flags | simgrid::smpi::NON_PERSISTENT_FLAG | simgrid::smpi::POOLED_FLAG;
  fields.detached        = false;
  fields.detached_sender = MPI_REQUEST_NULL;
  fields.references      = 0;
  fields.source_host     = arguments.source_host;
  return request;
}

bool finish_pooled(MPI_Request* request, MPI_Status* status)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields      = fields_of(*request);
  constexpr unsigned UNUSUAL = PREPARED_FLAG | FINISHED_FLAG | CANCELLED_FLAG | FAILED_FLAG;
  if (not is_pooled(*request) || (fields.flags & UNUSUAL) != 0 || fields.truncated || fields.unmatched_types ||
      has_number(*request)) // which its next use must not inherit
    return false;
  if (status != MPI_STATUS_IGNORE) {
    const aid_t source = fields.source == MPI_ANY_SOURCE ? fields.real_source : fields.source;
    *status            = {.MPI_SOURCE = fields.comm->group()->rank(source),
                          .MPI_TAG    = fields.tag == MPI_ANY_TAG ? fields.real_tag : fields.tag,
                          .MPI_ERROR  = MPI_SUCCESS,
                          .count      = static_cast<int>(fields.real_size),
                          .cancelled  = 0};
  }
  OwnMessages::get()->pay_for_receives({request, 1});
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
  if (layout_of(*request).references > 1 || not weft::has_number(*request))
    return weft::drop(*request);
  weft::give_to_smpi(*request);
  THEIRS(request);
}

} // namespace simgrid::smpi
