// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Type_create_subarray. SMPI gives such a type the extent of one element (create_subarray in
 * its smpi_datatype.cpp), so that consecutive elements of a message overlap; MPI gives it the
 * extent of the whole array (MPI 4.1, section 5.1.3). SMPI refuses an element that is not committed. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/datatypes/type_contents.hpp"

#include <smpi/smpi.h>

#include <utility>
#include <vector>

namespace weft {
namespace {

/** Makes a call for which SMPI requires a committed element type; MPI requires that only for communication. */
template <class Call> int as_committed(MPI_Datatype element, Call&& call)
{
  if (element == MPI_DATATYPE_NULL || element->is_valid())
    return call();
  unsigned& flags       = reinterpret_cast<simgrid::smpi::DatatypeLayout*>(element)->flags;
  const unsigned before = flags;
  flags |= simgrid::smpi::COMMITTED_FLAG;
  const int result = call();
  flags            = before;
  return result;
}

} // namespace
} // namespace weft

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
WEFT_INTERPOSED int PMPI_Type_create_subarray(int dimensions, const int* sizes, const int* parts, const int* starts,
                                              int order, MPI_Datatype element, MPI_Datatype* type)
{
  static const auto THEIRS = weft::original(&PMPI_Type_create_subarray);
  const int status =
      weft::as_committed(element, [&] { return THEIRS(dimensions, sizes, parts, starts, order, element, type); });
  if (status != MPI_SUCCESS || dimensions < 1)
    return status;
  MPI_Aint low    = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(element, &low, &extent);
  for (int dimension = 0; dimension < dimensions; ++dimension)
    extent *= sizes[dimension];
  MPI_Datatype part = *type;
  const int resized = PMPI_Type_create_resized(part, 0, extent, type);
  PMPI_Type_free(&part);
  if (resized != MPI_SUCCESS)
    return resized;
  std::vector<int> integers{dimensions};
  for (const int* list : {sizes, parts, starts})
    integers.insert(integers.end(), list, list + dimensions);
  integers.push_back(order);
  weft::set_type_contents(*type,
                          {.combiner = MPI_COMBINER_SUBARRAY, .integers = std::move(integers), .types = {element}});
  return MPI_SUCCESS;
}
}
