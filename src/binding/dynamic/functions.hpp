// SPDX-License-Identifier: LGPL-2.1-only
/* Common parts of the collective functions that connect groups of ranks. */
#pragma once

#include "binding/entries/frame/own_function.hpp"
#include "binding/ranks/places.hpp"

namespace weft {

inline MpiFunction connects_groups(const char* name)
{
  return {name, CallKind::communicators, false};
}

/** Aborts the run if it records a trace: traces cannot describe connections between worlds (MPI_Comm_connect and the
 * like). */
void refuse_in_traces(const MpiFunction& function);

/** Executes a call over @p comm, unless an argument is wrong on all of its ranks. */
template <class Execute>
int dynamic_function(MpiFunction& function, MPI_Comm comm, int root, const MPI_Comm* made, Execute&& execute)
{
  const TimedCall timed(function);
  const InMpi inside;
  refuse_in_traces(function);
  return first_error([&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); },
                     [&] { return check_present(made, "newcomm"); },
                     [&] {
                       return root < 0 || root >= place_in(comm).size ? wrong_rank(MPI_ERR_ROOT, "the root", root, comm)
                                                                      : static_cast<int>(MPI_SUCCESS);
                     },
                     [&] { return execute(); });
}

} // namespace weft
