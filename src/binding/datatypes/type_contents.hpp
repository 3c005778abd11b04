// SPDX-License-Identifier: LGPL-2.1-only
/* The call that made a derived datatype, as MPI_Type_get_envelope and MPI_Type_get_contents return it (MPI 4.1,
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
  std::vector<MPI_Count> counts{}; ///< arguments of a form with large counts
  std::vector<MPI_Datatype> types{};
};

/** Sets the contents of a new datatype, which keep the datatypes in them alive. They replace those of the simpler call
 * by which the type was made. */
void set_type_contents(MPI_Datatype made, TypeContents contents);
/** Returns the contents of a datatype; null for one that MPI names. */
const TypeContents* type_contents_of(MPI_Datatype type);
/** Forgets a derived type, and releases the datatypes in its contents. */
void forget_type_contents(MPI_Datatype type);

/** Returns a datatype as a handle of its own, which the program frees, also if it has freed all others. */
MPI_Datatype new_type_handle(MPI_Datatype type);
/** Gives back a handle that the program frees. Returns false for its last one. */
bool give_back_handle(MPI_Datatype type);

} // namespace weft
