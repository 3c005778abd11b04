// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/datatypes/type_maps.hpp"

#include "binding/abi/smpi/datatypes.hpp"
#include "binding/datatypes/fortran_types.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>
#include <utility>

using simgrid::smpi::DatatypeLayout;

namespace weft {
namespace {

std::unordered_map<MPI_Datatype, TypeMap::Pointer>& maps()
{
  static auto& all = *new std::unordered_map<MPI_Datatype, TypeMap::Pointer>; // leaked, since ranks may end late
  return all;
}

/** Returns whether elements consist of two numbers of half their size; SMPI pads such types. */
bool is_twofold(MPI_Datatype type)
{
  static const std::array ALL{MPI_COMPLEX8,
                              MPI_COMPLEX16,
                              MPI_COMPLEX32,
                              MPI_C_FLOAT_COMPLEX,
                              MPI_C_DOUBLE_COMPLEX,
                              MPI_C_LONG_DOUBLE_COMPLEX,
                              MPI_FLOAT_INT,
                              MPI_DOUBLE_INT,
                              MPI_LONG_INT,
                              MPI_SHORT_INT,
                              MPI_2INT,
                              MPI_LONG_DOUBLE_INT,
                              MPI_2FLOAT,
                              MPI_2DOUBLE,
                              MPI_2LONG};
  return std::ranges::find(ALL, equal_of_smpi(type)) != ALL.end();
}

TypeMap::Pointer make_predefined(MPI_Datatype type)
{
  if (type == MPI_LB)
    return TypeMap::lower_mark();
  if (type == MPI_UB)
    return TypeMap::upper_mark();
  const auto& fields = *reinterpret_cast<const DatatypeLayout*>(type);
  const auto size    = static_cast<std::int64_t>(fields.size);
  // x86-64's ABI aligns numbers to their size.
  const std::int64_t alignment = std::clamp<std::int64_t>(is_twofold(type) ? size / 2 : size, 1, 16);
  return std::make_shared<TypeMap>(type, size, fields.high - fields.low, alignment);
}

} // namespace

const TypeMap::Pointer& type_map_of(MPI_Datatype type)
{
  TypeMap::Pointer& found = maps()[type];
  if (not found)
    found = make_predefined(type);
  return found;
}

void set_type_map(MPI_Datatype made, TypeMap::Pointer map)
{
  auto& fields    = *reinterpret_cast<DatatypeLayout*>(made);
  MPI_Aint low    = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(made, &low, &extent);
  if (fields.low != low || fields.high != low + extent)
    throw std::logic_error("SimGrid's datatypes do not have the fields that weft knows; use SimGrid 4.1");
  fields.size  = static_cast<std::size_t>(map->size());
  fields.low   = map->low();
  fields.high  = map->high();
  maps()[made] = std::move(map);
}

void forget_type_map(MPI_Datatype type)
{
  maps().erase(type);
}

} // namespace weft
