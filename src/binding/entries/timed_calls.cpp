// SPDX-License-Identifier: LGPL-2.1-only
/* MPI functions that can take simulated time, interposed on to time SMPI's own (profile.hpp). Calls
 * of the program go into a trace if the run records one (traced_call.hpp).
 *
 * The functions, which mpi/procedures lists with the way of each, are the PMPI_… functions, which programs, Fortran and
 * profiling tools all call; LD_PRELOAD puts them before SMPI's. Here are ways that no other file has. Functions that
 * create communicators are in communicator_making.cpp, file functions in files/. Other functions take no time in SMPI,
 * or do not exist in SMPI, or are MPI_Init_thread, which calls MPI_Init. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/in_place.hpp"
#include "binding/entries/direct_calls.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/intercommunicators/collectives.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/entries/one_sided_calls.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/polls/polls.hpp"
#include "binding/entries/requests/composed.hpp"
#include "binding/entries/requests/null_peers.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/entries/requests/replaced_data.hpp"
#include "binding/entries/requests/send_buffers.hpp"
#include "binding/entries/requests/some_requests.hpp"
#include "binding/observe/clock_reads.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/traced_call.hpp"
#include "binding/point_to_point/direct_messages.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/requests/kept_error.hpp"
#include "binding/requests/request_list.hpp"
#include "binding/run/request.hpp"

#include <smpi/smpi.h>
#include <tuple>

namespace weft {
namespace {

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// These functions access requests through their activities (request.hpp). Other waits, polls and starts handle
// activities in their own ways.

int watched_Cancel(decltype(&PMPI_Cancel) next_definition, MPI_Request* request)
{
  RequestSignal::make_activities();
  return next_definition(request);
}

int watched_Waitany(decltype(&PMPI_Waitany) next_definition, int count, MPI_Request* requests, int* index,
                    MPI_Status* status)
{
  RequestSignal::make_activities();
  return with_error_of_status(status, index, [&](MPI_Status* its) {
    RequestList* const list = index ? RequestList::find(span_of(requests, count)) : nullptr;
    if (not list)
      return next_definition(count, requests, index, its);
    *index = list->wait(its);
    return static_cast<int>(MPI_SUCCESS);
  });
}

int watched_Waitsome(decltype(&PMPI_Waitsome) next_definition, int count, MPI_Request* requests, int* ended,
                     int* indices, MPI_Status* statuses)
{
  RequestSignal::make_activities();
  if (RequestList* const list = ended ? RequestList::find(span_of(requests, count)) : nullptr) {
    *ended = wait_for_some(*list, indices, statuses);
    return error_of_last_waitsome();
  }
  const int result = next_definition(count, requests, ended, indices, statuses);
  return result == MPI_SUCCESS ? error_of_last_waitsome() : result;
}

int kept_Probe(decltype(&PMPI_Probe) next_definition, int source, int tag, MPI_Comm comm, MPI_Status* status)
{
  const KeptError kept(status);
  return next_definition(source, tag, comm, status);
}

/** Frees a communicator by @p next_definition, and the data of an intercommunicator. */
int free_communicator(int (*next_definition)(MPI_Comm*), MPI_Comm* comm)
{
  const MPI_Comm freed = comm ? *comm : MPI_COMM_NULL;
  if (freed == MPI_COMM_NULL || not intercommunicator_of(freed)) [[likely]]
    return next_definition(comm);
  if (not OwnMessages::get()) // SMPI may still number messages in flight (message_numbers.cpp)
    freed->ref();
  const int result = next_definition(comm);
  if (result == MPI_SUCCESS && OwnMessages::get())
    free_intercommunicator(freed);
  return result;
}

int freed_Comm_free(decltype(&PMPI_Comm_free) next_definition, MPI_Comm* comm)
{
  return free_communicator(next_definition, comm);
}

int freed_Comm_disconnect(decltype(&PMPI_Comm_disconnect) next_definition, MPI_Comm* comm)
{
  return free_communicator(next_definition, comm);
}

/** Initializes MPI, and connects the ranks of a spawned world with their parents. */
int connected_Init(decltype(&PMPI_Init) next_definition, int* argc, char*** argv)
{
  const RunContext& run = current_run();
  if (run.on_init)
    run.on_init(false);
  const int result = next_definition(argc, argv);
  if (result == MPI_SUCCESS && run.on_init)
    run.on_init(true);
  return result;
}

// NOLINTEND(readability-identifier-naming)

/** Returns the communicator among the arguments of a call. */
template <class... Types> MPI_Comm communicator_among(Types... call_arguments)
{
  return std::get<MPI_Comm>(std::tuple<Types...>(call_arguments...));
}

bool is_recorded(const TimedCall& timed)
{
  return timed.outermost() && CallTrace::get();
}

/** Makes a call that a trace records. Out of line: the recorded arguments are large and stay on the rank's stack, and
 * with millions of ranks each has one page of stack. */
template <class Call, class Make, class... Types>
[[gnu::noinline]] auto recorded(const Make& make, Types... call_arguments)
{
  auto traced = traced_call<Call>(true, call_arguments...);
  return traced.end(make(call_arguments...));
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

#include "mpi/timed_calls.inc"
