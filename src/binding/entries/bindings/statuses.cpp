// SPDX-License-Identifier: LGPL-2.1-only
/* Counts and fields of statuses, and conversions of statuses between C and Fortran. A status consists of the same five
 * integers in C, mpi_f08 and mpi. */
#include "binding/abi/original.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/data/elements.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <smpi/smpi.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace weft {
namespace {

int check_status(const void* status, const char* name)
{
  // MPI_STATUS_IGNORE is null.
  return check_present(status, name);
}

int copy_status(const void* from, void* to)
{
  return first_error([&] { return check_status(from, "the source"); }, [&] { return check_status(to, "the target"); },
                     [&] {
                       std::memcpy(to, from, sizeof(MPI_Status));
                       return MPI_SUCCESS;
                     });
}

/** Sets @p count to the number of elements in a status; MPI_UNDEFINED if they are not whole, or the number does not
 * fit. */
template <class Count> int get_count(const MPI_Status* status, MPI_Datatype type, Count* count)
{
  return first_error([&] { return check_status(status, "status"); }, [&] { return check_present(count, "count"); },
                     [&] { return check_type(type); },
                     [&] {
                       const std::int64_t bytes = status_bytes(*status);
                       const auto size          = static_cast<std::int64_t>(element_size(type));
                       *count                   = 0;
                       if (size > 0)
                         *count = bytes % size == 0 && bytes / size <= std::numeric_limits<Count>::max()
                                      ? static_cast<Count>(bytes / size)
                                      : Count{MPI_UNDEFINED};
                       return MPI_SUCCESS;
                     });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

/** Defines the functions that read and set the field MPI_@p field. */
#define WEFT_STATUS_FIELD(name, field)                                                                                 \
  WEFT_INTERPOSED int PMPI_Status_get_##name(const MPI_Status* status, int* value)                                     \
  {                                                                                                                    \
    return first_error([&] { return check_status(status, "status"); }, [&] { return check_present(value, #name); },    \
                       [&] {                                                                                           \
                         *value = status->field;                                                                       \
                         return MPI_SUCCESS;                                                                           \
                       });                                                                                             \
  }                                                                                                                    \
  WEFT_INTERPOSED int PMPI_Status_set_##name(MPI_Status* status, int value)                                            \
  {                                                                                                                    \
    return first_error([&] { return check_status(status, "status"); },                                                 \
                       [&] {                                                                                           \
                         status->field = value;                                                                        \
                         return MPI_SUCCESS;                                                                           \
                       });                                                                                             \
  }

// NOLINTBEGIN(bugprone-macro-parentheses): types
/** Defines a conversion of statuses. */
#define WEFT_STATUS_COPY(name, from, to)                                                                               \
  WEFT_INTERPOSED int PMPI_Status_##name(const from* source, to* target)                                               \
  {                                                                                                                    \
    return copy_status(source, target);                                                                                \
  }                                                                                                                    \
  WEFT_MPI_FUNCTION(Status_##name, MPI_COMM_WORLD, (const from* source, to* target), source, target)
// NOLINTEND(bugprone-macro-parentheses)

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

// SMPI's definitions store the count as an int.
WEFT_INTERPOSED int PMPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count)
{
  return get_count(status, type, count);
}

WEFT_INTERPOSED int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype type, MPI_Count* count)
{
  return get_count(status, type, count);
}

WEFT_INTERPOSED int PMPI_Test_cancelled(const MPI_Status* status, int* flag)
{
  return first_error([&] { return check_status(status, "status"); }, [&] { return check_present(flag, "flag"); },
                     [&] {
                       *flag = is_cancelled(*status) ? 1 : 0;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Status_set_cancelled(MPI_Status* status, int flag)
{
  return first_error([&] { return check_status(status, "status"); },
                     [&] {
                       set_cancelled(*status, flag != 0);
                       return MPI_SUCCESS;
                     });
}

WEFT_STATUS_FIELD(error, MPI_ERROR)
WEFT_STATUS_FIELD(source, MPI_SOURCE)
WEFT_STATUS_FIELD(tag, MPI_TAG)

WEFT_STATUS_COPY(c2f08, MPI_Status, void)
WEFT_STATUS_COPY(f082c, void, MPI_Status)
WEFT_STATUS_COPY(f2f08, MPI_Fint, void)
WEFT_STATUS_COPY(f082f, void, MPI_Fint)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
