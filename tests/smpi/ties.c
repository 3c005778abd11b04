/* SPDX-License-Identifier: LGPL-2.1-only */
/* All ranks send to rank 0 at one instant; rank 0 receives from any source and prints the order.
 *
 *   ties HOW ORDER SENDERS [BYTES]
 *
 * HOW: early (receives are posted before the sends), late (afterwards), recv, probe, iprobe.
 * ORDER: the ranks reach the instant in rank order (up), in reverse order (down), or with idle turns before they send
 * (turns).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, START = 64 };

/* In units whose sums are exact. */
static void sleep_for(int units)
{
  const struct timespec length = {0, units * 1953125L}; /* 1/512 s */
  nanosleep(&length, NULL);
}

static void reach_instant(const char* order, int rank, int size)
{
  const int turns = strcmp(order, "turns") == 0 ? (size - rank) % 5 : 0;
  const int first = strcmp(order, "down") == 0 ? size - rank : 0;
  sleep_for(first);
  sleep_for(START - first);
  for (int turn = 0; turn < turns; turn++)
    sleep_for(0);
}

int main(int argc, char** argv)
{
  static char space[1 << 20];
  int rank, size, flag = 0;
  MPI_Status status;
  MPI_Request requests[MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const how = argv[1];
  const int senders     = atoi(argv[3]);
  const int bytes       = argc > 4 ? atoi(argv[4]) : 1;
  const int early       = strcmp(how, "early") == 0;
  for (int i = 0; rank == 0 && early && i < senders; i++)
    MPI_Irecv(space, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests + i);
  reach_instant(argv[2], rank, size);
  if (rank > 0 && rank <= senders)
    MPI_Send(space, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < senders; i++) {
    if (early) {
      MPI_Wait(requests + i, &status);
    } else if (strcmp(how, "late") == 0) {
      MPI_Irecv(space, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests);
      MPI_Wait(requests, &status);
    } else {
      if (strcmp(how, "probe") == 0)
        MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
      for (flag = 0; strcmp(how, "iprobe") == 0 && !flag;)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
      const int source = strcmp(how, "recv") == 0 ? MPI_ANY_SOURCE : status.MPI_SOURCE;
      MPI_Recv(space, bytes, MPI_CHAR, source, 1, MPI_COMM_WORLD, &status);
    }
    printf("%d ", status.MPI_SOURCE);
  }
  if (rank == 0)
    printf("at %.9f\n", MPI_Wtime());
  MPI_Finalize();
  return 0;
}
