// SPDX-License-Identifier: LGPL-2.1-only
/* Ends of ranks other than returning 0 from main: exit and STOP, MPI_Abort, a crash, and children of a fork.
 *
 * All ranks are one process: an event that ends a process on a real machine must end one rank here, or all of them with
 * an error that names the rank. A rank that fails before MPI_Finalize ends the run, as under mpirun. */
#pragma once

namespace weft {

/** Records that the current rank returns @p status from main. */
void rank_returns(int status);
/** Makes the current rank end as by exit() when a function of the C library internally ends the process. */
void end_ranks_at_library_exits();
/** Aborts the run if the rank must not call MPI_Finalize: before MPI_Init, or a second time. SMPI would crash. */
void check_finalize();
/** Deletes the attributes of MPI_COMM_SELF that the current rank has set, in reverse order (MPI 4.1, section 11.2.4);
 * SMPI deletes them in arbitrary order. */
void delete_own_attributes();

} // namespace weft
