// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/handles.hpp"

#include "mpi/names.hpp"

#include <map>
#include <utility>

namespace weft {

// A handle that a program frees may be reused for another type or operation, so rows are also keyed by size or
// commutativity. MPI's own handles are never freed, so the latest one is memoized.

const ElementType* element_type(MPI_Datatype datatype)
{
  static MPI_Datatype latest      = MPI_DATATYPE_NULL;
  static const ElementType* found = nullptr;
  static std::map<std::pair<MPI_Datatype, std::int64_t>, ElementType> rows;
  if (datatype == latest)
    return found;
  if (datatype == MPI_DATATYPE_NULL)
    return nullptr;
  const std::int64_t size = size_of(1, datatype);
  const auto [row, added] = rows.try_emplace({datatype, size});
  if (added)
    row->second = {datatype, datatype_name(datatype), size, is_predefined(datatype)};
  if (row->second.predefined) {
    latest = datatype;
    found  = &row->second;
  }
  return &row->second;
}

const ReductionOperation* reduction_operation(MPI_Op operation)
{
  static MPI_Op latest                   = MPI_OP_NULL;
  static const ReductionOperation* found = nullptr;
  static std::map<std::pair<MPI_Op, bool>, ReductionOperation> rows;
  if (operation == latest)
    return found;
  if (operation == MPI_OP_NULL)
    return nullptr;
  const bool commutative  = commutes(operation);
  const auto [row, added] = rows.try_emplace({operation, commutative});
  if (added)
    row->second = {operation, operation_name(operation), commutative, is_predefined(operation)};
  if (row->second.predefined) {
    latest = operation;
    found  = &row->second;
  }
  return &row->second;
}

bool commutes(MPI_Op operation)
{
  int does = 1;
  if (operation != MPI_OP_NULL)
    PMPI_Op_commutative(operation, &does);
  return does != 0;
}

std::int64_t size_of(int count, MPI_Datatype datatype)
{
  MPI_Count size = 0;
  if (datatype != MPI_DATATYPE_NULL)
    PMPI_Type_size_x(datatype, &size);
  return static_cast<std::int64_t>(count) * size;
}

} // namespace weft
