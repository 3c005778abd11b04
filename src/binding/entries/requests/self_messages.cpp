// SPDX-License-Identifier: LGPL-2.1-only
/* Statuses of MPI_Sendrecv from a rank to itself: SMPI sets the source to the number of the rank's actor, the tag to
 * the receive's, and the count to an int. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/data/elements.hpp"
#include "binding/ranks/current.hpp"

namespace simgrid::smpi {

WEFT_INTERPOSED void Request::sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int to, int send_tag,
                                       void* received, int receive_count, MPI_Datatype receive_type, int from,
                                       int receive_tag, MPI_Comm comm, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::sendrecv);
  simgrid::smpi::Status::empty(status);
  THEIRS(sent, send_count, send_type, to, send_tag, received, receive_count, receive_type, from, receive_tag, comm,
         status);
  if (status != MPI_STATUS_IGNORE && to == from && to >= 0 && comm->group()->actor(to) == weft::current_actor()) {
    status->MPI_SOURCE = from;
    status->MPI_TAG    = send_tag;
    weft::set_status_bytes(*status, send_count * static_cast<std::int64_t>(weft::element_size(send_type)));
  }
}

} // namespace simgrid::smpi
