/* SPDX-License-Identifier: LGPL-2.1-only */
/* Alternating exclusive and shared locks of windows: each rank adds to one number of each target under an exclusive
 * lock, and to a second number by MPI_Accumulate under shared locks. Rank 0 prints the sums. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 20 };

int main(int argc, char** argv)
{
  const long one = 1;
  int rank, size;
  long *own, mine[2], sums[2];
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(2 * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
  own[0] = own[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; round++) {
    const int target = (rank + round) % size;
    long value;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, window);
    MPI_Win_flush(target, window);
    value++;
    MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(target, window);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&one, 1, MPI_LONG, (rank + 1) % size, 1, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_unlock_all(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  mine[0] = own[0];
  mine[1] = own[1];
  MPI_Reduce(mine, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%ld and %ld of %d\n", sums[0], sums[1], ROUNDS * size);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
