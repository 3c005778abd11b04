// SPDX-License-Identifier: LGPL-2.1-only
/* Basic elements of datatypes, in type-map order. */
#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <vector>

namespace weft {

/** Consecutive elements of one predefined type. */
struct BasicRun {
  MPI_Datatype type;
  std::size_t size; ///< bytes of an element in packed data; for pairs, including the padding that SMPI packs
  std::size_t count;
};

/** Returns the basic elements of one element of @p type; a pair (MPI_DOUBLE_INT) has two. */
std::vector<BasicRun> basic_runs(MPI_Datatype type);
/** Returns the predefined pair for MPI_MAXLOC; MPI_DATATYPE_NULL if there is none. */
MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index);

} // namespace weft
