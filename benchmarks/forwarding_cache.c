/* SPDX-License-Identifier: LGPL-2.1-only */
/* All-to-alls with MPI_Sendrecv, 64 bytes per pair: `forwarding_cache TIMES`. */
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 64, EXIT_USAGE = 64 };

int main(int argc, char** argv)
{
  int rank, ranks;
  char send[BYTES] = {0}, receive[BYTES];
  if (argc != 2)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int times = atoi(argv[1]); times > 0; times--)
    for (int step = 1; step < ranks; step++) {
      const int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
      MPI_Sendrecv(send, BYTES, MPI_BYTE, to, 0, receive, BYTES, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  MPI_Finalize();
  return 0;
}
