// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/type_extents.hpp"

#include "binding/datatypes/type_maps.hpp"

namespace weft {

Extents extents_of(MPI_Datatype type)
{
  Extents all;
  type_map_of(type)->for_pieces(1, [&all](MPI_Aint offset, std::int64_t bytes) { append(all, {offset, bytes}); });
  return all;
}

} // namespace weft
