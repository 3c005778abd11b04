// SPDX-License-Identifier: LGPL-2.1-only
/* Bytes that a datatype describes. */
#pragma once

#include "model/storage/extents.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Returns the bytes of data of one element, relative to its address, in type-map order. */
Extents extents_of(MPI_Datatype type);

} // namespace weft
