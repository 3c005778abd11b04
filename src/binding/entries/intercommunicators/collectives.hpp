// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives on intercommunicators (MPI 5.0, section 6.2.3). */
#pragma once

#include "binding/entries/frame/mpi_errors.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Ends the run. */
[[noreturn]] void refuse_between(const char* function);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
#define WEFT_BETWEEN(name)                                                                                             \
  template <class... Types> int between_##name(Types... /*arguments*/)                                                 \
  {                                                                                                                    \
    refuse_between("MPI_" #name);                                                                                      \
  }
WEFT_BETWEEN(Allgather)
WEFT_BETWEEN(Allgatherv)
WEFT_BETWEEN(Allreduce)
WEFT_BETWEEN(Alltoall)
WEFT_BETWEEN(Alltoallv)
WEFT_BETWEEN(Alltoallw)
WEFT_BETWEEN(Barrier)
WEFT_BETWEEN(Bcast)
WEFT_BETWEEN(Gather)
WEFT_BETWEEN(Gatherv)
WEFT_BETWEEN(Iallgather)
WEFT_BETWEEN(Iallgatherv)
WEFT_BETWEEN(Iallreduce)
WEFT_BETWEEN(Ialltoall)
WEFT_BETWEEN(Ialltoallv)
WEFT_BETWEEN(Ialltoallw)
WEFT_BETWEEN(Ibarrier)
WEFT_BETWEEN(Ibcast)
WEFT_BETWEEN(Igather)
WEFT_BETWEEN(Igatherv)
WEFT_BETWEEN(Ireduce)
WEFT_BETWEEN(Ireduce_scatter)
WEFT_BETWEEN(Ireduce_scatter_block)
WEFT_BETWEEN(Iscatter)
WEFT_BETWEEN(Iscatterv)
WEFT_BETWEEN(Reduce)
WEFT_BETWEEN(Reduce_scatter)
WEFT_BETWEEN(Reduce_scatter_block)
WEFT_BETWEEN(Scatter)
WEFT_BETWEEN(Scatterv)
#undef WEFT_BETWEEN

// MPI does not define these on intercommunicators.
inline int between_Scan(const void* /*send*/, void* /*receive*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*op*/,
                        MPI_Comm comm)
{
  return check_intracommunicator(comm);
}
inline constexpr auto between_Exscan = &between_Scan;
inline int between_Iscan(const void* /*send*/, void* /*receive*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*op*/,
                         MPI_Comm comm, MPI_Request* /*request*/)
{
  return check_intracommunicator(comm);
}
inline constexpr auto between_Iexscan = &between_Iscan;
// NOLINTEND(readability-identifier-naming)

} // namespace weft
