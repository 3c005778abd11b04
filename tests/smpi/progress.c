/* SPDX-License-Identifier: LGPL-2.1-only */
/* Overlap of an MPI_Iallreduce with computation: `progress BYTES COMPUTE_US TESTS`; TESTS is the
 * number of MPI_Test calls during the computation. Prints, in microseconds, the time of an Allreduce alone and of
 * Iallreduce, computation and MPI_Wait together, and whether a test found it complete. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int count   = atoi(argv[1]) / (int)sizeof(int);
  int compute = atoi(argv[2]);
  int tests   = atoi(argv[3]);
  int* data   = calloc((size_t)count, sizeof(int));
  int* sum    = calloc((size_t)count, sizeof(int));
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; i++)
    data[i] = rank;

  double start = MPI_Wtime();
  MPI_Allreduce(data, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  double alone = MPI_Wtime() - start;
  usleep(1000000); // all ranks have ended by then

  start = MPI_Wtime();
  MPI_Request request;
  MPI_Iallreduce(data, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  int found = 0;
  for (int test = 0; test <= tests; test++) {
    usleep((unsigned)(compute / (tests + 1)));
    if (test < tests && !found)
      MPI_Test(&request, &found, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double together = MPI_Wtime() - start;

  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (sum[0] != ranks * (ranks - 1) / 2)
    MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0)
    printf("%.6f %.6f %d\n", alone * 1e6, together * 1e6, found);
  free(data);
  free(sum);
  MPI_Finalize();
  return 0;
}
