/* SPDX-License-Identifier: LGPL-2.1-only */
/* Calls that switches do not offload: a ring shift and a broadcast, 1 KiB each. Plain MPI: any MPI compiler builds it.
 *
 *     host_calls ITERATIONS
 *
 * Rank 0 prints the simulated time of the whole loop with all digits.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1024 };

int main(int argc, char** argv)
{
  char out[BYTES] = {0};
  char in[BYTES];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int iterations = argc > 1 ? atoi(argv[1]) : 1;
  const double start   = MPI_Wtime();
  for (int i = 0; i < iterations; i++) {
    MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % ranks, 0, in, BYTES, MPI_CHAR, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(out, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("%.17g\n", MPI_Wtime() - start);
  MPI_Finalize();
  return 0;
}
