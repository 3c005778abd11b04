// SPDX-License-Identifier: LGPL-2.1-only
/* How ranks leave where they do not return 0 from main: exit and STOP, MPI_Abort, a crash; and the children of a fork.
 *
 * All ranks are one process: what ends a process on a real machine must end one rank here, or all of them with a word
 * about which. A rank that fails before MPI_Finalize ends the run, as mpirun does.
 */
#pragma once

namespace weft {

/** The rank returns @p status from main. */
void rank_returns(int status);
/** Ends the run where the rank may not call MPI_Finalize: before MPI_Init, or again. SMPI would die of it. */
void check_finalize();

} // namespace weft
