// SPDX-License-Identifier: LGPL-2.1-only
/* Substitute for the traced program's user-defined operations. It does nothing, since the data is never read. */
#pragma once

#include <array>
#include <mpi.h>

namespace weft::replay {

inline MPI_Op user_operation(bool commutes)
{
  static std::array<MPI_Op, 2> operations{MPI_OP_NULL, MPI_OP_NULL};
  MPI_Op& operation = operations[commutes ? 1 : 0];
  if (operation == MPI_OP_NULL)
    MPI_Op_create([](void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}, commutes ? 1 : 0,
                  &operation);
  return operation;
}

} // namespace weft::replay
