/* SPDX-License-Identifier: LGPL-2.1-only */
/* Messages between two ranks, overlapped with computation: `overlapped MODE BYTES COMPUTE_US TESTS`. Each rank prints
 * the time, in us, at which it has completed its requests. A sleep emulates computation. MODE:
 * `both`: each rank posts a receive and a send, computes with TESTS calls of MPI_Test in between, and waits for both.
 * `sender`: rank 1 receives; rank 0 starts the send, computes with TESTS tests, and waits.
 * `waiting`: rank 1 posts the receive and is in MPI when the request to send arrives, then computes and waits.
 * `unseen`: rank 1 is outside MPI when the request arrives, posts the receive afterwards, then computes and waits.
 * `probed`: the same, after MPI_Iprobe.
 * `passed`: rank 1 is inside MPI when the request arrives, posts the receive afterwards, then computes and waits.
 * `early`: rank 1 is in MPI when the message is sent, but not when the request to send arrives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATER_US = 50, FLAG = 1 };

static void compute(int microseconds, int tests, MPI_Request* request)
{
  int ended = 0;
  for (int test = 0; test <= tests; test++) {
    usleep((unsigned)(microseconds / (tests + 1)));
    if (test < tests && !ended)
      MPI_Test(request, &ended, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const char* mode           = argv[1];
  const int bytes            = atoi(argv[2]);
  const int time             = atoi(argv[3]);
  const int tests            = atoi(argv[4]);
  char* out                  = malloc((size_t)bytes);
  char* in                   = calloc((size_t)bytes, 1);
  char flag                  = 0;
  const struct timespec soon = {0, 1000};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(out, 1 + rank, (size_t)bytes);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const double start      = MPI_Wtime();

  if (strcmp(mode, "both") == 0) {
    MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    compute(time, tests, &requests[0]);
  } else if (rank == 0) {
    if (strcmp(mode, "early") == 0) {
      MPI_Send(&flag, 1, MPI_CHAR, 1, FLAG, MPI_COMM_WORLD);
      nanosleep(&soon, NULL);
    }
    MPI_Isend(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
    if (strcmp(mode, "sender") == 0) {
      compute(time, tests, &requests[0]);
    } else if (strcmp(mode, "waiting") == 0 || strcmp(mode, "passed") == 0) {
      usleep(LATER_US);
      MPI_Send(&flag, 1, MPI_CHAR, 1, FLAG, MPI_COMM_WORLD);
    }
  } else if (strcmp(mode, "sender") == 0) {
    MPI_Recv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    int found;
    if (strcmp(mode, "waiting") == 0 || strcmp(mode, "early") == 0)
      MPI_Irecv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[0]);
    if (strcmp(mode, "unseen") == 0 || strcmp(mode, "probed") == 0)
      usleep(LATER_US);
    else
      MPI_Recv(&flag, 1, MPI_CHAR, 0, FLAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(mode, "probed") == 0)
      MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (requests[0] == MPI_REQUEST_NULL)
      MPI_Irecv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[0]);
    compute(time, tests, &requests[0]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const double end = MPI_Wtime() - start;

  if ((rank == 1 || strcmp(mode, "both") == 0) && in[bytes - 1] != 2 - rank)
    MPI_Abort(MPI_COMM_WORLD, 3);
  double all[2];
  MPI_Gather(&end, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.9f %.9f\n", all[0] * 1e6, all[1] * 1e6);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
