// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's reduction operations (src/smpi/include/smpi_op.hpp). */
#pragma once

#include <smpi/smpi.h>

namespace simgrid::smpi {

class Op {
public:
  /** Computes inout = in op inout, element by element. */
  void apply(const void* in, void* inout, const int* count, MPI_Datatype datatype) const;
};

} // namespace simgrid::smpi
