// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/direct_calls.hpp"

#include "binding/entries/rank_exit.hpp"

#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/calls/in_place.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/point_to_point/pooled_requests.hpp"
#include "binding/point_to_point/waits.hpp"
#include "binding/ranks/counts_summary.hpp"
#include "binding/ranks/places.hpp"
#include "binding/requests/kept_error.hpp"
#include "binding/run/request.hpp"
#include "binding/settings/tunings.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace colls = simgrid::smpi::colls;

namespace weft {
namespace {

/** Pairs of predefined operations and datatypes that SMPI has accepted; SMPI checks them against a table. */
std::vector<std::pair<MPI_Op, MPI_Datatype>>& allowed()
{
  static std::vector<std::pair<MPI_Op, MPI_Datatype>> pairs;
  return pairs;
}

bool is_allowed(MPI_Op op, MPI_Datatype type)
{
  return std::ranges::find(allowed(), std::pair(op, type)) != allowed().end();
}

/** Returns @p result of a call through SMPI, and records the accepted pair on success. */
int learn(int result, MPI_Op op, MPI_Datatype type)
{
  if (result == MPI_SUCCESS)
    let_pass(op, type);
  return result;
}

/** Returns whether both buffers belong to the program: neither null nor MPI_IN_PLACE. */
bool are_buffers(const void* send, const void* receive)
{
  return send && receive && send != MPI_IN_PLACE && receive != MPI_IN_PLACE;
}

/** Returns whether no count of the communicator's ranks is negative. */
bool are_counts(const int* counts, MPI_Comm comm)
{
  return counts && summarize_counts(counts, comm).least >= 0;
}

bool is_plain_reduction(const void* send, const void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  return calls_are_direct() && count >= 0 && are_buffers(send, receive) && is_allowed(op, type) && is_usable(comm);
}

bool& buffers_stay_now()
{
  static bool stay = false;
  return stay;
}

/** Finishes as many requests as possible by RequestSignal::put_aside(). @return whether all were finished */
bool are_put_aside(std::span<MPI_Request> requests)
{
  bool all = true;
  for (MPI_Request& request : requests)
    all &= RequestSignal::put_aside(request, MPI_STATUS_IGNORE);
  return all;
}

/** Starts a non-blocking call directly, with buffers that stay unchanged. */
template <class Start> int start_directly(Start&& start_it)
{
  buffers_stay_now() = true;
  const int result   = start_it();
  buffers_stay_now() = false;
  return result;
}

} // namespace

void let_pass(MPI_Op op, MPI_Datatype type)
{
  if (is_predefined(type) && (op == MPI_OP_NULL || is_predefined(op)) && not is_allowed(op, type))
    allowed().emplace_back(op, type);
}

bool is_usable(MPI_Comm comm)
{
  return is_in_mpi() && comm != MPI_COMM_NULL &&
         not reinterpret_cast<const simgrid::smpi::HandleLayout*>(comm)->deleted;
}

bool buffers_stay()
{
  return std::exchange(buffers_stay_now(), false);
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int direct_Finalize(decltype(&PMPI_Finalize) next_definition)
{
  check_finalize();
  delete_own_attributes();
  RequestSignal::free_spare();
  leaves_mpi();
  return next_definition();
}

int direct_Wait(decltype(&PMPI_Wait) next_definition, MPI_Request* request, MPI_Status* status)
{
  const KeptError kept(status, request);
  const bool waited = request && *request != MPI_REQUEST_NULL && RequestSignal::wait_for(*request);
  if (waited && RequestSignal::put_aside(*request, status))
    return MPI_SUCCESS;
  if (calls_are_direct() && request && *request != MPI_REQUEST_NULL && simgrid::smpi::is_active(*request) &&
      is_pooled(*request))
    return wait_for_pooled(request, status);
  return next_definition(request, status);
}

int direct_Waitall(decltype(&PMPI_Waitall) next_definition, int count, MPI_Request* requests, MPI_Status* statuses)
{
  const std::span all(requests, requests && count > 0 ? static_cast<std::size_t>(count) : 0);
  for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < all.size(); ++i)
    if (not simgrid::smpi::is_active(all[i])) // SMPI skips complete persistent requests
      simgrid::smpi::Status::empty(statuses + i);
  if (all.empty() || not RequestSignal::wait_for_all(all))
    RequestSignal::make_activities();
  else if (statuses == MPI_STATUSES_IGNORE && are_put_aside(all))
    return MPI_SUCCESS;
  if (calls_are_direct() && OwnMessages::get() && are_plain(all))
    return wait_for_plain(all, statuses);
  return next_definition(count, requests, statuses);
}

// SMPI's Ibcast returns no request on a communicator of one rank, unlike all other non-blocking collectives.
int direct_Ibcast(decltype(&PMPI_Ibcast) next_definition, void* buffer, int count, MPI_Datatype type, int root,
                  MPI_Comm comm, MPI_Request* request)
{
  const int result = next_definition(buffer, count, type, root, comm, request);
  if (result != MPI_SUCCESS || colls::is_blocking(request) || comm->size() > 1)
    return result;
  return colls::ibcast(buffer, count, type, root, comm, request, 1);
}

int direct_Allreduce(decltype(&PMPI_Allreduce) next_definition, const void* send, void* receive, int count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  if (is_plain_reduction(send, receive, count, type, op, comm))
    return colls::allreduce(send, receive, count, type, op, comm);
  return next_definition(send, receive, count, type, op, comm); // calls PMPI_Iallreduce
}

int direct_Iallreduce(decltype(&PMPI_Iallreduce) next_definition, const void* send, void* receive, int count,
                      MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not request || not is_plain_reduction(send, receive, count, type, op, comm))
    return learn(in_place_reduction(next_definition, send, receive, count, type, op, comm, request), op, type);
  if (colls::is_blocking(request))
    return colls::allreduce(send, receive, count, type, op, comm);
  return start_directly([&] { return colls::iallreduce(send, receive, count, type, op, comm, request, 1); });
}

int direct_Reduce(decltype(&PMPI_Reduce) next_definition, const void* send, void* receive, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm)
{
  if (is_plain_reduction(send, receive, count, type, op, comm) && root >= 0 && root < comm->size())
    return colls::reduce(send, receive, count, type, op, root, comm);
  return next_definition(send, receive, count, type, op, root, comm);
}

int direct_Ireduce_scatter(decltype(&PMPI_Ireduce_scatter) next_definition, const void* send, void* receive,
                           const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  const CountsHeld held;
  if (not(calls_are_direct() && request && are_buffers(send, receive) && is_allowed(op, type) && is_usable(comm) &&
          are_counts(counts, comm)))
    return learn(in_place_Ireduce_scatter(next_definition, send, receive, counts, type, op, comm, request), op, type);
  if (colls::is_blocking(request))
    return colls::reduce_scatter(send, receive, counts, type, op, comm);
  return start_directly([&] { return colls::ireduce_scatter(send, receive, counts, type, op, comm, request, 1); });
}

int direct_Iallgatherv(decltype(&PMPI_Iallgatherv) next_definition, const void* send, int send_count,
                       MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                       MPI_Datatype type, MPI_Comm comm, MPI_Request* request)
{
  const CountsHeld held;
  if (not(calls_are_direct() && request && send_count >= 0 && displacements && are_buffers(send, receive) &&
          is_allowed(MPI_OP_NULL, send_type) && is_allowed(MPI_OP_NULL, type) && is_usable(comm) &&
          are_counts(counts, comm))) {
    const int result =
        learn(next_definition(send, send_count, send_type, receive, counts, displacements, type, comm, request),
              MPI_OP_NULL, type);
    return send == MPI_IN_PLACE ? result : learn(result, MPI_OP_NULL, send_type);
  }
  if (colls::is_blocking(request))
    return colls::allgatherv(send, send_count, send_type, receive, counts, displacements, type, comm);
  return start_directly([&] {
    return colls::iallgatherv(send, send_count, send_type, receive, counts, displacements, type, comm, request, 1);
  });
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
