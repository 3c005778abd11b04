// SPDX-License-Identifier: LGPL-2.1-only
/* Numbers of basic elements in a message, and predefined types by their properties (MPI 4.1, sections
 * 5.1.11, 6.9.4 and 19.1.9), which SMPI lacks. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/data/elements.hpp"
#include "binding/datatypes/fortran_types.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/datatypes/type_maps.hpp"
#include "binding/entries/added/basic_runs.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Returns the number of basic elements in @p bytes of data; none if the last one is incomplete. @p size_of: bytes of
 * an element of a run. */
template <class SizeOf>
std::optional<std::size_t> count_elements(std::size_t bytes, const std::vector<BasicRun>& runs, SizeOf size_of)
{
  std::size_t size = 0;
  for (const BasicRun& run : runs)
    size += run.count * size_of(run);
  if (size == 0)
    return 0;
  std::size_t all     = 0;
  std::size_t partial = bytes % size;
  bool whole_so_far   = true; // of the last element of the type, which may be partial
  for (const BasicRun& run : runs) {
    const std::size_t whole = whole_so_far ? std::min(run.count, partial / size_of(run)) : 0;
    whole_so_far            = whole_so_far && whole == run.count;
    partial -= whole * size_of(run);
    all += bytes / size * run.count + whole;
  }
  return partial == 0 ? std::optional(all) : std::nullopt;
}

/** SMPI sends pairs with their padding, but a sender may also have sent values and indices separately. */
std::optional<std::size_t> basic_elements(std::size_t bytes, MPI_Datatype type)
{
  const std::vector<BasicRun> runs = basic_runs(type);
  const std::size_t size           = element_size(type);
  if (size == 0 || bytes % size == 0)
    return count_elements(bytes, runs, [](const BasicRun& run) { return run.size; });
  return count_elements(bytes, runs, [](const BasicRun& run) { return element_size(run.type); });
}

/** Sets @p count, MPI_UNDEFINED if it does not fit. */
template <class Count> int get_elements(const MPI_Status* status, MPI_Datatype type, Count* count)
{
  return first_error([&] { return check_present(status, "status"); }, [&] { return check_type(type); },
                     [&] { return check_present(count, "count"); },
                     [&] {
                       const auto found = basic_elements(static_cast<std::size_t>(status_bytes(*status)), type);
                       const bool fits = found && *found <= static_cast<std::size_t>(std::numeric_limits<Count>::max());
                       *count          = fits ? static_cast<Count>(*found) : static_cast<Count>(MPI_UNDEFINED);
                       return MPI_SUCCESS;
                     });
}

/** Bounds of the data; SMPI returns the bounds of the type. */
template <class Bytes> int get_true_extent(MPI_Datatype type, Bytes* low, Bytes* extent)
{
  if (type == MPI_DATATYPE_NULL)
    return wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  return first_error([&] { return check_present(low, "true_lb"); },
                     [&] { return check_present(extent, "true_extent"); },
                     [&] {
                       const TypeMap& map = *type_map_of(type);
                       *low               = map.true_low();
                       *extent            = map.true_high() - map.true_low();
                       return MPI_SUCCESS;
                     });
}

int find_size(std::span<const MPI_Datatype> types, int size, MPI_Datatype* type)
{
  const auto found = std::ranges::find_if(
      types, [size](MPI_Datatype one) { return element_size(one) == static_cast<std::size_t>(size); });
  if (found == types.end())
    return wrong(MPI_ERR_ARG, "no type of this class has " + std::to_string(size) + " bytes");
  *type = *found;
  return MPI_SUCCESS;
}

int match_size(int typeclass, int size, MPI_Datatype* type)
{
  const std::array<MPI_Datatype, 3> reals{MPI_REAL4, MPI_REAL8, MPI_REAL16};
  const std::array<MPI_Datatype, 3> complexes{&weft_complex8, &weft_complex16, &weft_complex32};
  const std::array<MPI_Datatype, 5> integers{&weft_integer1, &weft_integer2, &weft_integer4, &weft_integer8,
                                             MPI_INTEGER16};
  switch (typeclass) {
    case MPI_TYPECLASS_REAL:
      return find_size(reals, size, type);
    case MPI_TYPECLASS_COMPLEX:
      return find_size(complexes, size, type);
    case MPI_TYPECLASS_INTEGER:
      return find_size(integers, size, type);
    default:
      return wrong(MPI_ERR_ARG, "the type class is " + std::to_string(typeclass));
  }
}

/** Kind of numbers, with decimal digits and decimal exponent. */
struct NumberKind {
  int precision;
  int range;
  MPI_Datatype type;
};

/** Returns the unnamed predefined datatype for the arguments of an MPI_Type_create_f90_… call: a type equal to @p
 * named, the same in each call (MPI 4.1, section 19.1.9). */
MPI_Datatype unnamed_type(int combiner, const std::vector<int>& arguments, MPI_Datatype named)
{
  static std::map<std::pair<int, std::vector<int>>, MPI_Datatype> all;
  MPI_Datatype& found = all.try_emplace({combiner, arguments}, MPI_DATATYPE_NULL).first->second;
  if (found != MPI_DATATYPE_NULL)
    return found;
  PMPI_Type_dup(named, &found);
  reinterpret_cast<simgrid::smpi::DatatypeLayout*>(found)->flags |= simgrid::smpi::PREDEFINED_FLAG;
  set_type_contents(found, {.combiner = combiner, .integers = arguments});
  name_like(found, named);
  return found;
}

/** Finds the first kind with the requested properties, or MPI_UNDEFINED. */
int find_kind(std::span<const NumberKind> kinds, int precision, int range, int combiner, MPI_Datatype* type)
{
  const auto found = std::ranges::find_if(kinds, [&](const NumberKind& kind) {
    return (precision == MPI_UNDEFINED || precision <= kind.precision) &&
           (range == MPI_UNDEFINED || range <= kind.range);
  });
  if (found == kinds.end() || (precision == MPI_UNDEFINED && range == MPI_UNDEFINED))
    return wrong(MPI_ERR_ARG, "no type has this precision and range");
  *type = combiner == MPI_COMBINER_F90_INTEGER ? unnamed_type(combiner, {range}, found->type)
                                               : unnamed_type(combiner, {precision, range}, found->type);
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Get_elements(MPI_Status* status, MPI_Datatype type, int* count)
{
  return get_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Get_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count* count)
{
  return get_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype type, MPI_Count* count)
{
  return get_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent)
{
  return get_true_extent(type, low, extent);
}

WEFT_INTERPOSED int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count* low, MPI_Count* extent)
{
  return get_true_extent(type, low, extent);
}

WEFT_INTERPOSED int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* low, MPI_Count* extent)
{
  static const auto THEIRS = original(&PMPI_Type_get_extent_x);
  return first_error([&] { return check_present(low, "lb"); }, [&] { return check_present(extent, "extent"); },
                     [&] { return THEIRS(type, low, extent); });
}

WEFT_INTERPOSED int PMPI_Type_get_value_index(MPI_Datatype value, MPI_Datatype index, MPI_Datatype* pair)
{
  return first_error([&] { return check_type(value); }, [&] { return check_type(index); },
                     [&] { return check_present(pair, "pair_type"); },
                     [&] {
                       *pair = pair_of(value, index);
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* type)
{
  return first_error([&] { return check_present(type, "datatype"); },
                     [&] { return match_size(typeclass, size, type); });
}

WEFT_INTERPOSED int PMPI_Type_create_f90_integer(int range, MPI_Datatype* type)
{
  const std::array<NumberKind, 5> kinds{
      {{0, 2, MPI_INT8_T}, {0, 4, MPI_INT16_T}, {0, 9, MPI_INT32_T}, {0, 18, MPI_INT64_T}, {0, 38, MPI_INTEGER16}}};
  return first_error([&] { return check_present(type, "newtype"); },
                     [&] { return find_kind(kinds, MPI_UNDEFINED, range, MPI_COMBINER_F90_INTEGER, type); });
}

WEFT_INTERPOSED int PMPI_Type_create_f90_real(int precision, int range, MPI_Datatype* type)
{
  const std::array<NumberKind, 3> kinds{{{6, 37, MPI_REAL4}, {15, 307, MPI_REAL8}, {18, 4931, MPI_REAL16}}};
  return first_error([&] { return check_present(type, "newtype"); },
                     [&] { return find_kind(kinds, precision, range, MPI_COMBINER_F90_REAL, type); });
}

WEFT_INTERPOSED int PMPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* type)
{
  const std::array<NumberKind, 3> kinds{
      {{6, 37, &weft_complex8}, {15, 307, &weft_complex16}, {18, 4931, &weft_complex32}}};
  return first_error([&] { return check_present(type, "newtype"); },
                     [&] { return find_kind(kinds, precision, range, MPI_COMBINER_F90_COMPLEX, type); });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
