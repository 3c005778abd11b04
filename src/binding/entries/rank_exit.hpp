// SPDX-License-Identifier: LGPL-2.1-only
/* Ends of ranks other than returning 0 from main: exit and STOP, MPI_Abort, a crash, and children
 * of a fork.
 *
 * All ranks are one process: what ends a process on a real machine must end one rank here, or all
 * of them with a message that names it. A rank that fails before MPI_Finalize ends the run, as
 * under mpirun. */
#pragma once

namespace weft {

/** Notes that the current rank returns @p status from main. */
void rank_returns(int status);
/** Makes the current rank end as by exit() when a function of the C library ends the process from inside. */
void end_ranks_at_library_exits();
/** Ends the run if the rank must not call MPI_Finalize: before MPI_Init, or a second time. SMPI would crash. */
void check_finalize();
/** Deletes the attributes of MPI_COMM_SELF that the current rank has set, the latest first (MPI 4.1, section 11.2.4);
 * SMPI deletes them in any order. */
void delete_own_attributes();

} // namespace weft
