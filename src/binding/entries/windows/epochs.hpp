// SPDX-License-Identifier: LGPL-2.1-only
/* Epochs of windows (MPI 4.1, section 12.5): calls outside their required epochs are refused with MPI_ERR_RMA_SYNC.
 * SMPI checks few of them, and crashes in others. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Checks of calls: return MPI_SUCCESS or MPI_ERR_RMA_SYNC; MPI_SUCCESS for a window or rank that SMPI refuses. */
int check_access(MPI_Win win, int target);
/** Also checks the datatype, which must be predefined and not floating-point. */
int check_swap(MPI_Win win, int target, MPI_Datatype type);
int check_fence(MPI_Win win);
int check_post(MPI_Win win);
int check_wait(MPI_Win win);
int check_start(MPI_Win win);
int check_complete(MPI_Win win);
int check_lock(MPI_Win win, int target);
int check_unlock(MPI_Win win, int target);
int check_lock_all(MPI_Win win);
int check_unlock_all(MPI_Win win);
/** Checks for any lock, or for the lock of a target. */
int check_flush(MPI_Win win);
int check_flush(MPI_Win win, int target);
int check_free(const MPI_Win* win);

// Record the effect of calls that have succeeded.
void note_fence(MPI_Win win, int assertion);
void note_post(MPI_Win win);
void note_wait(MPI_Win win);
void note_start(MPI_Win win);
void note_complete(MPI_Win win);
void note_lock(MPI_Win win, int target);
void note_unlock(MPI_Win win, int target);
void note_lock_all(MPI_Win win);
void note_unlock_all(MPI_Win win);
void note_free(MPI_Win win);

} // namespace weft
