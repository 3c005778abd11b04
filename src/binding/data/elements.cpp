// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/elements.hpp"

#include "binding/abi/smpi/datatypes.hpp"
#include "binding/datatypes/type_maps.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {

Span declared(MPI_Datatype type)
{
  Span span;
  PMPI_Type_get_extent(type, &span.low, &span.extent);
  span.high = span.low + span.extent;
  return span;
}

} // namespace

Span span_of(MPI_Datatype type)
{
  Span span = declared(type);
  if (not is_predefined(type)) {
    const TypeMap& map = *type_map_of(type);
    span.low           = std::min(span.low, map.true_low());
    span.high          = std::max(span.high, map.true_high());
  }
  return span;
}

MPI_Aint extent_of(MPI_Datatype type)
{
  return declared(type).extent;
}

std::size_t element_size(MPI_Datatype type)
{
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size); // the size of large counts' types may exceed an int
  return static_cast<std::size_t>(size);
}

bool is_plain(MPI_Datatype type)
{
  if (not is_predefined(type))
    return false;
  MPI_Aint low    = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return static_cast<std::size_t>(extent) == element_size(type);
}

void copy_elements(const void* from, void* to, int count, MPI_Datatype type)
{
  if (count == 0)
    return;
  if (is_predefined(type)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(extent_of(type)));
    return;
  }
  type_map_of(type)->for_pieces(count, [&](MPI_Aint offset, std::int64_t bytes) {
    std::memcpy(moved(to, offset), moved(from, offset), static_cast<std::size_t>(bytes));
  });
}

MPI_Aint beginning_of(MPI_Datatype type)
{
  return is_predefined(type) ? 0 : span_of(type).low;
}

HeldType::HeldType(MPI_Datatype type) : type_(type)
{
  if (type_ != MPI_DATATYPE_NULL)
    type_->ref();
}

HeldType::~HeldType()
{
  if (type_ != MPI_DATATYPE_NULL)
    simgrid::smpi::Datatype::unref(type_);
}

Values::Values(int count, MPI_Datatype type)
{
  const Span span = span_of(type);
  offset_         = -span.low;
  const auto size = static_cast<std::size_t>(span.high - span.low + span.extent * std::max(0, count - 1));
  storage_        = std::make_unique_for_overwrite<std::byte[]>(size); // NOLINT(modernize-avoid-c-arrays)
}

Values::Values(const void* from, int count, MPI_Datatype type) : Values(count, type)
{
  copy_elements(from, data(), count, type);
}

} // namespace weft
