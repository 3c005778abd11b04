// SPDX-License-Identifier: LGPL-2.1-only
/* One-sided calls and the calls of their epochs: what each checks before it runs, how it runs, and what its success
 * changes (windows/epochs.hpp; for ranks that wait in loops, polls/idle_calls.hpp). */
#pragma once

#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/windows/attributes.hpp"
#include "binding/entries/windows/epochs.hpp"
#include "binding/entries/windows/exposure_epochs.hpp"
#include "binding/entries/windows/requests.hpp"
#include "mpi/arguments.hpp"

#include <cstdint>
#include <initializer_list>
#include <smpi/smpi.h>
#include <type_traits>

namespace weft {

template <class Type, class... Types>
concept IsAnyOf = (std::is_same_v<Type, Types> || ...);
template <class Call>
concept Access = requires(const Call& call) { call.target_rank; };
template <class Call>
concept WithRequest = requires(const Call& call) { call.request; };
/** Calls that change the memory of their target, whatever it contains. */
template <class Call>
concept Update = IsAnyOf<Call, arguments::Accumulate, arguments::Raccumulate>;
template <class Call>
concept FetchMany = IsAnyOf<Call, arguments::Get_accumulate, arguments::Rget_accumulate>;
template <class Call>
concept Flush = IsAnyOf<Call, arguments::Win_flush, arguments::Win_flush_all, arguments::Win_flush_local,
                        arguments::Win_flush_local_all>;
template <class Call>
concept Unlock = IsAnyOf<Call, arguments::Win_unlock, arguments::Win_unlock_all>;
/** Calls that complete the requests of their window. */
template <class Call>
concept Completing = Flush<Call> || Unlock<Call> || IsAnyOf<Call, arguments::Win_complete, arguments::Win_fence>;

/** Checks before calls: MPI_SUCCESS, or the error of the call. */
struct CallChecks {
  static int check(const Access auto& call) { return check_access(call.win, call.target_rank); }
  static int check(const arguments::Compare_and_swap& call)
  {
    return check_swap(call.win, call.target_rank, call.datatype);
  }
  static int check(const arguments::Win_complete& call) { return check_complete(call.win); }
  static int check(const arguments::Win_fence& call) { return check_fence(call.win); }
  static int check(const arguments::Win_flush& call) { return check_flush(call.win, call.rank); }
  static int check(const arguments::Win_flush_local& call) { return check_flush(call.win, call.rank); }
  static int check(const Flush auto& call) { return check_flush(call.win); }
  static int check(const arguments::Win_free& call) { return check_free(call.win); }
  static int check(const arguments::Win_lock& call) { return check_lock(call.win, call.rank); }
  static int check(const arguments::Win_lock_all& call) { return check_lock_all(call.win); }
  static int check(const arguments::Win_post& call) { return check_post(call.win); }
  static int check(const arguments::Win_start& call) { return check_start(call.win); }
  static int check(const arguments::Win_unlock& call) { return check_unlock(call.win, call.rank); }
  static int check(const arguments::Win_unlock_all& call) { return check_unlock_all(call.win); }
  static int check(const arguments::Win_wait& call) { return check_wait(call.win); }
};

/** Calls by SMPI's function, and what weft does beside it. */
struct MadeCalls {
  template <class Call> static int make(const Call& call, auto theirs)
  {
    if constexpr (Completing<Call>)
      complete_window_requests(call.win);
    if constexpr (WithRequest<Call>)
      return with_window_request(call.win, call.request, [&] { return call.pass_to(theirs); });
    else
      return call.pass_to(theirs);
  }
  static int make(const arguments::Win_post& call, decltype(&PMPI_Win_post) theirs)
  {
    return exposed_Win_post(theirs, call.group, call.assertion, call.win);
  }
  static int make(const arguments::Win_free& call, decltype(&PMPI_Win_free) theirs)
  {
    const MPI_Win freed = call.win ? *call.win : MPI_WIN_NULL;
    const int result    = theirs(call.win);
    if (result == MPI_SUCCESS) {
      note_free(freed);
      forget_attributes(freed);
    }
    return result;
  }
};

/** Notes of calls that have succeeded. */
struct CallNotes {
  static void note(const Update auto& /*call*/) { note_progress(); }
  static void note(const IsAnyOf<arguments::Put, arguments::Rput> auto& call) { note_origin(call, MPI_REPLACE); }
  static void note(const IsAnyOf<arguments::Get, arguments::Rget> auto& call) { note_origin(call, MPI_NO_OP); }
  static void note(const FetchMany auto& call)
  {
    note_read(call.NAME, call.result_addr, call.result_count, call.result_datatype, call.target_rank, call.target_disp,
              call.op, call.win);
  }
  static void note(const arguments::Fetch_and_op& call)
  {
    note_read(call.NAME, call.result_addr, 1, call.datatype, call.target_rank, call.target_disp, call.op, call.win);
  }
  static void note(const arguments::Compare_and_swap& call)
  {
    if (has_swapped(call.compare_addr, call.result_addr, call.datatype))
      note_progress();
    else
      note_read(call.NAME, call.result_addr, 1, call.datatype, call.target_rank, call.target_disp, MPI_NO_OP, call.win);
  }
  static void note(const arguments::Win_complete& call) { note_complete(call.win); }
  static void note(const arguments::Win_fence& call) { note_fence(call.win, call.assertion); }
  static void note(const Flush auto& call) { note_epoch(call); }
  static void note(const arguments::Win_free& /*call*/) {}
  static void note(const arguments::Win_lock& call)
  {
    note_lock(call.win, call.rank);
    note_epoch(call);
  }
  static void note(const arguments::Win_lock_all& call)
  {
    note_lock_all(call.win);
    note_epoch(call);
  }
  static void note(const arguments::Win_post& call) { note_post(call.win); }
  static void note(const arguments::Win_start& call) { note_start(call.win); }
  static void note(const arguments::Win_unlock& call)
  {
    note_unlock(call.win, call.rank);
    note_epoch(call);
  }
  static void note(const arguments::Win_unlock_all& call)
  {
    note_unlock_all(call.win);
    note_epoch(call);
  }
  static void note(const arguments::Win_wait& call) { note_wait(call.win); }

private:
  /** Counts a call that reads @p result from its target, or writes it there. */
  static void note_read(const char* name, const void* result, int count, MPI_Datatype type, int target, MPI_Aint at,
                        MPI_Op operation, MPI_Win win)
  {
    const std::initializer_list<std::int64_t> numbers{number_of_handle(win), number_of_handle(result), target, at};
    if (changes_target(operation))
      note_progress();
    else
      note_call(CallIdentity(name, numbers).add(result, count, type));
  }
  static void note_origin(const auto& call, MPI_Op operation)
  {
    note_read(call.NAME, call.origin_addr, call.origin_count, call.origin_datatype, call.target_rank, call.target_disp,
              operation, call.win);
  }
  /** Counts a call that begins or ends an epoch, or completes accesses. */
  static void note_epoch(const auto& call)
  {
    if constexpr (requires { call.rank; })
      note_call(CallIdentity(call.NAME, {number_of_handle(call.win), call.rank}));
    else
      note_call(CallIdentity(call.NAME, {number_of_handle(call.win), 0}));
  }
};

/** Makes a call by its rules; @p theirs is SMPI's function. */
template <class Call> int checked(const Call& call, auto theirs)
{
  if (const int result = CallChecks::check(call); result != MPI_SUCCESS)
    return result;
  const int result = MadeCalls::make(call, theirs);
  if (result == MPI_SUCCESS)
    CallNotes::note(call);
  return result;
}

} // namespace weft
