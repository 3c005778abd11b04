/* The names of MPI's predefined datatypes and operations, as switch presets and records write them. */
#pragma once

#include <smpi/smpi.h>

#include <string>

namespace weft {

/** "MPI_INT", …; "derived" for a type that a program made. */
const std::string& datatype_name(MPI_Datatype datatype);
/** Whether MPI itself defines it; false for MPI_DATATYPE_NULL. */
bool is_predefined(MPI_Datatype datatype);
/** "MPI_SUM", …; "user-defined" for an operation that a program made, "" for none (as in a replayed trace). */
const std::string& operation_name(MPI_Op operation);

} // namespace weft
