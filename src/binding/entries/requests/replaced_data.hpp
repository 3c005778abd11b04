// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Sendrecv_replace and MPI_Isendrecv_replace. SMPI sends no message without data (whose receive then waits
 * forever), keeps the non-blocking form's data only until it returns, and uses the extent as the size of elements
 * (PMPI_Sendrecv_replace and PMPI_Isendrecv_replace in src/smpi/bindings/smpi_pmpi_request.cpp). */
#pragma once

#include <smpi/smpi.h>

namespace weft {

// NOLINTBEGIN(readability-identifier-naming): MPI's names
/** Send a copy of the data; @p next_definition reports invalid arguments. */
int copied_Sendrecv_replace(decltype(&PMPI_Sendrecv_replace) next_definition, void* buffer, int count,
                            MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
                            MPI_Status* status);
int copied_Isendrecv_replace(decltype(&PMPI_Isendrecv_replace) next_definition, void* buffer, int count,
                             MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
                             MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
