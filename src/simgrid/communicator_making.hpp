/* Making communicators, for what it costs in MPI libraries.
 *
 * SMPI agrees on a communicator's number by a Bcast over the communicator that is being made, and finds the groups of
 * MPI_Comm_split by a linear Gather and a message to each rank, whatever collectives cost. Here ranks agree in memory,
 * in no time, and the time is then that of what libraries send:
 *   - An Allreduce over the communicator that the call is made on, for the context id: MPICH's of 65 integers
 *     (MPIR_Get_contextid_sparse_group in its src/mpi/comm/contextid.c). Open MPI's, of one integer, is one of three
 *     (ompi_comm_nextcid and ompi_comm_activate in its ompi/communicator/comm_cid.c).
 *   - Before that, where ranks are told apart (MPI_Comm_split, MPI_Comm_split_type, MPI_Cart_sub), an Allgather of
 * colour and key (ompi_comm_split in Open MPI's ompi/communicator/comm.c, MPIR_Comm_split_impl in MPICH's
 *     src/mpi/comm/comm_split.c).
 * Both by the algorithm that the run's hosts use; switches never do them.
 */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Whether SMPI is in the middle of making @p comm: its Bcast over it is the agreement on the number. */
bool is_being_made(MPI_Comm comm);

/** The number of the communicator that the members of @p comm are making; the same at all, new each time. */
int agreed_id(MPI_Comm comm);

} // namespace weft
