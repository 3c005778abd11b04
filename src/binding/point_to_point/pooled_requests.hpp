// SPDX-License-Identifier: LGPL-2.1-only
/* Requests that direct calls reuse: creating and freeing one of SMPI's costs more than matching its message.
 *
 * A pooled request is an ordinary request of SMPI, not persistent, of a predefined datatype, and any function of SMPI
 * may use it. Request::unref, which weft interposes on, returns it to the pool. */
#pragma once

#include "binding/abi/private_abi.hpp"

#include <smpi/smpi.h>

#include <cstddef>

namespace weft {

/** Arguments of a message, in SMPI's terms. */
struct RequestArguments {
  void* buffer;
  MPI_Datatype type; ///< predefined
  std::size_t size;  ///< bytes
  aid_t source;      ///< actor, or MPI_ANY_SOURCE
  aid_t destination; ///< actor
  simgrid::s4u::Host* source_host;
  int tag;
  MPI_Comm comm;
  unsigned flags; ///< kind of send or receive
};

/** Returns a request that has not been started. It has no references: starting and finishing it count as SMPI's do. */
MPI_Request pooled_request(const RequestArguments& arguments);

/** Returns whether a request comes from pooled_request(). */
inline bool is_pooled(MPI_Request request)
{
  return (simgrid::smpi::layout_of(request).flags & simgrid::smpi::POOLED_FLAG) != 0;
}

/** Finishes a pooled request that has ended, as Request::finish_wait() does. @return false if SMPI has to do it,
 * because of an error or a cancellation */
bool finish_pooled(MPI_Request* request, MPI_Status* status);

} // namespace weft
