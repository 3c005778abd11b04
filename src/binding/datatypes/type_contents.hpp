// SPDX-License-Identifier: LGPL-2.1-only
/* The constructor call of a derived datatype, as returned by MPI_Type_get_envelope and MPI_Type_get_contents (MPI 4.1,
 * section 5.1.13). */
#pragma once

#include <smpi/smpi.h>

#include <vector>

namespace weft {

/** Constructor of a datatype with its arguments, in the order of the standard's table. */
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers{};
  std::vector<MPI_Aint> addresses{};
  std::vector<MPI_Count> counts{}; ///< arguments of the large-count form
  std::vector<MPI_Datatype> types{};
};

/** Sets the contents of a new datatype, which keep the datatypes in them alive. They replace the contents of the
 * simpler call that created the type. */
void set_type_contents(MPI_Datatype made, TypeContents contents);
/** Returns the contents of a datatype; null for a named one. */
const TypeContents* type_contents_of(MPI_Datatype type);
/** Removes a derived type, and releases the datatypes in its contents. */
void forget_type_contents(MPI_Datatype type);

/** Returns a datatype as a new handle, which the program frees, even if it has freed all other handles. */
MPI_Datatype new_type_handle(MPI_Datatype type);
/** Releases a handle that the program frees. Returns false for its last one. */
bool give_back_handle(MPI_Datatype type);

} // namespace weft
