// SPDX-License-Identifier: LGPL-2.1-only
/* Direct calls of weft's point-to-point transport, bypassing SMPI's functions, for valid messages of predefined
 * datatypes. The additional work of SMPI's functions (direct_calls.hpp) costs more than the message. @p next_definition
 * is SMPI's function, for all other calls and for invalid arguments. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int direct_Isend(decltype(&PMPI_Isend) next_definition, const void* buffer, int count, MPI_Datatype type, int to,
                 int tag, MPI_Comm comm, MPI_Request* request);
int direct_Irecv(decltype(&PMPI_Irecv) next_definition, void* buffer, int count, MPI_Datatype type, int from, int tag,
                 MPI_Comm comm, MPI_Request* request);
int direct_Send(decltype(&PMPI_Send) next_definition, const void* buffer, int count, MPI_Datatype type, int to, int tag,
                MPI_Comm comm);
int direct_Recv(decltype(&PMPI_Recv) next_definition, void* buffer, int count, MPI_Datatype type, int from, int tag,
                MPI_Comm comm, MPI_Status* status);
int direct_Sendrecv(decltype(&PMPI_Sendrecv) next_definition, const void* sent, int send_count, MPI_Datatype send_type,
                    int to, int send_tag, void* received, int receive_count, MPI_Datatype receive_type, int from,
                    int receive_tag, MPI_Comm comm, MPI_Status* status);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
