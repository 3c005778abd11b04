// SPDX-License-Identifier: LGPL-2.1-only
/* Intercommunicators of two groups whose leaders can exchange messages. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Connection of a leader to the remote group's leader. Significant at the leaders only. */
struct LeadersPeer {
  MPI_Comm comm; ///< communicator of both leaders
  int rank;      ///< rank of the remote leader
  int tag;       ///< tag that no other messages between the leaders use
};

/** Creates the intercommunicator of the group of @p local, which rank @p leader leads, and the group that @p peer
 * leads. Called by all ranks of both groups. Returns MPI_ERR_COMM if the groups have a common rank. */
int create_of_groups(MPI_Comm local, int leader, const LeadersPeer& peer, MPI_Comm* made);

/** Gives a new communicator the error handler of its parent. */
void inherit_errhandler(MPI_Comm from, MPI_Comm to);

} // namespace weft
