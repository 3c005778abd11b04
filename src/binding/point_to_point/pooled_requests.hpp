// SPDX-License-Identifier: LGPL-2.1-only
/* Reusable requests for direct calls: creating and freeing an SMPI request costs more than matching its message.
 *
 * A pooled request is an ordinary SMPI request, non-persistent, of a predefined datatype, and any function of SMPI may
 * use it. Request::unref, on which weft interposes, returns it to the pool.
 *
 * Detached sends of a rank complete immediately, so those that it has not waited for yet share a request, which saves
 * memory with many ranks. MPICH's completed sends do the same. Such sends cannot be cancelled, and their statuses are
 * the last one's: MPI defines neither tag nor source of a send's status (MPI 4.1, 3.2.5). */
#pragma once

#include "binding/abi/smpi/requests.hpp"

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

/** Returns a request that has not been started. It has no references: starting and finishing it count references as in
 * SMPI. */
MPI_Request pooled_request(const RequestArguments& arguments);

/** Returns the request of the current rank's last detached send for reuse, if it has not been finished; otherwise a new
 * one. Call share_sends() once the send has started. */
MPI_Request request_of_sends(const RequestArguments& arguments);

/** Lets the next detached send of the current rank share this one's request. */
void share_sends(MPI_Request request);

/** Returns whether a request comes from pooled_request(). */
inline bool is_pooled(MPI_Request request)
{
  return (simgrid::smpi::layout_of(request).flags & simgrid::smpi::POOLED_FLAG) != 0;
}

/** Finishes a complete pooled request, like Request::finish_wait(). @return false if SMPI must do it, because of an
 * error or a cancellation */
bool finish_pooled(MPI_Request* request, MPI_Status* status);

} // namespace weft
