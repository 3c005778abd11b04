// SPDX-License-Identifier: LGPL-2.1-only
/* Large-count forms of functions on datatypes and statuses. */
#include "binding/entries/added/large_counts.hpp"

#include "binding/abi/smpi/datatypes.hpp"
#include "binding/data/elements.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/datatypes/type_maps.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

namespace weft {
namespace {

/** Marks a type that consists of plain elements as such: SMPI packs messages of derived types, even if their data is
 * contiguous (Request::init_buffer in smpi_request.cpp). */
void mark_plain(MPI_Datatype made, MPI_Datatype element)
{
  auto& fields = *reinterpret_cast<simgrid::smpi::DatatypeLayout*>(made);
  if (not is_plain(element))
    return;
  if (fields.original != MPI_DATATYPE_NULL)
    throw std::logic_error("SimGrid's datatypes do not have the fields that weft knows; use SimGrid 4.1");
  fields.flags &= ~simgrid::smpi::DERIVED_FLAG;
  fields.original = element; // SMPI compares types that are not derived
  element->ref();
}

int make_contiguous(MPI_Count count, MPI_Datatype type, MPI_Datatype* made)
{
  if (is_plain(type)) {
    const int result = PMPI_Type_contiguous(1, type, made); // SMPI computes the size as an int
    if (result == MPI_SUCCESS) {
      set_type_map(*made, map_of({.of = type_map_of(type), .length = count}));
      mark_plain(*made, type);
    }
    return result;
  }
  const LargeElements elements(count, type, LargeElements::Use::build);
  if (not elements.fit())
    return wrong(MPI_ERR_COUNT,
                 "a count of " + std::to_string(count) + " elements with gaps has no divisor from 2 to 2^20");
  return PMPI_Type_contiguous(elements.count(), elements.type(), made);
}

} // namespace

void LargeElements::divide(MPI_Count count)
{
  constexpr MPI_Count MOST = std::numeric_limits<int>::max();
  constexpr int LONGEST    = 1'048'576;
  int part                 = static_cast<int>(std::min(count / MOST + 1, MPI_Count{LONGEST} + 1));
  while (part <= LONGEST && count % part != 0)
    ++part;
  fit_ = part <= LONGEST;
  if (not fit_)
    return;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(part, type_, &made);
  PMPI_Type_commit(&made);
  mark_plain(made, type_);
  made_  = std::shared_ptr<MPI_Datatype>(new MPI_Datatype(made), [](MPI_Datatype* type) {
    PMPI_Type_free(type);
    delete type;
  });
  count_ = static_cast<int>(count / part);
  type_  = made;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype type, MPI_Datatype* made)
{
  constexpr MPI_Count MOST = std::numeric_limits<int>::max();
  const bool large         = count > 0 && made && type != MPI_DATATYPE_NULL && element_size(type) > 0 &&
                             count > MOST / static_cast<MPI_Count>(element_size(type));
  const int result         = large ? make_contiguous(count, type, made)
                                   : PMPI_Type_contiguous(static_cast<int>(std::max(MPI_Count{-1}, count)), type, made);
  if (result == MPI_SUCCESS && made)
    set_type_contents(*made, {.combiner = MPI_COMBINER_CONTIGUOUS, .counts = {count}, .types = {type}});
  return result;
}

WEFT_INTERPOSED int PMPI_Type_size_c(MPI_Datatype type, MPI_Count* size)
{
  return PMPI_Type_size_x(type, size);
}

WEFT_INTERPOSED int PMPI_Type_get_extent_c(MPI_Datatype type, MPI_Count* low, MPI_Count* extent)
{
  return PMPI_Type_get_extent_x(type, low, extent);
}

WEFT_INTERPOSED int PMPI_Type_get_true_extent_c(MPI_Datatype type, MPI_Count* low, MPI_Count* extent)
{
  return PMPI_Type_get_true_extent_x(type, low, extent);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
