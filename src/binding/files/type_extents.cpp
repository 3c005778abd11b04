// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI has few combiners: derived types are CONTIGUOUS, VECTOR, HVECTOR, INDEXED or HINDEXED. It says INDEXED of
 * structures too, whose displacements are addresses, and structures with MPI_LB and MPI_UB are resized types
 * (src/smpi/mpi/smpi_datatype_derived.cpp). */
#include "binding/files/type_extents.hpp"

#include "binding/abi/private_abi.hpp"
#include "binding/data/elements.hpp"

#include <vector>

namespace weft {
namespace {

/** Constructor of a derived type and its arguments. */
struct TypeConstructor {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  explicit TypeConstructor(MPI_Datatype type)
  {
    int its_integers  = 0;
    int its_addresses = 0;
    int its_types     = 0;
    PMPI_Type_get_envelope(type, &its_integers, &its_addresses, &its_types, &combiner);
    integers.resize(static_cast<std::size_t>(its_integers));
    addresses.resize(static_cast<std::size_t>(its_addresses));
    types.resize(static_cast<std::size_t>(its_types));
    if (its_types == 0)
      return;
    PMPI_Type_get_contents(type, its_integers, its_addresses, its_types, integers.data(), addresses.data(),
                           types.data());
    for (MPI_Datatype part : types) // the derived type holds references of its own
      simgrid::smpi::Datatype::unref(part);
  }
};

/** Appends @p count consecutive elements of a type from @p offset on. */
void append_block(Extents& all, const Extents& element, MPI_Aint extent, MPI_Aint offset, std::int64_t count)
{
  if (element.size() == 1 && element.front().length == extent) {
    append(all, {offset + element.front().offset, count * extent});
    return;
  }
  for (std::int64_t one = 0; one < count; ++one)
    for (const Extent& piece : element)
      append(all, {offset + one * extent + piece.offset, piece.length});
}

/** Appends the blocks of a structure, or of a resized type. */
void append_members(Extents& all, const TypeConstructor& made)
{
  for (std::size_t member = 0; member < made.types.size(); ++member) {
    const MPI_Datatype type = made.types[member];
    if (type != MPI_LB && type != MPI_UB)
      append_block(all, extents_of(type), extent_of(type), made.addresses[member], made.integers[1 + member]);
  }
}

} // namespace

Extents extents_of(MPI_Datatype type)
{
  Extents all;
  const TypeConstructor made(type);
  if (made.types.empty()) {
    append(all, {0, static_cast<std::int64_t>(element_size(type))});
    return all;
  }
  const auto blocks = made.integers.empty() ? std::size_t{0} : static_cast<std::size_t>(made.integers[0]);
  if (made.combiner == MPI_COMBINER_INDEXED && not made.addresses.empty()) {
    append_members(all, made);
    return all;
  }
  Extents element       = extents_of(made.types[0]);
  const MPI_Aint extent = extent_of(made.types[0]);
  switch (made.combiner) {
    case MPI_COMBINER_CONTIGUOUS: // of one block that an indexed type has, too: it begins at the lower bound
      append_block(all, element, extent, span_of(type).low - span_of(made.types[0]).low, made.integers[0]);
      break;
    case MPI_COMBINER_VECTOR:
      for (std::size_t block = 0; block < blocks; ++block)
        append_block(all, element, extent, static_cast<MPI_Aint>(block) * made.integers[2] * extent, made.integers[1]);
      break;
    case MPI_COMBINER_HVECTOR:
      for (std::size_t block = 0; block < blocks; ++block)
        append_block(all, element, extent, static_cast<MPI_Aint>(block) * made.addresses[0], made.integers[1]);
      break;
    case MPI_COMBINER_HINDEXED:
      for (std::size_t block = 0; block < blocks; ++block)
        append_block(all, element, extent, made.addresses[block], made.integers[1 + block]);
      break;
    case MPI_COMBINER_INDEXED:
      for (std::size_t block = 0; block < blocks; ++block)
        append_block(all, element, extent, made.integers[1 + blocks + block] * extent, made.integers[1 + block]);
      break;
    default: // a duplicate
      return element;
  }
  return all;
}

} // namespace weft
