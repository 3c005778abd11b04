// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives on intercommunicators (MPI 5.0, section 6.2.3): each group receives the other group's data. Schedules on
 * hosts execute them, never switches.
 *
 * The functions are between_NAME with the parameters of MPI's; a non-blocking one without a request (null) blocks. MPI
 * does not define MPI_Scan and MPI_Exscan on intercommunicators: between_Iscan() and between_Iexscan() return
 * MPI_ERR_COMM. */
#pragma once

#include "mpi/between.hpp" // written from mpi/procedures
