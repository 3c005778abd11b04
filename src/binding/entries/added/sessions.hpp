// SPDX-License-Identifier: LGPL-2.1-only
/* Sessions of the current rank, for the functions that take one. */
#pragma once

#include "binding/abi/original.hpp"

#include <smpi/smpi.h>

using MPI_Session = struct weft_session*; // NOLINT(readability-identifier-naming): MPI's name

namespace weft {

// Error classes in weft's mpi.h.
constexpr int WRONG_SESSION   = 75;
constexpr int TOO_LARGE_VALUE = 77;

/** Returns WRONG_SESSION unless the session belongs to the rank. */
int check_session(MPI_Session session);

/** Calls the session's error handler if @p result is an error. @return @p result */
int handled_by_session(MPI_Session session, const char* function, int result);

} // namespace weft
