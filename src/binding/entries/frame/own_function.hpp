// SPDX-License-Identifier: LGPL-2.1-only
/* Common parts of MPI functions that SMPI lacks: profile, trace, computation clock, checks. */
#pragma once

#include "binding/abi/original.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/traced_call.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Scope of an MPI call, whose duration does not count as the program's computation. */
class InMpi {
public:
  InMpi() { smpi_bench_end(); }
  InMpi(const InMpi&)            = delete;
  InMpi& operator=(const InMpi&) = delete;
  ~InMpi() { smpi_bench_begin(); }
};

/** Executes a call (of trace::calls) unless @p check returns an error. @p arguments are the call's. */
template <class Name, class Check, class Execute, class... Arguments>
int own_function(MpiFunction& function, Check&& check, Execute&& execute, Arguments... arguments)
{
  const TimedCall timed(function);
  const InMpi inside;
  if (const int result = check(); result != MPI_SUCCESS)
    return result;
  if (not timed.outermost() || not CallTrace::get())
    return execute();
  auto traced = traced_call<Name>(true, arguments...);
  return traced.end(execute());
}

} // namespace weft

/** Defines MPI_@p name by PMPI_@p name and the error handler of @p comm. */
#define WEFT_MPI_FUNCTION(name, comm, parameters, ...)                                                                 \
  WEFT_INTERPOSED int MPI_##name parameters                                                                            \
  {                                                                                                                    \
    return weft::handled(comm, "MPI_" #name, PMPI_##name(__VA_ARGS__));                                                \
  }
