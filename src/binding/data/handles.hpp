// SPDX-License-Identifier: LGPL-2.1-only
/* Rows for the core that describe MPI's handles of datatypes and operations. */
#pragma once

#include "model/collective/call_descriptor.hpp"

#include <smpi/smpi.h>

#include <cstdint>

namespace weft {

/** Returns the row of a datatype, which lives as long as the process; null for MPI_DATATYPE_NULL. */
const ElementType* element_type(MPI_Datatype datatype);
/** Returns the row of an operation, which lives as long as the process; null for MPI_OP_NULL. */
const ReductionOperation* reduction_operation(MPI_Op operation);

/** Returns whether an operation commutes; true if a replayed trace names none. */
bool commutes(MPI_Op operation);

/** Returns the bytes of @p count elements. */
std::int64_t size_of(int count, MPI_Datatype datatype);

} // namespace weft
