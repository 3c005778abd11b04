/* SPDX-License-Identifier: LGPL-2.1-only */
/* Messages for which ranks wait in vain.
 *
 *   stuck deadlock            each rank waits for a different message, in a different way
 *   stuck list                rank 0 waits for any of several requests and a collective's
 *   stuck flood MESSAGES SIZE rank 0 sends messages that rank 1 never receives */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static int rank, size;
static char space[LARGE];

static void deadlock(void)
{
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  usleep((unsigned)(10 * rank + 100));
  if (rank == 0)
    MPI_Recv(space, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1)
    MPI_Recv(space, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
  if (rank == 2) {
    MPI_Send(space, 4, MPI_CHAR, 0, 9, half);
    MPI_Ssend(space, LARGE, MPI_CHAR, 3, 5, MPI_COMM_WORLD);
  }
  if (rank == 3) {
    MPI_Status status;
    MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
  }
}

static void list(void)
{
  MPI_Request requests[3];
  int index;
  if (rank > 0)
    MPI_Recv(space, 1, MPI_CHAR, 0, rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(space, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, requests);
  MPI_Irecv(space, 1, MPI_CHAR, 2, 4, MPI_COMM_WORLD, requests + 1);
  MPI_Ibarrier(MPI_COMM_WORLD, requests + 2);
  MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
}

static void flood(int messages, int bytes)
{
  for (int i = 0; rank == 0 && i < messages; i++)
    MPI_Send(space, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(space, bytes, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "deadlock") == 0)
    deadlock();
  else if (strcmp(argv[1], "list") == 0)
    list();
  else
    flood(atoi(argv[2]), atoi(argv[3]));
  MPI_Finalize();
  return 0;
}
