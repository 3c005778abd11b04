// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Reduce_local. SMPI uses MPI_IN_PLACE as an address, and crashes. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/mpi_errors.hpp"

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
WEFT_INTERPOSED int PMPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op)
{
  static const auto THEIRS = weft::original(&PMPI_Reduce_local);
  if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE)
    return weft::wrong(MPI_ERR_BUFFER, "a buffer is MPI_IN_PLACE, which this call does not allow");
  if (in == inout && in && count > 0)
    return weft::wrong(MPI_ERR_BUFFER, "both buffers are the same");
  return THEIRS(in, inout, count, type, op);
}
}
