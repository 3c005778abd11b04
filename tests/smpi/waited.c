/* SPDX-License-Identifier: LGPL-2.1-only */
/* Waits for three non-blocking collectives and, with `message`, a message to the next rank. HOW is `wait`, one at a
 * time; `all`, by MPI_Waitall with an MPI_REQUEST_NULL among them; `some`, two by MPI_Waitall and the rest by MPI_Wait;
 * `tested`, as `all`, after MPI_Test of each. Higher ranks begin later. Prints the results' sum and the time at which
 * the last rank has finished, in nanoseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REQUESTS = 6, NONE = 1, LATER_US = 7 };

static void wait_for(const char* how, MPI_Request* requests)
{
  MPI_Status statuses[REQUESTS];
  const int together = strcmp(how, "wait") == 0 ? 0 : strcmp(how, "some") == 0 ? 3 : REQUESTS;
  if (strcmp(how, "tested") == 0)
    for (int i = 0; i < REQUESTS; i++) {
      int over;
      MPI_Test(&requests[i], &over, MPI_STATUS_IGNORE);
    }
  if (together > 0)
    MPI_Waitall(together, requests, statuses);
  for (int i = together; i < REQUESTS; i++)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < REQUESTS; i++)
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, sum, root, from = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  usleep((unsigned)(LATER_US * rank));
  MPI_Request requests[REQUESTS];
  for (int i = 0; i < REQUESTS; i++)
    requests[i] = MPI_REQUEST_NULL;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[NONE + 1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  root = rank == 1 ? 42 : 0;
  MPI_Ibcast(&root, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[3]);
  const int sends = argc > 2 && strcmp(argv[2], "message") == 0;
  if (sends) {
    MPI_Irecv(&from, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[5]);
  }
  wait_for(argv[1], requests);
  const double mine = MPI_Wtime();
  const int result  = sum + root + (sends ? from : 0);
  double last;
  int all;
  MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&result, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d %.0f\n", all, last * 1e9);
  MPI_Finalize();
  return 0;
}
