// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's derived types (src/smpi/mpi/smpi_datatype.cpp, smpi_datatype_derived.cpp) with the bounds of their type maps,
 * which also define packing and unpacking. SMPI puts the second element of a type at the end of the first one's data,
 * ignores the order of displacements and overlapping members, and pads no structures. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/operations.hpp"
#include "binding/datatypes/packing.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/datatypes/type_maps.hpp"

#include <simgrid/s4u/Actor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace weft {
namespace {

using Part = TypeMap::Part;

/** Calls SMPI's constructor, and sets the map that @p describe returns and the contents that @p tell returns for the
 * new type: SMPI creates dense types by simpler constructors. */
template <class Function, class Describe, class Tell, class... Arguments>
int make_type(Function theirs, Describe&& describe, Tell&& tell, MPI_Datatype* made, Arguments... arguments)
{
  const int result = theirs(arguments..., made);
  if (result == MPI_SUCCESS) {
    set_type_map(*made, describe());
    set_type_contents(*made, tell());
  }
  return result;
}

/** Returns integers followed by the elements of lists. */
std::vector<int> joined(std::vector<int> first, std::initializer_list<std::span<const int>> lists)
{
  for (const std::span<const int> list : lists)
    first.insert(first.end(), list.begin(), list.end());
  return first;
}

template <class Element> std::span<const Element> list_of(const Element* elements, int count)
{
  return {elements, static_cast<std::size_t>(std::max(count, 0))};
}

template <class Element> std::vector<Element> copy_of(const Element* elements, int count)
{
  const std::span<const Element> all = list_of(elements, count);
  return {all.begin(), all.end()};
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// ---- Constructors ---------------------------------------------------------------------------------------------------

int weft_create_contiguous(int count, MPI_Datatype type, MPI_Aint low, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype17create_contiguousEiPS1_lPS2_");
int weft_create_contiguous(int count, MPI_Datatype type, MPI_Aint low, MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_contiguous);
  return make_type(
      THEIRS, [&] { return map_of({.of = type_map_of(type), .offset = low, .length = count}); },
      [&] { return TypeContents{.combiner = MPI_COMBINER_CONTIGUOUS, .integers = {count}, .types = {type}}; }, made,
      count, type, low);
}

int weft_create_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype13create_vectorEiiiPS1_PS2_");
int weft_create_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_vector);
  const auto describe      = [&] {
    const TypeMap::Pointer& of = type_map_of(type);
    return map_of({.of = of, .stride = stride * of->extent(), .blocks = count, .length = length});
  };
  const auto tell = [&] {
    return TypeContents{.combiner = MPI_COMBINER_VECTOR, .integers = {count, length, stride}, .types = {type}};
  };
  return make_type(THEIRS, describe, tell, made, count, length, stride, type);
}

int weft_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype14create_hvectorEiilPS1_PS2_");
int weft_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_hvector);
  const auto tell          = [&] {
    return TypeContents{
        .combiner = MPI_COMBINER_HVECTOR, .integers = {count, length}, .addresses = {stride}, .types = {type}};
  };
  return make_type(
      THEIRS, [&] { return map_of({.of = type_map_of(type), .stride = stride, .blocks = count, .length = length}); },
      tell, made, count, length, stride, type);
}

int weft_create_indexed(int count, const int* lengths, const int* displacements, MPI_Datatype type, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype14create_indexedEiPKiS3_PS1_PS4_");
int weft_create_indexed(int count, const int* lengths, const int* displacements, MPI_Datatype type, MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_indexed);
  const auto tell          = [&] {
    return TypeContents{.combiner = MPI_COMBINER_INDEXED,
                        .integers = joined({count}, {list_of(lengths, count), list_of(displacements, count)}),
                        .types    = {type}};
  };
  return make_type(
      THEIRS,
      [&] {
        return indexed_map(static_cast<std::size_t>(count), lengths, displacements, type_map_of(type)->extent(), type);
      },
      tell, made, count, lengths, displacements, type);
}

int weft_create_hindexed(int count, const int* lengths, const MPI_Aint* displacements, MPI_Datatype type,
                         MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype15create_hindexedEiPKiPKlPS1_PS6_");
int weft_create_hindexed(int count, const int* lengths, const MPI_Aint* displacements, MPI_Datatype type,
                         MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_hindexed);
  const auto tell          = [&] {
    return TypeContents{.combiner  = MPI_COMBINER_HINDEXED,
                        .integers  = joined({count}, {list_of(lengths, count)}),
                        .addresses = copy_of(displacements, count),
                        .types     = {type}};
  };
  return make_type(
      THEIRS, [&] { return indexed_map(static_cast<std::size_t>(count), lengths, displacements, 1, type); }, tell, made,
      count, lengths, displacements, type);
}

int weft_create_struct(int count, const int* lengths, const MPI_Aint* displacements, const MPI_Datatype* types,
                       MPI_Datatype* made) WEFT_REPLACES("_ZN7simgrid4smpi8Datatype13create_structEiPKiPKlPKPS1_PS6_");
int weft_create_struct(int count, const int* lengths, const MPI_Aint* displacements, const MPI_Datatype* types,
                       MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_struct);
  const auto describe      = [&] {
    std::vector<Part> members;
    members.reserve(static_cast<std::size_t>(count));
    for (int member = 0; member < count; ++member)
      members.push_back({.of = type_map_of(types[member]), .offset = displacements[member], .length = lengths[member]});
    return TypeMap::of_structure(std::move(members));
  };
  const auto tell = [&] {
    return TypeContents{.combiner  = MPI_COMBINER_STRUCT,
                        .integers  = joined({count}, {list_of(lengths, count)}),
                        .addresses = copy_of(displacements, count),
                        .types     = copy_of(types, count)};
  };
  return make_type(THEIRS, describe, tell, made, count, lengths, displacements, types);
}

int weft_create_resized(MPI_Datatype type, MPI_Aint low, MPI_Aint extent, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype14create_resizedEPS1_llPS2_");
int weft_create_resized(MPI_Datatype type, MPI_Aint low, MPI_Aint extent, MPI_Datatype* made)
{
  static const auto THEIRS = original(weft_create_resized);
  return make_type(
      THEIRS, [&] { return TypeMap::with_bounds(type_map_of(type), low, extent); },
      [&] { return TypeContents{.combiner = MPI_COMBINER_RESIZED, .addresses = {low, extent}, .types = {type}}; }, made,
      type, low, extent);
}

/** Called for each copy of a type. */
int weft_copy_attributes(MPI_Datatype made, MPI_Datatype from)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype10copy_attrsEPS1_");
int weft_copy_attributes(MPI_Datatype made, MPI_Datatype from)
{
  static const auto THEIRS = original(weft_copy_attributes);
  set_type_map(made, type_map_of(from));
  const int result = THEIRS(made, from);
  set_type_contents(made, {.combiner = MPI_COMBINER_DUP, .types = {from}});
  return result;
}

void weft_destroy_type(MPI_Datatype type) WEFT_REPLACES("_ZN7simgrid4smpi8DatatypeD2Ev");
void weft_destroy_type(MPI_Datatype type)
{
  static const auto THEIRS = original(weft_destroy_type);
  forget_type_map(type);
  forget_type_contents(type);
  THEIRS(type);
}

void weft_destroy_plain_type(MPI_Datatype type) WEFT_REPLACES("_ZN7simgrid4smpi8DatatypeD1Ev");
void weft_destroy_plain_type(MPI_Datatype type)
{
  weft_destroy_type(type);
}

// ---- Blocks of one length; SMPI overruns its arrays if it is 0 -------------------------------------------------

namespace weft {
namespace {

std::vector<int> equal_lengths(int count, int length)
{
  return std::vector<int>(static_cast<std::size_t>(std::max(count, 0)), length);
}

} // namespace
} // namespace weft

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_create_indexed_block(int count, int length, const int* displacements, MPI_Datatype type,
                                                   MPI_Datatype* made)
{
  const int result = PMPI_Type_indexed(count, equal_lengths(count, length).data(), displacements, type, made);
  if (result == MPI_SUCCESS)
    set_type_contents(*made, {.combiner = MPI_COMBINER_INDEXED_BLOCK,
                              .integers = joined({count, length}, {list_of(displacements, count)}),
                              .types    = {type}});
  return result;
}

WEFT_INTERPOSED int PMPI_Type_create_hindexed_block(int count, int length, const MPI_Aint* displacements,
                                                    MPI_Datatype type, MPI_Datatype* made)
{
  const int result = PMPI_Type_create_hindexed(count, equal_lengths(count, length).data(), displacements, type, made);
  if (result == MPI_SUCCESS)
    set_type_contents(*made, {.combiner  = MPI_COMBINER_HINDEXED_BLOCK,
                              .integers  = {count, length},
                              .addresses = copy_of(displacements, count),
                              .types     = {type}});
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)

// ---- Packing --------------------------------------------------------------------------------------------------------

namespace weft {
namespace {

bool is_replaying()
{
  const auto* const rank = simgrid::s4u::Actor::self()->extension<simgrid::smpi::ActorExt>();
  return rank && rank->replaying();
}

void unpack_elements(MPI_Datatype type, const void* from, void* to, int count, MPI_Op op)
{
  if (op == MPI_OP_NULL)
    return;
  const auto* next = static_cast<const std::byte*>(from);
  if (op == MPI_REPLACE && not is_replaying()) {
    unpack(next, to, count, type);
    return;
  }
  type_map_of(type)->for_numbers(count, [&](MPI_Aint offset, MPI_Datatype basic, std::int64_t number) {
    const auto length = static_cast<int>(number);
    op->apply(next, moved(to, offset), &length, basic);
    next += number * type_map_of(basic)->size();
  });
}

} // namespace
} // namespace weft

#define WEFT_PACKS(name, symbol)                                                                                       \
  void weft_pack_##name(MPI_Datatype type, const void* from, void* to, int count)                                      \
      WEFT_REPLACES("_ZN7simgrid4smpi" symbol "9serializeEPKvPvi");                                                    \
  void weft_pack_##name(MPI_Datatype type, const void* from, void* to, int count)                                      \
  {                                                                                                                    \
    pack(from, count, type, static_cast<std::byte*>(to));                                                              \
  }                                                                                                                    \
  void weft_unpack_##name(MPI_Datatype type, const void* from, void* to, int count, MPI_Op op)                         \
      WEFT_REPLACES("_ZN7simgrid4smpi" symbol "11unserializeEPKvPviPNS0_2OpE");                                        \
  void weft_unpack_##name(MPI_Datatype type, const void* from, void* to, int count, MPI_Op op)                         \
  {                                                                                                                    \
    unpack_elements(type, from, to, count, op);                                                                        \
  }

WEFT_PACKS(plain, "8Datatype")
WEFT_PACKS(contiguous, "15Type_Contiguous")
WEFT_PACKS(hvector, "12Type_Hvector")
WEFT_PACKS(hindexed, "13Type_Hindexed")
WEFT_PACKS(struct, "11Type_Struct")

// ---- Copying --------------------------------------------------------------------------------------------------------

int weft_copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type)
    WEFT_REPLACES("_ZN7simgrid4smpi8Datatype4copyEPKviPS1_PviS4_");
/* SMPI divides by the size of a derived type, which may be 0, as for a triangle of a matrix without rows. */
int weft_copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type)
{
  static const auto THEIRS = original(weft_copy);
  if (to_count > 0 && from != to) {
    const std::size_t from_size = reinterpret_cast<const simgrid::smpi::DatatypeLayout*>(from_type)->size;
    const std::size_t to_size   = reinterpret_cast<const simgrid::smpi::DatatypeLayout*>(to_type)->size;
    if (from_size == 0 || to_size == 0)
      return from_count > 0 && from_size > 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  }
  return THEIRS(from, from_count, from_type, to, to_count, to_type);
}
