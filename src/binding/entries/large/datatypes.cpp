// SPDX-License-Identifier: LGPL-2.1-only
/* Constructors of datatypes with large counts. If all numbers fit an int, they call the int constructors; otherwise
 * block lengths become contiguous types, and displacements become bytes. The number of blocks must fit an int. */
#include "binding/data/elements.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/datatypes/type_maps.hpp"
#include "binding/entries/added/large_counts.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
extern "C" int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype type, MPI_Datatype* made);

namespace weft {
namespace {

using Counts = std::span<const MPI_Count>;

bool all_fit(Counts counts)
{
  return std::ranges::all_of(counts, fits);
}

std::vector<int> as_ints(Counts counts)
{
  return {counts.begin(), counts.end()};
}

/** Checks the number of blocks, and that the arrays are not null. */
template <class... Arrays> int check_blocks(MPI_Count count, const Arrays*... arrays)
{
  if (count < 0)
    return wrong_number(MPI_ERR_COUNT, "a count", count, "from 0 on");
  if (not fits(count))
    return wrong(MPI_ERR_COUNT, "the number of blocks exceeds 2^31 - 1");
  return count > 0 && (... || (arrays == nullptr)) ? wrong(MPI_ERR_ARG, "an array is NULL")
                                                   : static_cast<int>(MPI_SUCCESS);
}

Counts counts_in(const MPI_Count* numbers, MPI_Count count)
{
  return {numbers, static_cast<std::size_t>(count)};
}

/** Returns displacements in bytes for displacements in elements. */
std::vector<MPI_Count> in_bytes(Counts displacements, MPI_Datatype type)
{
  std::vector<MPI_Count> bytes;
  for (const MPI_Count one : displacements)
    bytes.push_back(one * extent_of(type));
  return bytes;
}

/** Contiguous types of blocks, freed at the end. */
class Blocks {
  std::vector<MPI_Datatype> types_;
  int result_ = MPI_SUCCESS;

public:
  Blocks(Counts lengths, const std::function<MPI_Datatype(std::size_t)>& element)
  {
    for (std::size_t place = 0; place < lengths.size() && result_ == MPI_SUCCESS; ++place) {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      result_           = PMPI_Type_contiguous_c(lengths[place], element(place), &made);
      if (result_ == MPI_SUCCESS)
        types_.push_back(made);
    }
  }
  Blocks(const Blocks&)            = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() // NOLINT(bugprone-exception-escape): SMPI's function was found at the start of the run
  {
    for (MPI_Datatype& type : types_)
      PMPI_Type_free(&type);
  }
  int result() const { return result_; }
  const MPI_Datatype* data() const { return types_.data(); }
};

/** Sets the contents of a type created by a large-count form. @return @p result of the call */
int described(int result, MPI_Datatype* made, TypeContents contents)
{
  if (result == MPI_SUCCESS)
    set_type_contents(*made, std::move(contents));
  return result;
}

/** Returns large counts followed by the elements of lists. */
std::vector<MPI_Count> joined(std::vector<MPI_Count> first, std::initializer_list<Counts> lists)
{
  for (const Counts list : lists)
    first.insert(first.end(), list.begin(), list.end());
  return first;
}

/** Creates a structure with one block per length. */
int make_blocks(Counts lengths, Counts displacements, const std::function<MPI_Datatype(std::size_t)>& element,
                MPI_Datatype* made)
{
  const std::vector<MPI_Aint> places(displacements.begin(), displacements.end());
  const auto number = static_cast<int>(lengths.size());
  const Blocks blocks(lengths, element);
  if (blocks.result() != MPI_SUCCESS)
    return blocks.result();
  const std::vector<int> ones(lengths.size(), 1);
  return PMPI_Type_create_struct(number, ones.data(), places.data(), blocks.data(), made);
}

int make_hindexed(Counts lengths, Counts displacements, MPI_Datatype type, MPI_Datatype* made)
{
  if (all_fit(lengths)) {
    const std::vector<MPI_Aint> places(displacements.begin(), displacements.end());
    return PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), as_ints(lengths).data(), places.data(), type,
                                     made);
  }
  const int result = make_blocks(lengths, displacements, [type](std::size_t /*place*/) { return type; }, made);
  if (result == MPI_SUCCESS) // without the padding of structures
    set_type_map(*made, indexed_map(lengths.size(), lengths.data(), displacements.data(), 1, type));
  return result;
}

int make_hvector(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype type, MPI_Datatype* made)
{
  if (const int result = check_blocks(count); result != MPI_SUCCESS)
    return result;
  const Blocks block(fits(length) ? Counts() : Counts(&length, 1), [type](std::size_t /*place*/) { return type; });
  if (block.result() != MPI_SUCCESS)
    return block.result();
  return fits(length)
             ? PMPI_Type_create_hvector(static_cast<int>(count), static_cast<int>(length),
                                        static_cast<MPI_Aint>(stride), type, made)
             : PMPI_Type_create_hvector(static_cast<int>(count), 1, static_cast<MPI_Aint>(stride), *block.data(), made);
}

/** Creates a subarray whose sizes do not fit an int: a vector of vectors, the innermost of elements. */
int make_large_subarray(std::vector<MPI_Count> sizes, std::vector<MPI_Count> parts, std::vector<MPI_Count> starts,
                        bool first_is_innermost, MPI_Datatype type, MPI_Datatype* made)
{
  if (first_is_innermost)
    for (auto* list : {&sizes, &parts, &starts})
      std::ranges::reverse(*list);
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  int result         = PMPI_Type_contiguous_c(parts.back(), type, &inner);
  MPI_Count stride   = extent_of(type); // bytes between neighbours in this dimension
  MPI_Count begin    = starts.back() * stride;
  for (std::size_t place = sizes.size() - 1; place-- > 0 && result == MPI_SUCCESS;) {
    stride *= sizes[place + 1];
    begin += starts[place] * stride;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    result             = make_hvector(parts[place], 1, stride, inner, &outer);
    PMPI_Type_free(&inner);
    inner = outer;
  }
  if (result != MPI_SUCCESS)
    return result;
  const MPI_Count one = 1;
  MPI_Datatype placed = MPI_DATATYPE_NULL;
  result              = make_hindexed(Counts(&one, 1), Counts(&begin, 1), inner, &placed);
  PMPI_Type_free(&inner);
  if (result != MPI_SUCCESS)
    return result;
  result = PMPI_Type_create_resized(placed, 0, static_cast<MPI_Aint>(stride * sizes.front()), made);
  PMPI_Type_free(&placed);
  return result;
}

int make_vector(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype type, MPI_Datatype* made)
{
  if (fits(count) && fits(length) && fits(stride))
    return PMPI_Type_vector(static_cast<int>(count), static_cast<int>(length), static_cast<int>(stride), type, made);
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : make_hvector(count, length, stride * extent_of(type), type, made);
}

int make_indexed(Counts lengths, Counts places, MPI_Datatype type, MPI_Datatype* made)
{
  if (all_fit(lengths) && all_fit(places))
    return PMPI_Type_indexed(static_cast<int>(lengths.size()), as_ints(lengths).data(), as_ints(places).data(), type,
                             made);
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : make_hindexed(lengths, in_bytes(places, type), type, made);
}

int make_struct(Counts lengths, Counts bytes, const MPI_Datatype* types, MPI_Datatype* made)
{
  if (not all_fit(lengths))
    return make_blocks(lengths, bytes, [types](std::size_t place) { return types[place]; }, made);
  const std::vector<MPI_Aint> places(bytes.begin(), bytes.end());
  return PMPI_Type_create_struct(static_cast<int>(lengths.size()), as_ints(lengths).data(), places.data(), types, made);
}

int make_subarray(Counts sizes, Counts parts, Counts starts, int order, MPI_Datatype type, MPI_Datatype* made)
{
  if (all_fit(sizes))
    return PMPI_Type_create_subarray(static_cast<int>(sizes.size()), as_ints(sizes).data(), as_ints(parts).data(),
                                     as_ints(starts).data(), order, type, made);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return wrong(MPI_ERR_ARG, "the order is " + std::to_string(order));
  if (type == MPI_DATATYPE_NULL)
    return wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  for (std::size_t place = 0; place < sizes.size(); ++place)
    if (parts[place] < 1 || starts[place] < 0 || starts[place] + parts[place] > sizes[place])
      return wrong(MPI_ERR_ARG, "the part exceeds the array in dimension " + std::to_string(place));
  return make_large_subarray({sizes.begin(), sizes.end()}, {parts.begin(), parts.end()}, {starts.begin(), starts.end()},
                             order == MPI_ORDER_FORTRAN, type, made);
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                                               MPI_Datatype type, MPI_Datatype* made)
{
  return described(make_hvector(count, blocklength, stride, type, made), made,
                   {.combiner = MPI_COMBINER_HVECTOR, .counts = {count, blocklength, stride}, .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype type,
                                       MPI_Datatype* made)
{
  return described(make_vector(count, blocklength, stride, type, made), made,
                   {.combiner = MPI_COMBINER_VECTOR, .counts = {count, blocklength, stride}, .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count* blocklengths,
                                                const MPI_Count* displacements, MPI_Datatype type, MPI_Datatype* made)
{
  if (const int result = check_blocks(count, blocklengths, displacements); result != MPI_SUCCESS)
    return result;
  const Counts lengths = counts_in(blocklengths, count);
  const Counts places  = counts_in(displacements, count);
  return described(make_hindexed(lengths, places, type, made), made,
                   {.combiner = MPI_COMBINER_HINDEXED, .counts = joined({count}, {lengths, places}), .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count* blocklengths, const MPI_Count* displacements,
                                        MPI_Datatype type, MPI_Datatype* made)
{
  if (const int result = check_blocks(count, blocklengths, displacements); result != MPI_SUCCESS)
    return result;
  const Counts lengths = counts_in(blocklengths, count);
  const Counts places  = counts_in(displacements, count);
  return described(make_indexed(lengths, places, type, made), made,
                   {.combiner = MPI_COMBINER_INDEXED, .counts = joined({count}, {lengths, places}), .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                                      const MPI_Count* displacements, MPI_Datatype type,
                                                      MPI_Datatype* made)
{
  if (const int result = check_blocks(count, displacements); result != MPI_SUCCESS)
    return result;
  const Counts places = counts_in(displacements, count);
  return described(
      make_hindexed(std::vector<MPI_Count>(places.size(), blocklength), places, type, made), made,
      {.combiner = MPI_COMBINER_HINDEXED_BLOCK, .counts = joined({count, blocklength}, {places}), .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                                     const MPI_Count* displacements, MPI_Datatype type,
                                                     MPI_Datatype* made)
{
  if (const int result = check_blocks(count, displacements); result != MPI_SUCCESS)
    return result;
  const Counts places = counts_in(displacements, count);
  return described(
      make_indexed(std::vector<MPI_Count>(places.size(), blocklength), places, type, made), made,
      {.combiner = MPI_COMBINER_INDEXED_BLOCK, .counts = joined({count, blocklength}, {places}), .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count* blocklengths,
                                              const MPI_Count* displacements, const MPI_Datatype* types,
                                              MPI_Datatype* made)
{
  if (const int result = check_blocks(count, blocklengths, displacements, types); result != MPI_SUCCESS)
    return result;
  const Counts lengths = counts_in(blocklengths, count);
  const Counts places  = counts_in(displacements, count);
  return described(
      make_struct(lengths, places, types, made), made,
      {.combiner = MPI_COMBINER_STRUCT, .counts = joined({count}, {lengths, places}), .types = {types, types + count}});
}

WEFT_INTERPOSED int PMPI_Type_create_resized_c(MPI_Datatype type, MPI_Count low, MPI_Count extent, MPI_Datatype* made)
{
  return described(PMPI_Type_create_resized(type, static_cast<MPI_Aint>(low), static_cast<MPI_Aint>(extent), made),
                   made, {.combiner = MPI_COMBINER_RESIZED, .counts = {low, extent}, .types = {type}});
}

WEFT_INTERPOSED int PMPI_Type_create_subarray_c(int ndims, const MPI_Count* sizes, const MPI_Count* subsizes,
                                                const MPI_Count* starts, int order, MPI_Datatype type,
                                                MPI_Datatype* made)
{
  if (const int result = check_blocks(ndims, sizes, subsizes, starts); result != MPI_SUCCESS)
    return result;
  const Counts all    = counts_in(sizes, ndims);
  const Counts parts  = counts_in(subsizes, ndims);
  const Counts firsts = counts_in(starts, ndims);
  const int result    = make_subarray(all, parts, firsts, order, type, made);
  return ndims == 0 ? result // there is no type
                    : described(result, made,
                                {.combiner = MPI_COMBINER_SUBARRAY,
                                 .integers = {ndims, order},
                                 .counts   = joined({}, {all, parts, firsts}),
                                 .types    = {type}});
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
