// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/requests/composed.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/requests/composed_waits.hpp"
#include "binding/run/request.hpp"

#include <array>

namespace weft {

MPI_Request compose(std::span<const MPI_Request> parts)
{
  MPI_Request const request            = RequestSignal::empty_request();
  simgrid::smpi::RequestLayout& fields = simgrid::smpi::fields_of(request);
  fields.flags |= simgrid::smpi::COMPOSED_FLAG;
  fields.parts.assign(parts.begin(), parts.end());
  return request;
}

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
int composed_Isendrecv(decltype(&PMPI_Isendrecv) next_definition, const void* sent, int send_count,
                       MPI_Datatype send_type, int to, int send_tag, void* received, int receive_count,
                       MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm, MPI_Request* request)
{
  const auto refuse = [&] { // SMPI checks all arguments before it starts any part
    return next_definition(sent, send_count, send_type, to, send_tag, received, receive_count, receive_type, from,
                           receive_tag, comm, request);
  };
  std::array<MPI_Request, 2> parts{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (not request ||
      PMPI_Irecv(received, receive_count, receive_type, from, receive_tag, comm, &parts[1]) != MPI_SUCCESS)
    return refuse();
  if (PMPI_Isend(sent, send_count, send_type, to, send_tag, comm, parts.data()) != MPI_SUCCESS) {
    PMPI_Cancel(&parts[1]);
    PMPI_Wait(&parts[1], MPI_STATUS_IGNORE);
    return refuse();
  }
  *request = compose(parts);
  return MPI_SUCCESS;
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED int Request::finish_nbc_requests(MPI_Request* request, int test)
{
  static const auto THEIRS = weft::original(&Request::finish_nbc_requests);
  if ((layout_of(*request).flags & COMPOSED_FLAG) == 0)
    return THEIRS(request, test);
  return weft::finish_parts(*request, test != 0) ? 1 : 0;
}

} // namespace simgrid::smpi
