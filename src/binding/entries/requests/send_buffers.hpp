// SPDX-License-Identifier: LGPL-2.1-only
/* Buffers of buffered sends that programs attach to communicators and sessions (MPI 4.1, section 3.6), which SMPI
 * lacks. SMPI only checks that the process has a large enough buffer, and copies the data into its own memory. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Value of MPI_BUFFER_AUTOMATIC in weft's mpi.h. */
// NOLINTNEXTLINE(performance-no-int-to-ptr, cppcoreguidelines-avoid-non-const-global-variables): no address
inline void* const AUTOMATIC_BUFFER = reinterpret_cast<void*>(2);

/** Owners of buffers: a communicator, by its number, or a session of the rank, by its address. */
struct BufferOwner {
  int communicator                           = MPI_UNDEFINED;
  const void* session                        = nullptr;
  auto operator<=>(const BufferOwner&) const = default;
};

struct SendBuffer {
  void* address  = nullptr;
  MPI_Count size = 0;
};

/** Attaches a buffer of the current rank. Returns MPI_ERR_BUFFER if there is one. */
int attach_buffer(const BufferOwner& owner, const SendBuffer& buffer);
/** Detaches the buffer into @p buffer. Returns MPI_ERR_BUFFER if there is none. */
int detach_buffer(const BufferOwner& owner, SendBuffer& buffer);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
/** Sends with the communicator's buffer in place of the process's; if there is none, with a session's. */
int buffered_Bsend(decltype(&PMPI_Bsend) next_definition, const void* data, int count, MPI_Datatype type, int to,
                   int tag, MPI_Comm comm);
int buffered_Ibsend(decltype(&PMPI_Ibsend) next_definition, const void* data, int count, MPI_Datatype type, int to,
                    int tag, MPI_Comm comm, MPI_Request* request);
int buffered_Bsend_init(decltype(&PMPI_Bsend_init) next_definition, const void* data, int count, MPI_Datatype type,
                        int to, int tag, MPI_Comm comm, MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
