// SPDX-License-Identifier: LGPL-2.1-only
/* MPI functions of the profile, and their kinds. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

enum class CallKind {
  communicators,  ///< creating and freeing communicators
  point_to_point, ///< send, receive, and their non-blocking starts
  waits,          ///< calls that block until a request completes
  polls,          ///< calls that only test for completion
  collectives,    ///< blocking collectives, and starts of non-blocking ones
  one_sided,
  io,
  other, ///< MPI_Init, MPI_Finalize, the clock
};
constexpr std::size_t CALL_KINDS = 8;

/** Names in the order of CallKind. */
constexpr std::array<const char*, CALL_KINDS> KIND_NAMES = {"communicators", "point-to-point", "waits", "polls",
                                                            "collectives",   "one-sided",      "I/O",   "other"};

/** MPI function, and the calls of all ranks to it. */
struct MpiFunction {
  const char* name;
  CallKind kind;
  bool traced           = true; ///< true if SimGrid's own trace shows its calls
  std::int64_t calls    = 0;
  double total_time     = 0; ///< simulated seconds, summed over ranks
  double max_time       = 0; ///< longest time of one call
  bool known_to_profile = false;
  bool progresses       = false; ///< cached result of progresses(*this), set once the profile knows the function
};

/** Returns whether a library progresses messages and requests in each call of @p function: waits, polls, one-sided
 * calls, and blocking calls that several ranks make together. Sends, receives and their non-blocking starts do so only
 * while they wait, and local calls never: as in Open MPI (ompi/mca/pml/ucx/pml_ucx.c, ob1/pml_ob1_isend.c and
 * pml_ob1_irecv.c call opal_progress only to wait; ompi/request/req_test.c once per failed test) and MPICH
 * (MPID_Progress_wait, MPID_Progress_test). */
bool progresses(const MpiFunction& function);

} // namespace weft
