// SPDX-License-Identifier: LGPL-2.1-only
/* Loops that wait for other ranks by calls that take no simulated time: a rank reads its own window (MPI_Get,
 * MPI_Fetch_and_op, MPI_Compare_and_swap), completes no accesses (MPI_Win_flush, MPI_Win_lock and MPI_Win_unlock,
 * MPI_Win_sync), or polls for something already found (MPI_Iprobe, MPI_Request_get_status).
 *
 * Such a call is idle if it repeats one of the rank's latest calls at the same instant, with the same result. After
 * many consecutive idle calls, each takes `[mpi] poll_overhead`, like a failed poll, so that the other ranks run. Like
 * polls (polls.hpp), they are prepaid. However, a rank can write to memory that others read whenever it runs, so each
 * advance of the simulated time ends the sleep with the current poll. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <smpi/smpi.h>

namespace weft {

/** Identity of a call: its arguments and its result. */
class CallIdentity {
  std::uint64_t hash_;

public:
  explicit CallIdentity(const char* function) : CallIdentity(function, {}) {}
  /** @p function is a literal. */
  CallIdentity(const char* function, std::initializer_list<std::int64_t> arguments);
  /** Adds the first bytes of a buffer without gaps. */
  CallIdentity& add(const void* buffer, std::int64_t count, MPI_Datatype type);
  std::uint64_t hash() const { return hash_; }
};

/** Returns the number that represents a handle. */
template <class Handle> std::int64_t number_of_handle(const Handle* handle)
{
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(handle));
}

/** Counts a call of the current rank. Returns whether it is idle and must be paid for. */
bool is_idle(const CallIdentity& call);
/** Charges the current rank for such a call. */
void pay_for_idle_call();
/** Counts a call of the current rank, and charges it if necessary. */
void note_call(const CallIdentity& call);
/** Records that the current rank has changed state by a call that may take no time. */
void note_progress();

/** Records a one-sided call that reads or writes; @p writes: the target may have changed. */
void note_access(const CallIdentity& call, bool writes);
/** Returns whether an operation of MPI_Fetch_and_op or MPI_Get_accumulate changes its target each time. */
bool changes_target(MPI_Op operation);
/** Returns whether MPI_Compare_and_swap has changed its target. */
bool has_swapped(const void* compared, const void* result, MPI_Datatype type);

} // namespace weft
