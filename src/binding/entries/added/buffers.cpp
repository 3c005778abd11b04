// SPDX-License-Identifier: LGPL-2.1-only
/* Functions that wait until the buffer of buffered sends is empty, and forms with large counts (MPI
 * 4.1, section 3.6), which SMPI lacks. SMPI copies the data of a buffered send into memory of its
 * own, so that the buffer is always empty. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <limits>

namespace weft {
namespace {

/** Creates a request that completes once the buffer is empty: at once. */
int begin_flush(MPI_Request* request)
{
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Buffer_attach_c(void* buffer, MPI_Count size)
{
  return size > std::numeric_limits<int>::max() ? wrong(MPI_ERR_ARG, "the buffer's size exceeds 2^31 - 1")
                                                : PMPI_Buffer_attach(buffer, static_cast<int>(size));
}

WEFT_INTERPOSED int PMPI_Buffer_detach_c(void* buffer, MPI_Count* size)
{
  int small        = 0;
  const int result = PMPI_Buffer_detach(buffer, &small);
  *size            = small;
  return result;
}

WEFT_INTERPOSED int PMPI_Buffer_flush()
{
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Buffer_iflush(MPI_Request* request)
{
  return first_error([&] { return check_present(request, "request"); }, [&] { return begin_flush(request); });
}

WEFT_MPI_FUNCTION(Buffer_attach_c, MPI_COMM_WORLD, (void* buffer, MPI_Count size), buffer, size)
WEFT_MPI_FUNCTION(Buffer_detach_c, MPI_COMM_WORLD, (void* buffer, MPI_Count* size), buffer, size)
WEFT_MPI_FUNCTION(Buffer_flush, MPI_COMM_WORLD, ())
WEFT_MPI_FUNCTION(Buffer_iflush, MPI_COMM_WORLD, (MPI_Request * request), request)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
