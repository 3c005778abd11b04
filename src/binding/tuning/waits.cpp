// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for one of several requests, which MPI_Waitall does as often as there are requests.
 *
 * SMPI makes tables of all requests first, each time (Request::waitany in src/smpi/mpi/smpi_request.cpp). What it then
 * takes is the first request that has nothing to wait for, which is a message that was sent and needs no answer; where
 * there is none, the first whose message has ended (ActivityImpl::wait_any_for). Where there is one of these, SMPI is
 * given that request alone; it does the same with it, at the same time, in the same round of SimGrid's.
 */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <optional>
#include <span>

namespace weft {
namespace {

/** The position of the request that is taken; nothing where all are still under way, or none is. Apart, since what SMPI
 *  calls while it waits reaches the end of a rank's first page of stack. */
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
