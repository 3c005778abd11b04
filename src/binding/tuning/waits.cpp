// SPDX-License-Identifier: LGPL-2.1-only
/* Request::waitany without tables of all requests; MPI_Waitall calls it once per request.
 *
 * SMPI first builds tables of all requests, each time (Request::waitany in
 * src/smpi/mpi/smpi_request.cpp). It then takes the first request that has nothing to wait for (a
 * message that has been sent and needs no answer), or else the first whose message has ended
 * (ActivityImpl::wait_any_for). If there is such a request, SMPI is called with it alone, which
 * gives the same result at the same time, in the same scheduling round of SimGrid.
 */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <optional>
#include <span>

namespace weft {
namespace {

/** Returns the index of the request that SMPI would take; nothing if all are in flight, or none is
 *  active. Not inlined, since SMPI's own calls while it waits reach the end of the first page of a
 *  rank's stack. */
[[gnu::noinline]] std::optional<int> first_at_its_end(std::span<const MPI_Request> requests)
{
  std::optional<int> ended;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (not simgrid::smpi::is_active(requests[i]))
      continue;
    const auto& action = simgrid::smpi::layout_of(requests[i]).action;
    if (not action)
      return static_cast<int>(i);
    if (not ended && has_ended(*action))
      ended = static_cast<int>(i);
  }
  return ended;
}

} // namespace
} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED int Request::waitany(int count, MPI_Request* requests, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::waitany);
  if (count < 2)
    return THEIRS(count, requests, status);
  const std::optional<int> first = weft::first_at_its_end({requests, static_cast<std::size_t>(count)});
  if (not first)
    return THEIRS(count, requests, status);
  return THEIRS(1, requests + *first, status) == MPI_UNDEFINED ? MPI_UNDEFINED : *first;
}

} // namespace simgrid::smpi
