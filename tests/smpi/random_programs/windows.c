/* SPDX-License-Identifier: LGPL-2.1-only */
/* One-sided communication, and memory shared by the ranks of a host. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

void exchange_one_sided(Program* program, MPI_Comm comm)
{
  int rank, size, window[MOST_RANKS + 2];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  memset(window, 0, sizeof window);
  window[MOST_RANKS] = rank * 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, comm, &win);
  MPI_Win_fence(0, win);
  const int mine = rank + 100, one = 1, next = (rank + 1) % size;
  int got = -1;
  MPI_Put(&mine, 1, MPI_INT, next, rank, 1, MPI_INT, win);
  MPI_Get(&got, 1, MPI_INT, next, MOST_RANKS, 1, MPI_INT, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, MOST_RANKS + 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  const int previous = (rank + size - 1) % size;
  if (window[previous] != previous + 100 || got != next * 7 || (rank == 0 && window[MOST_RANKS + 1] != size))
    note_wrong(program, "one-sided communication");
  MPI_Win_free(&win);
}

/** Returns the segment of a rank. */
static int* segment_of(MPI_Win win, int rank)
{
  MPI_Aint size;
  int unit;
  int* segment;
  MPI_Win_shared_query(win, rank, &size, &unit, &segment);
  return segment;
}

/* Each rank writes its number into the next rank's segment. */
void share_window(Program* program, MPI_Comm comm)
{
  enum { MOST = 50 };
  MPI_Comm host;
  MPI_Win win;
  int rank, size, values[MOST], *own;
  const int count     = 1 + below(&program->all, MOST);
  const uint64_t salt = salt_of(program, comm);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const MPI_Aint bytes = (MPI_Aint)(count * sizeof(int));
  for (int i = 0; i < count; i++)
    values[i] = (int)mixed(salt, (uint64_t)(rank * MOST + i));
  if (program->old) {
    MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, host, &own, &win);
    MPI_Win_fence(0, win);
    MPI_Put(values, count, MPI_INT, next, 0, count, MPI_INT, win);
    MPI_Win_fence(0, win);
  } else {
    MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, host, &own, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    memcpy(segment_of(win, next), values, (size_t)bytes);
    MPI_Win_sync(win);
    MPI_Barrier(host);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
  }
  for (int i = 0; i < count; i++)
    if (own[i] != (int)mixed(salt, (uint64_t)(previous * MOST + i))) {
      note_wrong(program, "shared window");
      break;
    }
  MPI_Barrier(host);
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
}
