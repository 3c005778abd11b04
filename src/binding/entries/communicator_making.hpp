// SPDX-License-Identifier: LGPL-2.1-only
/* Helpers of functions that create communicators. */
#pragma once

#include "binding/calls/call.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/traced_call.hpp"
#include "binding/ranks/own_groups.hpp"

namespace weft {

/** Charges the agreement of the ranks of @p comm on a context id. */
void reduce_context_mask(MPI_Comm comm);

inline MpiFunction makes_communicators(const char* name)
{
  return {name, CallKind::communicators, false};
}

/** Executes a call (of trace::calls) in which the ranks of @p comm create an object with a context id. */
template <class Name, class Make, class... Arguments>
int make(MpiFunction& function, const MPI_Comm& comm, Make&& making, Arguments... arguments)
{
  const TimedCall timed(function);
  if (not timed.outermost())
    return making();
  auto traced = traced_call<Name>(true, arguments...);
  const CollectiveScope inside; // SMPI's internal collectives are not the program's
  const int result = making();
  if (result == MPI_SUCCESS && comm != MPI_COMM_NULL)
    reduce_context_mask(comm);
  return traced.end(result);
}

} // namespace weft
