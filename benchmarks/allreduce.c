/* SPDX-License-Identifier: LGPL-2.1-only */
/* Executes Allreduces of 1 KiB only: `allreduce CALLS`. There is no barrier, because a barrier of tens of thousands of
 * ranks takes minutes if only Allreduces are offloaded. A wrong result makes the program exit with status 1. */
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 256, EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64 };

int main(int argc, char** argv)
{
  int ranks, wrong = 0;
  int send[COUNT], receive[COUNT];
  if (argc != 2)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < COUNT; i++)
    send[i] = i;
  for (int call = 0; call < atoi(argv[1]); call++) {
    MPI_Allreduce(send, receive, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong |= receive[COUNT - 1] != ranks * (COUNT - 1);
  }
  MPI_Finalize();
  return wrong ? EXIT_WRONG_RESULT : 0;
}
