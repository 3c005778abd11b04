// SPDX-License-Identifier: LGPL-2.1-only
/* Names of MPI's predefined datatypes and operations, as written in switch presets, records and traces. Depends only on
 * MPI. */
#pragma once

#include <smpi/smpi.h>

#include <optional>
#include <string>

namespace weft {

/** Returns "MPI_INT", …; "derived" for a derived datatype, "" for MPI_DATATYPE_NULL. */
const std::string& datatype_name(MPI_Datatype datatype);
/** Returns the datatype called @p name; nothing if MPI defines none. */
std::optional<MPI_Datatype> named_datatype(const std::string& name);
/** Gives an unnamed predefined datatype (MPI_Type_create_f90_real, …) the name of its equal. */
void name_like(MPI_Datatype unnamed, MPI_Datatype named);
/** Returns whether @p datatype is predefined by MPI; false for MPI_DATATYPE_NULL. */
bool is_predefined(MPI_Datatype datatype);
/** Returns "MPI_SUM", …; "user-defined" for an operation of the program, "" for MPI_OP_NULL (as in a replayed
 * trace). */
const std::string& operation_name(MPI_Op operation);
/** Returns whether @p operation is predefined by MPI; false for MPI_OP_NULL. */
bool is_predefined(MPI_Op operation);
/** Returns the operation called @p name; nothing if MPI defines none. */
std::optional<MPI_Op> named_operation(const std::string& name);

} // namespace weft
