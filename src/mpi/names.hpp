// SPDX-License-Identifier: LGPL-2.1-only
/* The names of MPI's predefined datatypes and operations, as switch presets, records and traces write them. Knows
 * nothing but MPI. */
#pragma once

#include <smpi/smpi.h>

#include <optional>
#include <string>

namespace weft {

/** "MPI_INT", …; "derived" for a type that a program made. */
const std::string& datatype_name(MPI_Datatype datatype);
/** The datatype of that name; nothing where MPI defines none. */
std::optional<MPI_Datatype> named_datatype(const std::string& name);
/** Whether MPI itself defines it; false for MPI_DATATYPE_NULL. */
bool is_predefined(MPI_Datatype datatype);
/** "MPI_SUM", …; "user-defined" for an operation that a program made, "" for none (as in a replayed trace). */
const std::string& operation_name(MPI_Op operation);
/** Whether MPI itself defines it; false for MPI_OP_NULL. */
bool is_predefined(MPI_Op operation);
/** The operation of that name; nothing where MPI defines none. */
std::optional<MPI_Op> named_operation(const std::string& name);

} // namespace weft
