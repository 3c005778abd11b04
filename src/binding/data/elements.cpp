// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/elements.hpp"

#include "binding/abi/private_abi.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

using simgrid::smpi::Datatype;

namespace weft {

namespace {

Span declared(MPI_Datatype type)
{
  Span span;
  PMPI_Type_get_extent(type, &span.low, &span.extent);
  span.high = span.low + span.extent;
  return span;
}

/** Returns the types that a derived type is made of. */
std::vector<MPI_Datatype> made_of(MPI_Datatype type)
{
  int numbers   = 0;
  int addresses = 0;
  int types     = 0;
  int combiner  = 0;
  PMPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED || types == 0)
    return {};
  std::vector<int> its_numbers(static_cast<std::size_t>(numbers) + 1);
  std::vector<MPI_Aint> its_addresses(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> its_types(static_cast<std::size_t>(types));
  if (PMPI_Type_get_contents(type, numbers, addresses, types, its_numbers.data(), its_addresses.data(),
                             its_types.data()) != MPI_SUCCESS)
    return {};
  for (MPI_Datatype part : its_types) // the derived type holds references of its own
    Datatype::unref(part);
  return its_types;
}

// SMPI takes the true extent of a type to be its extent (get_true_extent in its smpi_datatype.cpp),
// even if MPI_Type_create_resized has left elements outside. So this adds the overhang of the
// component types. Out of line, so that plain types take the short path.
[[gnu::noinline]] Span span_of_derived(MPI_Datatype type)
{
  Span span                             = declared(type);
  const std::vector<MPI_Datatype> parts = made_of(type);
  const bool resized                    = not parts.empty() && parts.front() == MPI_LB;
  MPI_Aint before                       = 0;
  MPI_Aint behind                       = 0;
  for (const MPI_Datatype part : parts) {
    if (part == MPI_LB || part == MPI_UB)
      continue;
    const Span own    = declared(part);
    const Span inside = span_of(part);
    before            = std::max(before, resized ? span.low - inside.low : own.low - inside.low);
    behind            = std::max(behind, resized ? inside.high - span.high : inside.high - own.high);
  }
  span.low -= before;
  span.high += behind;
  return span;
}

} // namespace

Span span_of(MPI_Datatype type)
{
  return is_predefined(type) ? declared(type) : span_of_derived(type);
}

MPI_Aint extent_of(MPI_Datatype type)
{
  return declared(type).extent;
}

std::size_t element_size(MPI_Datatype type)
{
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size); // an int does not hold the size of large counts' types
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

// For some derived types SMPI places the second element at the end of the first one's data instead
// of one extent further on (serialize and unserialize in its smpi_datatype_derived.cpp), so it gets
// elements one at a time.

void copy_elements(const void* from, void* to, int count, MPI_Datatype type)
{
  if (count == 0)
    return;
  const MPI_Aint extent = extent_of(type);
  if (is_predefined(type)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(extent));
    return;
  }
  for (int i = 0; i < count; ++i)
    Datatype::copy(static_cast<const std::byte*>(from) + i * extent, 1, type, static_cast<std::byte*>(to) + i * extent,
                   1, type);
}

void pack(const void* from, int count, MPI_Datatype type, std::byte* to)
{
  if (count == 0)
    return;
  const std::size_t size = element_size(type);
  if (is_plain(type)) { // SMPI would count the bytes in an int
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
    return;
  }
  const MPI_Aint extent = extent_of(type);
  for (int i = 0; i < count; ++i, to += size)
    Datatype::copy(static_cast<const std::byte*>(from) + i * extent, 1, type, to, static_cast<int>(size), MPI_BYTE);
}

void unpack(const std::byte* from, void* to, int count, MPI_Datatype type)
{
  if (count == 0)
    return;
  const std::size_t size = element_size(type);
  if (is_plain(type)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
    return;
  }
  const MPI_Aint extent = extent_of(type);
  for (int i = 0; i < count; ++i, from += size)
    Datatype::copy(from, static_cast<int>(size), MPI_BYTE, static_cast<std::byte*>(to) + i * extent, 1, type);
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
    Datatype::unref(type_);
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
