// SPDX-License-Identifier: LGPL-2.1-only
/* Registry of the type map of each handle. */
#pragma once

#include "binding/datatypes/type_map.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

/** Returns the map of a type other than MPI_DATATYPE_NULL. */
const TypeMap::Pointer& type_map_of(MPI_Datatype type);
/** Sets the map of a new derived type, and copies size and bounds to SMPI's object. */
void set_type_map(MPI_Datatype made, TypeMap::Pointer map);
/** Removes a derived type. */
void forget_type_map(MPI_Datatype type);

/** Returns the map of a type of equal blocks. */
inline TypeMap::Pointer map_of(TypeMap::Part part)
{
  return std::make_shared<TypeMap>(std::vector{std::move(part)});
}

/** Returns the map of an indexed type; displacements are multiples of @p unit bytes. */
template <class Count, class Displacement>
TypeMap::Pointer indexed_map(std::size_t count, const Count* lengths, const Displacement* displacements, MPI_Aint unit,
                             MPI_Datatype type)
{
  const TypeMap::Pointer& of = type_map_of(type);
  std::vector<TypeMap::Part> parts;
  parts.reserve(count);
  for (std::size_t block = 0; block < count; ++block)
    parts.push_back({.of = of, .offset = displacements[block] * unit, .length = lengths[block]});
  return std::make_shared<TypeMap>(std::move(parts));
}

} // namespace weft
