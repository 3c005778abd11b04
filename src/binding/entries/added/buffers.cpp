// SPDX-License-Identifier: LGPL-2.1-only
/* Functions on buffers of buffered sends that SMPI lacks (MPI 4.1, section 3.6): buffers of communicators and sessions,
 * flushes, and forms with large counts. SMPI copies the data of a buffered send into its own memory, so a buffer is
 * always empty. */
#include "binding/abi/original.hpp"
#include "binding/entries/added/sessions.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/requests/send_buffers.hpp"
#include "binding/ranks/communicator_numbers.hpp"

#include <limits>

namespace weft {
namespace {

constexpr MPI_Count LARGEST_SIZE = std::numeric_limits<int>::max();

/** Creates a request that completes once the buffer is empty, which is immediately. */
int begin_flush(MPI_Request* request)
{
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

BufferOwner owner_of(MPI_Comm comm)
{
  return {.communicator = number_of(comm)};
}

/** Detaches a buffer and returns its address through @p address, which points to a pointer. */
template <class Size> int give_back(const BufferOwner& owner, void* address, Size* size)
{
  if (const int result = first_error([&] { return check_present(address, "buffer_addr"); },
                                     [&] { return check_present(size, "size"); });
      result != MPI_SUCCESS)
    return result;
  SendBuffer buffer;
  if (const int result = detach_buffer(owner, buffer); result != MPI_SUCCESS)
    return result;
  *static_cast<void**>(address) = buffer.address;
  *size = buffer.size > std::numeric_limits<Size>::max() ? Size{MPI_UNDEFINED} : static_cast<Size>(buffer.size);
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

/** SMPI requires a size. */
WEFT_INTERPOSED int PMPI_Buffer_attach(void* buffer, int size)
{
  static const auto THEIRS = original(&PMPI_Buffer_attach);
  return THEIRS(buffer, buffer == AUTOMATIC_BUFFER ? static_cast<int>(LARGEST_SIZE) : size);
}

WEFT_INTERPOSED int PMPI_Buffer_attach_c(void* buffer, MPI_Count size)
{
  return size > LARGEST_SIZE ? wrong(MPI_ERR_ARG, "the buffer's size exceeds 2^31 - 1")
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

// ---- Of communicators -----------------------------------------------------------------------------------------------

WEFT_INTERPOSED int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size)
{
  return first_error([&] { return check_comm(comm); }, [&] { return attach_buffer(owner_of(comm), {buffer, size}); });
}

WEFT_INTERPOSED int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size)
{
  return PMPI_Comm_attach_buffer_c(comm, buffer, size);
}

WEFT_INTERPOSED int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size)
{
  return first_error([&] { return check_comm(comm); }, [&] { return give_back(owner_of(comm), buffer_addr, size); });
}

WEFT_INTERPOSED int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size)
{
  return first_error([&] { return check_comm(comm); }, [&] { return give_back(owner_of(comm), buffer_addr, size); });
}

WEFT_INTERPOSED int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
  return check_comm(comm);
}

WEFT_INTERPOSED int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request)
{
  return first_error([&] { return check_comm(comm); }, [&] { return check_present(request, "request"); },
                     [&] { return begin_flush(request); });
}

// ---- Of sessions ----------------------------------------------------------------------------------------------------

WEFT_INTERPOSED int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size)
{
  return first_error([&] { return check_session(session); },
                     [&] { return attach_buffer({.session = session}, {buffer, size}); });
}

WEFT_INTERPOSED int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size)
{
  return PMPI_Session_attach_buffer_c(session, buffer, size);
}

WEFT_INTERPOSED int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size)
{
  return first_error([&] { return check_session(session); },
                     [&] { return give_back({.session = session}, buffer_addr, size); });
}

WEFT_INTERPOSED int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size)
{
  return first_error([&] { return check_session(session); },
                     [&] { return give_back({.session = session}, buffer_addr, size); });
}

WEFT_INTERPOSED int PMPI_Session_flush_buffer(MPI_Session session)
{
  return check_session(session);
}

WEFT_INTERPOSED int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request)
{
  return first_error([&] { return check_session(session); }, [&] { return check_present(request, "request"); },
                     [&] { return begin_flush(request); });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
