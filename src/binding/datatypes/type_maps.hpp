// SPDX-License-Identifier: LGPL-2.1-only
/* The type map of each handle. */
#pragma once

#include "binding/datatypes/type_map.hpp"

namespace weft {

/** Returns the map of a type, which is not MPI_DATATYPE_NULL. */
const TypeMap::Pointer& type_map_of(MPI_Datatype type);
/** Gives a new derived type its map, and SMPI's object the size and the bounds of it. */
void set_type_map(MPI_Datatype made, TypeMap::Pointer map);
/** Forgets a derived type. */
void forget_type_map(MPI_Datatype type);

} // namespace weft
