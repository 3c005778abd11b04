// SPDX-License-Identifier: LGPL-2.1-only
/* Constructors of datatypes with large counts. If all numbers fit, they are the constructors with ints; otherwise
 * lengths of blocks become contiguous types, and displacements become bytes. The number of blocks has to fit an int. */
#include "binding/data/elements.hpp"
#include "binding/datatypes/type_maps.hpp"
#include "binding/entries/added/large_counts.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
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

/** Checks the number of blocks, and that the arrays exist. */
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

/** Displacements in bytes of those in elements. */
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
  ~Blocks()
  {
    for (MPI_Datatype& type : types_)
      PMPI_Type_free(&type);
  }
  int result() const { return result_; }
  const MPI_Datatype* data() const { return types_.data(); }
};

/** Makes a structure of a block for each length. */
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

/** Makes a part of an array whose sizes do not fit: a vector of vectors, the innermost of elements. */
int make_large_subarray(std::vector<MPI_Count> sizes, std::vector<MPI_Count> parts, std::vector<MPI_Count> starts,
                        bool first_is_innermost, MPI_Datatype type, MPI_Datatype* made)
{
  if (first_is_innermost)
    for (auto* list : {&sizes, &parts, &starts})
      std::ranges::reverse(*list);
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  int result         = PMPI_Type_contiguous_c(parts.back(), type, &inner);
  MPI_Count stride   = extent_of(type); // bytes between neighbours of the dimension
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

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                                               MPI_Datatype type, MPI_Datatype* made)
{
  return make_hvector(count, blocklength, stride, type, made);
}

WEFT_INTERPOSED int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype type,
                                       MPI_Datatype* made)
{
  if (fits(count) && fits(blocklength) && fits(stride))
    return PMPI_Type_vector(static_cast<int>(count), static_cast<int>(blocklength), static_cast<int>(stride), type,
                            made);
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : make_hvector(count, blocklength, stride * extent_of(type), type, made);
}

WEFT_INTERPOSED int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count* blocklengths,
                                                const MPI_Count* displacements, MPI_Datatype type, MPI_Datatype* made)
{
  return first_error(
      [&] { return check_blocks(count, blocklengths, displacements); },
      [&] { return make_hindexed(counts_in(blocklengths, count), counts_in(displacements, count), type, made); });
}

WEFT_INTERPOSED int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count* blocklengths, const MPI_Count* displacements,
                                        MPI_Datatype type, MPI_Datatype* made)
{
  if (const int result = check_blocks(count, blocklengths, displacements); result != MPI_SUCCESS)
    return result;
  const Counts lengths = counts_in(blocklengths, count);
  const Counts places  = counts_in(displacements, count);
  if (all_fit(lengths) && all_fit(places))
    return PMPI_Type_indexed(static_cast<int>(count), as_ints(lengths).data(), as_ints(places).data(), type, made);
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : make_hindexed(lengths, in_bytes(places, type), type, made);
}

WEFT_INTERPOSED int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                                      const MPI_Count* displacements, MPI_Datatype type,
                                                      MPI_Datatype* made)
{
  if (const int result = check_blocks(count, displacements); result != MPI_SUCCESS)
    return result;
  const Counts places = counts_in(displacements, count);
  if (not fits(blocklength))
    return make_hindexed(std::vector<MPI_Count>(places.size(), blocklength), places, type, made);
  const std::vector<MPI_Aint> bytes(places.begin(), places.end());
  return PMPI_Type_create_hindexed_block(static_cast<int>(count), static_cast<int>(blocklength), bytes.data(), type,
                                         made);
}

WEFT_INTERPOSED int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                                     const MPI_Count* displacements, MPI_Datatype type,
                                                     MPI_Datatype* made)
{
  if (const int result = check_blocks(count, displacements); result != MPI_SUCCESS)
    return result;
  const Counts places = counts_in(displacements, count);
  if (fits(blocklength) && all_fit(places))
    return PMPI_Type_create_indexed_block(static_cast<int>(count), static_cast<int>(blocklength),
                                          as_ints(places).data(), type, made);
  return type == MPI_DATATYPE_NULL
             ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
             : make_hindexed(std::vector<MPI_Count>(places.size(), blocklength), in_bytes(places, type), type, made);
}

WEFT_INTERPOSED int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count* blocklengths,
                                              const MPI_Count* displacements, const MPI_Datatype* types,
                                              MPI_Datatype* made)
{
  if (const int result = check_blocks(count, blocklengths, displacements, types); result != MPI_SUCCESS)
    return result;
  const Counts lengths = counts_in(blocklengths, count);
  const Counts bytes   = counts_in(displacements, count);
  if (not all_fit(lengths))
    return make_blocks(lengths, bytes, [types](std::size_t place) { return types[place]; }, made);
  const std::vector<MPI_Aint> places(bytes.begin(), bytes.end());
  return PMPI_Type_create_struct(static_cast<int>(count), as_ints(lengths).data(), places.data(), types, made);
}

WEFT_INTERPOSED int PMPI_Type_create_resized_c(MPI_Datatype type, MPI_Count low, MPI_Count extent, MPI_Datatype* made)
{
  return PMPI_Type_create_resized(type, static_cast<MPI_Aint>(low), static_cast<MPI_Aint>(extent), made);
}

WEFT_INTERPOSED int PMPI_Type_create_subarray_c(int ndims, const MPI_Count* sizes, const MPI_Count* subsizes,
                                                const MPI_Count* starts, int order, MPI_Datatype type,
                                                MPI_Datatype* made)
{
  if (const int result = check_blocks(ndims, sizes, subsizes, starts); result != MPI_SUCCESS)
    return result;
  const Counts all = counts_in(sizes, ndims);
  if (all_fit(all))
    return PMPI_Type_create_subarray(ndims, as_ints(all).data(), as_ints(counts_in(subsizes, ndims)).data(),
                                     as_ints(counts_in(starts, ndims)).data(), order, type, made);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return wrong(MPI_ERR_ARG, "the order is " + std::to_string(order));
  if (type == MPI_DATATYPE_NULL)
    return wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  for (int place = 0; place < ndims; ++place)
    if (subsizes[place] < 1 || starts[place] < 0 || starts[place] + subsizes[place] > sizes[place])
      return wrong(MPI_ERR_ARG, "the part exceeds the array in dimension " + std::to_string(place));
  return make_large_subarray({sizes, sizes + ndims}, {subsizes, subsizes + ndims}, {starts, starts + ndims},
                             order == MPI_ORDER_FORTRAN, type, made);
}

/** Types made by forms with large counts have the envelopes of the forms with ints that make them. */
WEFT_INTERPOSED int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                                             MPI_Count* large_counts, MPI_Count* types, int* combiner)
{
  int its_integers  = 0;
  int its_addresses = 0;
  int its_types     = 0;
  const int result  = PMPI_Type_get_envelope(type, &its_integers, &its_addresses, &its_types, combiner);
  if (result != MPI_SUCCESS)
    return result;
  *integers     = its_integers;
  *addresses    = its_addresses;
  *large_counts = 0;
  *types        = its_types;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                                             MPI_Count /*max_large_counts*/, MPI_Count max_types, int* integers,
                                             MPI_Aint* addresses, MPI_Count* /*large_counts*/, MPI_Datatype* types)
{
  constexpr MPI_Count MOST = std::numeric_limits<int>::max();
  return PMPI_Type_get_contents(type, static_cast<int>(std::min(max_integers, MOST)),
                                static_cast<int>(std::min(max_addresses, MOST)),
                                static_cast<int>(std::min(max_types, MOST)), integers, addresses, types);
}

WEFT_MPI_FUNCTION(Type_create_hvector_c, MPI_COMM_WORLD,
                  (MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype type, MPI_Datatype* made), count,
                  length, stride, type, made)
WEFT_MPI_FUNCTION(Type_vector_c, MPI_COMM_WORLD,
                  (MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype type, MPI_Datatype* made), count,
                  length, stride, type, made)
WEFT_MPI_FUNCTION(Type_create_hindexed_c, MPI_COMM_WORLD,
                  (MPI_Count count, const MPI_Count* lengths, const MPI_Count* displacements, MPI_Datatype type,
                   MPI_Datatype* made),
                  count, lengths, displacements, type, made)
WEFT_MPI_FUNCTION(Type_indexed_c, MPI_COMM_WORLD,
                  (MPI_Count count, const MPI_Count* lengths, const MPI_Count* displacements, MPI_Datatype type,
                   MPI_Datatype* made),
                  count, lengths, displacements, type, made)
WEFT_MPI_FUNCTION(Type_create_hindexed_block_c, MPI_COMM_WORLD,
                  (MPI_Count count, MPI_Count length, const MPI_Count* displacements, MPI_Datatype type,
                   MPI_Datatype* made),
                  count, length, displacements, type, made)
WEFT_MPI_FUNCTION(Type_create_indexed_block_c, MPI_COMM_WORLD,
                  (MPI_Count count, MPI_Count length, const MPI_Count* displacements, MPI_Datatype type,
                   MPI_Datatype* made),
                  count, length, displacements, type, made)
WEFT_MPI_FUNCTION(Type_create_struct_c, MPI_COMM_WORLD,
                  (MPI_Count count, const MPI_Count* lengths, const MPI_Count* displacements, const MPI_Datatype* types,
                   MPI_Datatype* made),
                  count, lengths, displacements, types, made)
WEFT_MPI_FUNCTION(Type_create_resized_c, MPI_COMM_WORLD,
                  (MPI_Datatype type, MPI_Count low, MPI_Count extent, MPI_Datatype* made), type, low, extent, made)
WEFT_MPI_FUNCTION(Type_create_subarray_c, MPI_COMM_WORLD,
                  (int ndims, const MPI_Count* sizes, const MPI_Count* subsizes, const MPI_Count* starts, int order,
                   MPI_Datatype type, MPI_Datatype* made),
                  ndims, sizes, subsizes, starts, order, type, made)
WEFT_MPI_FUNCTION(Type_get_envelope_c, MPI_COMM_WORLD,
                  (MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts, MPI_Count* types,
                   int* combiner),
                  type, integers, addresses, counts, types, combiner)
WEFT_MPI_FUNCTION(Type_get_contents_c, MPI_COMM_WORLD,
                  (MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_counts,
                   MPI_Count max_types, int* integers, MPI_Aint* addresses, MPI_Count* counts, MPI_Datatype* types),
                  type, max_integers, max_addresses, max_counts, max_types, integers, addresses, counts, types)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
