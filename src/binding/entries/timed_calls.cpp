// SPDX-License-Identifier: LGPL-2.1-only
/* MPI functions that can take simulated time, interposed on to time SMPI's own (profile.hpp). Calls
 * of the program go into a trace if the run records one (traced_call.hpp).
 *
 * These are the PMPI_… functions, which programs, Fortran and profiling tools all call; LD_PRELOAD puts the definitions
 * before SMPI's. Functions that create communicators are in communicator_making.cpp, file functions in files/. A
 * function that is not in the table takes no time in SMPI, or does not exist in SMPI, or is MPI_Init_thread, which
 * calls MPI_Init. */
#include "binding/abi/original.hpp"
#include "binding/calls/in_place.hpp"
#include "binding/entries/direct_calls.hpp"
#include "binding/entries/exposure_epochs.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/intercommunicators/collectives.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/entries/polls.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/requests/composed.hpp"
#include "binding/entries/requests/null_peers.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/entries/requests/replaced_data.hpp"
#include "binding/entries/requests/send_buffers.hpp"
#include "binding/entries/requests/some_requests.hpp"
#include "binding/entries/windows/attributes.hpp"
#include "binding/entries/windows/epochs.hpp"
#include "binding/entries/windows/requests.hpp"
#include "binding/observe/clock_reads.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/traced_call.hpp"
#include "binding/point_to_point/direct_messages.hpp"
#include "binding/point_to_point/kept_error.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/point_to_point/request_list.hpp"
#include "binding/run/request.hpp"

#include <cstddef>
#include <smpi/smpi.h>
#include <tuple>

namespace weft {
namespace {

template <class Signature> struct Arguments;
template <class Result, class... Types> struct Arguments<Result(Types...)> {
  template <std::size_t index> using Type = std::tuple_element_t<index, std::tuple<Types...>>;
};
template <std::size_t index, class Signature> using Argument = typename Arguments<Signature>::template Type<index>;

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

/** Returns @p function with a request that completes at the end of an epoch of @p win. */
template <class Function> auto requested(Function function, MPI_Win win, MPI_Request* request)
{
  return [=](auto... all) { return with_window_request(win, request, [&] { return function(all...); }); };
}

/** Returns a wrapper of @p function that completes the requests of @p win first. */
template <class Function> auto completing(Function function, MPI_Win win)
{
  return [=](auto... all) {
    complete_window_requests(win);
    return function(all...);
  };
}

auto exposing(decltype(&PMPI_Win_post) function)
{
  return [=](MPI_Group group, int assertion, MPI_Win win) { return exposed_Win_post(function, group, assertion, win); };
}

auto freeing(decltype(&PMPI_Win_free) function)
{
  return [=](MPI_Win* win) {
    const MPI_Win freed = win ? *win : MPI_WIN_NULL;
    const int result    = function(win);
    if (result == MPI_SUCCESS) {
      note_free(freed);
      forget_attributes(freed);
    }
    return result;
  };
}

/** Counts a one-sided call that reads @p result from its target, or writes it there. */
void note_read(const char* name, const void* result, int count, MPI_Datatype type, int target, MPI_Aint at,
               MPI_Op operation, MPI_Win win)
{
  const std::initializer_list<std::int64_t> arguments{number_of_handle(win), number_of_handle(result), target, at};
  if (changes_target(operation))
    note_progress();
  else
    note_call(CallIdentity(name, arguments).add(result, count, type));
}

void note_swap(const void* compared, const void* result, MPI_Datatype type, int target, MPI_Aint at, MPI_Win win)
{
  if (has_swapped(compared, result, type))
    note_progress();
  else
    note_read("Compare_and_swap", result, 1, type, target, at, MPI_NO_OP, win);
}

/** Counts a call that begins or ends an epoch, or completes accesses. */
void note_epoch(const char* name, MPI_Win win, int target)
{
  note_call(CallIdentity(name, {number_of_handle(win), target}));
}

constexpr bool TRACED   = true;
constexpr bool UNTRACED = false;

/** Returns the communicator among the arguments of a call. */
template <class... Types> MPI_Comm communicator_among(Types... arguments)
{
  return std::get<MPI_Comm>(std::tuple<Types...>(arguments...));
}

/** Calls SMPI's function, like the call paths in other files. */
template <class Function, class... Types> int theirs(Function next_definition, Types... arguments)
{
  return next_definition(arguments...);
}

/** Makes a call that a trace records. Out of line: the recorded arguments are large and stay on the rank's stack, and
 * with millions of ranks each has one page of stack. */
template <class Call, class Way, class... Types> [[gnu::noinline]] auto recorded(const Way& way, Types... arguments)
{
  auto traced = traced_call<Call>(true, arguments...);
  return traced.end(way(arguments...));
}

} // namespace
} // namespace weft

// Parameter and argument lists by number of parameters.
#define WEFT_PARAMETERS_0(Signature)
#define WEFT_PARAMETERS_1(Signature) Argument<0, Signature> a0
#define WEFT_PARAMETERS_2(Signature) WEFT_PARAMETERS_1(Signature), Argument<1, Signature> a1
#define WEFT_PARAMETERS_3(Signature) WEFT_PARAMETERS_2(Signature), Argument<2, Signature> a2
#define WEFT_PARAMETERS_4(Signature) WEFT_PARAMETERS_3(Signature), Argument<3, Signature> a3
#define WEFT_PARAMETERS_5(Signature) WEFT_PARAMETERS_4(Signature), Argument<4, Signature> a4
#define WEFT_PARAMETERS_6(Signature) WEFT_PARAMETERS_5(Signature), Argument<5, Signature> a5
#define WEFT_PARAMETERS_7(Signature) WEFT_PARAMETERS_6(Signature), Argument<6, Signature> a6
#define WEFT_PARAMETERS_8(Signature) WEFT_PARAMETERS_7(Signature), Argument<7, Signature> a7
#define WEFT_PARAMETERS_9(Signature) WEFT_PARAMETERS_8(Signature), Argument<8, Signature> a8
#define WEFT_PARAMETERS_10(Signature) WEFT_PARAMETERS_9(Signature), Argument<9, Signature> a9
#define WEFT_PARAMETERS_11(Signature) WEFT_PARAMETERS_10(Signature), Argument<10, Signature> a10
#define WEFT_PARAMETERS_12(Signature) WEFT_PARAMETERS_11(Signature), Argument<11, Signature> a11
#define WEFT_PARAMETERS_13(Signature) WEFT_PARAMETERS_12(Signature), Argument<12, Signature> a12
#define WEFT_ARGUMENTS_0
#define WEFT_ARGUMENTS_1 a0
#define WEFT_ARGUMENTS_2 WEFT_ARGUMENTS_1, a1
#define WEFT_ARGUMENTS_3 WEFT_ARGUMENTS_2, a2
#define WEFT_ARGUMENTS_4 WEFT_ARGUMENTS_3, a3
#define WEFT_ARGUMENTS_5 WEFT_ARGUMENTS_4, a4
#define WEFT_ARGUMENTS_6 WEFT_ARGUMENTS_5, a5
#define WEFT_ARGUMENTS_7 WEFT_ARGUMENTS_6, a6
#define WEFT_ARGUMENTS_8 WEFT_ARGUMENTS_7, a7
#define WEFT_ARGUMENTS_9 WEFT_ARGUMENTS_8, a8
#define WEFT_ARGUMENTS_10 WEFT_ARGUMENTS_9, a9
#define WEFT_ARGUMENTS_11 WEFT_ARGUMENTS_10, a10
#define WEFT_ARGUMENTS_12 WEFT_ARGUMENTS_11, a11
#define WEFT_ARGUMENTS_13 WEFT_ARGUMENTS_12, a12
// Argument lists that follow another argument.
#define WEFT_MORE_0
#define WEFT_MORE_1 , WEFT_ARGUMENTS_1
#define WEFT_MORE_2 , WEFT_ARGUMENTS_2
#define WEFT_MORE_3 , WEFT_ARGUMENTS_3
#define WEFT_MORE_4 , WEFT_ARGUMENTS_4
#define WEFT_MORE_5 , WEFT_ARGUMENTS_5
#define WEFT_MORE_6 , WEFT_ARGUMENTS_6
#define WEFT_MORE_7 , WEFT_ARGUMENTS_7
#define WEFT_MORE_8 , WEFT_ARGUMENTS_8
#define WEFT_MORE_9 , WEFT_ARGUMENTS_9
#define WEFT_MORE_10 , WEFT_ARGUMENTS_10
#define WEFT_MORE_11 , WEFT_ARGUMENTS_11
#define WEFT_MORE_12 , WEFT_ARGUMENTS_12
#define WEFT_MORE_13 , WEFT_ARGUMENTS_13

/** Defines PMPI_@p name with its number of @p parameters and its @p kind. @p shown: true if SimGrid's own trace shows
 * the function. */
#define WEFT_TIMED(parameters, name, kind, shown)                                                                      \
  WEFT_INTERPOSED auto PMPI_##name(WEFT_PARAMETERS_##parameters(decltype(PMPI_##name)))                                \
      -> decltype(PMPI_##name(WEFT_ARGUMENTS_##parameters))                                                            \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    static MpiFunction function{"MPI_" #name, CallKind::kind, shown};                                                  \
    const TimedCall timed(function);                                                                                   \
    if (timed.outermost() && CallTrace::get())                                                                         \
      return recorded<trace::calls::name>(THEIRS WEFT_MORE_##parameters);                                              \
    return THEIRS(WEFT_ARGUMENTS_##parameters);                                                                        \
  }

/** Defines PMPI_@p name like WEFT_TIMED, through @p way_name, which gets SMPI's function: in_place (in_place.hpp),
 * direct (direct_calls.hpp, direct_messages.hpp), polled (polls.hpp), buffered (send_buffers.hpp), or watched
 * (clock_reads.hpp). */
#define WEFT_TIMED_AS(parameters, name, kind, shown, way)                                                              \
  WEFT_INTERPOSED auto PMPI_##name(WEFT_PARAMETERS_##parameters(decltype(PMPI_##name)))                                \
      -> decltype(PMPI_##name(WEFT_ARGUMENTS_##parameters))                                                            \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    static MpiFunction function{"MPI_" #name, CallKind::kind, shown};                                                  \
    const TimedCall timed(function);                                                                                   \
    if (timed.outermost() && CallTrace::get())                                                                         \
      return recorded<trace::calls::name>(                                                                             \
          [](auto... all) { return way##_##name(THEIRS, all...); } WEFT_MORE_##parameters);                            \
    return way##_##name(THEIRS WEFT_MORE_##parameters);                                                                \
  }

/** Defines PMPI_@p name like WEFT_TIMED_AS, for a function that completes or tests @p count requests of @p list
 * (persistent.hpp), and sets up to @p most of @p statuses. */
#define WEFT_COMPLETES(parameters, name, kind, shown, way, count, list, most, statuses)                                \
  WEFT_INTERPOSED auto PMPI_##name(WEFT_PARAMETERS_##parameters(decltype(PMPI_##name)))                                \
      -> decltype(PMPI_##name(WEFT_ARGUMENTS_##parameters))                                                            \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    static MpiFunction function{"MPI_" #name, CallKind::kind, shown};                                                  \
    const TimedCall timed(function);                                                                                   \
    const auto complete = [&] {                                                                                        \
      const PersistentScope scope(count, list, most, statuses);                                                        \
      return way##_##name(THEIRS WEFT_MORE_##parameters);                                                              \
    };                                                                                                                 \
    if (timed.outermost() && CallTrace::get())                                                                         \
      return recorded<trace::calls::name>([&](auto...) { return complete(); } WEFT_MORE_##parameters);                 \
    return complete();                                                                                                 \
  }

/** Defines PMPI_@p name, a collective, like WEFT_TIMED_AS by the function @p way; on an intercommunicator, by
 * between_@p name (intercommunicators/collectives.hpp). */
#define WEFT_COLLECTIVE(parameters, name, way)                                                                         \
  WEFT_INTERPOSED auto PMPI_##name(WEFT_PARAMETERS_##parameters(decltype(PMPI_##name)))                                \
      -> decltype(PMPI_##name(WEFT_ARGUMENTS_##parameters))                                                            \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    static MpiFunction function{"MPI_" #name, CallKind::collectives, TRACED};                                          \
    const TimedCall timed(function);                                                                                   \
    const auto call = [](auto... all) {                                                                                \
      if (intercommunicator_of(communicator_among(all...))) [[unlikely]]                                               \
        return between_##name(all...);                                                                                 \
      return way(THEIRS, all...);                                                                                      \
    };                                                                                                                 \
    if (timed.outermost() && CallTrace::get())                                                                         \
      return recorded<trace::calls::name>(call WEFT_MORE_##parameters);                                                \
    return call(WEFT_ARGUMENTS_##parameters);                                                                          \
  }

/** Defines PMPI_@p name, a one-sided call or a call that begins or ends its epochs (windows/epochs.hpp): @p call makes
 * it if @p check returns MPI_SUCCESS; @p note runs after success. */
#define WEFT_ONE_SIDED(parameters, name, shown, check, call, note)                                                     \
  WEFT_INTERPOSED auto PMPI_##name(WEFT_PARAMETERS_##parameters(decltype(PMPI_##name)))                                \
      -> decltype(PMPI_##name(WEFT_ARGUMENTS_##parameters))                                                            \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    static MpiFunction function{"MPI_" #name, CallKind::one_sided, shown};                                             \
    const TimedCall timed(function);                                                                                   \
    const auto make = [&] {                                                                                            \
      if (const int result = check; result != MPI_SUCCESS)                                                             \
        return result;                                                                                                 \
      const int result = call(WEFT_ARGUMENTS_##parameters);                                                            \
      if (result == MPI_SUCCESS) {                                                                                     \
        note;                                                                                                          \
      }                                                                                                                \
      return result;                                                                                                   \
    };                                                                                                                 \
    if (timed.outermost() && CallTrace::get())                                                                         \
      return recorded<trace::calls::name>([&](auto...) { return make(); } WEFT_MORE_##parameters);                     \
    return make();                                                                                                     \
  }

#define WEFT_TIMED_BY(parameters, name, kind, way) WEFT_TIMED_AS(parameters, name, kind, TRACED, way)

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TIMED_AS(1, Comm_disconnect, communicators, UNTRACED, freed)
WEFT_TIMED_AS(1, Comm_free, communicators, UNTRACED, freed)

WEFT_TIMED_BY(6, Bsend, point_to_point, buffered)
WEFT_TIMED_AS(7, Bsend_init, point_to_point, UNTRACED, buffered)
WEFT_TIMED_AS(1, Cancel, point_to_point, UNTRACED, watched)
WEFT_TIMED_BY(7, Ibsend, point_to_point, buffered)
WEFT_TIMED_BY(7, Irecv, point_to_point, direct)
WEFT_TIMED(7, Irsend, point_to_point, TRACED)
WEFT_TIMED_BY(7, Isend, point_to_point, direct)
WEFT_TIMED_BY(12, Isendrecv, point_to_point, composed)
WEFT_TIMED_BY(9, Isendrecv_replace, point_to_point, copied)
WEFT_TIMED(7, Issend, point_to_point, TRACED)
WEFT_TIMED_BY(7, Recv, point_to_point, direct)
WEFT_TIMED_AS(7, Recv_init, point_to_point, UNTRACED, null_peer)
WEFT_TIMED_AS(1, Request_free, point_to_point, UNTRACED, persistent)
WEFT_TIMED(6, Rsend, point_to_point, TRACED)
WEFT_TIMED_AS(7, Rsend_init, point_to_point, UNTRACED, null_peer)
WEFT_TIMED_BY(6, Send, point_to_point, direct)
WEFT_TIMED_AS(7, Send_init, point_to_point, UNTRACED, null_peer)
WEFT_TIMED_BY(12, Sendrecv, point_to_point, direct)
WEFT_TIMED_BY(9, Sendrecv_replace, point_to_point, copied)
WEFT_TIMED(6, Ssend, point_to_point, TRACED)
WEFT_TIMED_AS(7, Ssend_init, point_to_point, UNTRACED, null_peer)
WEFT_TIMED_BY(1, Start, point_to_point, persistent)
WEFT_TIMED_BY(2, Startall, point_to_point, persistent)

WEFT_TIMED_AS(4, Probe, waits, UNTRACED, kept)
WEFT_COMPLETES(2, Wait, waits, TRACED, direct, 1, a0, 1, a1)
WEFT_COMPLETES(3, Waitall, waits, TRACED, direct, a0, a1, a0, a2)
WEFT_COMPLETES(4, Waitany, waits, TRACED, watched, a0, a1, 1, a3)
WEFT_COMPLETES(5, Waitsome, waits, TRACED, watched, a0, a1, a0, a4)

WEFT_TIMED_AS(5, Iprobe, polls, UNTRACED, polled)
WEFT_COMPLETES(3, Request_get_status, polls, UNTRACED, polled, 1, &a0, 1, a2)
WEFT_COMPLETES(3, Test, polls, UNTRACED, polled, 1, a0, 1, a2)
WEFT_COMPLETES(4, Testall, polls, UNTRACED, polled, a0, a1, a0, a3)
WEFT_COMPLETES(5, Testany, polls, UNTRACED, polled, a0, a1, 1, a4)
WEFT_COMPLETES(5, Testsome, polls, UNTRACED, polled, a0, a1, a0, a4)

WEFT_COLLECTIVE(7, Allgather, theirs)
WEFT_COLLECTIVE(8, Allgatherv, theirs)
WEFT_COLLECTIVE(6, Allreduce, direct_Allreduce)
WEFT_COLLECTIVE(7, Alltoall, theirs)
WEFT_COLLECTIVE(9, Alltoallv, theirs)
WEFT_COLLECTIVE(9, Alltoallw, theirs)
WEFT_COLLECTIVE(1, Barrier, theirs)
WEFT_COLLECTIVE(5, Bcast, theirs)
WEFT_COLLECTIVE(6, Exscan, theirs)
WEFT_COLLECTIVE(8, Gather, theirs)
WEFT_COLLECTIVE(9, Gatherv, theirs)
WEFT_COLLECTIVE(8, Iallgather, theirs)
WEFT_COLLECTIVE(9, Iallgatherv, direct_Iallgatherv)
WEFT_COLLECTIVE(7, Iallreduce, direct_Iallreduce)
WEFT_COLLECTIVE(8, Ialltoall, in_place_Ialltoall)
WEFT_COLLECTIVE(10, Ialltoallv, in_place_Ialltoallv)
WEFT_COLLECTIVE(10, Ialltoallw, in_place_Ialltoallw)
WEFT_COLLECTIVE(2, Ibarrier, theirs)
WEFT_COLLECTIVE(6, Ibcast, direct_Ibcast)
WEFT_COLLECTIVE(7, Iexscan, in_place_Iexscan)
WEFT_COLLECTIVE(9, Igather, theirs)
WEFT_COLLECTIVE(10, Igatherv, theirs)
WEFT_COLLECTIVE(8, Ireduce, theirs)
WEFT_COLLECTIVE(7, Ireduce_scatter, direct_Ireduce_scatter)
WEFT_COLLECTIVE(7, Ireduce_scatter_block, in_place_Ireduce_scatter_block)
WEFT_COLLECTIVE(7, Iscan, in_place_Iscan)
WEFT_COLLECTIVE(9, Iscatter, theirs)
WEFT_COLLECTIVE(10, Iscatterv, theirs)
WEFT_COLLECTIVE(7, Reduce, direct_Reduce)
WEFT_COLLECTIVE(6, Reduce_scatter, theirs)
WEFT_COLLECTIVE(6, Reduce_scatter_block, theirs)
WEFT_COLLECTIVE(6, Scan, theirs)
WEFT_COLLECTIVE(8, Scatter, theirs)
WEFT_COLLECTIVE(9, Scatterv, theirs)

WEFT_ONE_SIDED(9, Accumulate, TRACED, check_access(a8, a3), THEIRS, note_progress())
WEFT_ONE_SIDED(7, Compare_and_swap, TRACED, check_swap(a6, a4, a3), THEIRS, note_swap(a1, a2, a3, a4, a5, a6))
WEFT_ONE_SIDED(7, Fetch_and_op, TRACED, check_access(a6, a3), THEIRS,
               note_read("Fetch_and_op", a1, 1, a2, a3, a4, a5, a6))
WEFT_ONE_SIDED(8, Get, TRACED, check_access(a7, a3), THEIRS, note_read("Get", a0, a1, a2, a3, a4, MPI_NO_OP, a7))
WEFT_ONE_SIDED(12, Get_accumulate, TRACED, check_access(a11, a6), THEIRS,
               note_read("Get_accumulate", a3, a4, a5, a6, a7, a10, a11))
WEFT_ONE_SIDED(8, Put, TRACED, check_access(a7, a3), THEIRS, note_read("Put", a0, a1, a2, a3, a4, MPI_REPLACE, a7))
WEFT_ONE_SIDED(10, Raccumulate, TRACED, check_access(a8, a3), requested(THEIRS, a8, a9), note_progress())
WEFT_ONE_SIDED(9, Rget, TRACED, check_access(a7, a3), requested(THEIRS, a7, a8),
               note_read("Rget", a0, a1, a2, a3, a4, MPI_NO_OP, a7))
WEFT_ONE_SIDED(13, Rget_accumulate, TRACED, check_access(a11, a6), requested(THEIRS, a11, a12),
               note_read("Rget_accumulate", a3, a4, a5, a6, a7, a10, a11))
WEFT_ONE_SIDED(9, Rput, TRACED, check_access(a7, a3), requested(THEIRS, a7, a8),
               note_read("Rput", a0, a1, a2, a3, a4, MPI_REPLACE, a7))
WEFT_TIMED(3, Win_attach, one_sided, UNTRACED)
WEFT_ONE_SIDED(1, Win_complete, TRACED, check_complete(a0), completing(THEIRS, a0), note_complete(a0))
WEFT_TIMED(2, Win_detach, one_sided, UNTRACED)
WEFT_ONE_SIDED(2, Win_fence, TRACED, check_fence(a1), completing(THEIRS, a1), note_fence(a1, a0))
WEFT_ONE_SIDED(2, Win_flush, TRACED, check_flush(a1, a0), completing(THEIRS, a1), note_epoch("Win_flush", a1, a0))
WEFT_ONE_SIDED(1, Win_flush_all, TRACED, check_flush(a0), completing(THEIRS, a0), note_epoch("Win_flush_all", a0, 0))
WEFT_ONE_SIDED(2, Win_flush_local, TRACED, check_flush(a1, a0), completing(THEIRS, a1),
               note_epoch("Win_flush_local", a1, a0))
WEFT_ONE_SIDED(1, Win_flush_local_all, TRACED, check_flush(a0), completing(THEIRS, a0),
               note_epoch("Win_flush_local_all", a0, 0))
WEFT_ONE_SIDED(1, Win_free, UNTRACED, check_free(a0), freeing(THEIRS), )
WEFT_ONE_SIDED(4, Win_lock, TRACED, check_lock(a3, a1), THEIRS, (note_lock(a3, a1), note_epoch("Win_lock", a3, a1)))
WEFT_ONE_SIDED(2, Win_lock_all, TRACED, check_lock_all(a1), THEIRS,
               (note_lock_all(a1), note_epoch("Win_lock_all", a1, 0)))
WEFT_ONE_SIDED(3, Win_post, TRACED, check_post(a2), exposing(THEIRS), note_post(a2))
WEFT_ONE_SIDED(3, Win_start, TRACED, check_start(a2), THEIRS, note_start(a2))
WEFT_ONE_SIDED(2, Win_unlock, TRACED, check_unlock(a1, a0), completing(THEIRS, a1),
               (note_unlock(a1, a0), note_epoch("Win_unlock", a1, a0)))
WEFT_ONE_SIDED(1, Win_unlock_all, TRACED, check_unlock_all(a0), completing(THEIRS, a0),
               (note_unlock_all(a0), note_epoch("Win_unlock_all", a0, 0)))
WEFT_ONE_SIDED(1, Win_wait, TRACED, check_wait(a0), THEIRS, note_wait(a0))

WEFT_TIMED_BY(0, Finalize, other, direct)
WEFT_TIMED_AS(2, Init, other, UNTRACED, connected)
WEFT_TIMED_AS(0, Wtime, other, UNTRACED, watched)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
