/* SPDX-License-Identifier: LGPL-2.1-only */
/* Bandwidth of back-to-back messages from one rank to another, as osu_bw of the OSU
 * micro-benchmarks measures it. Plain MPI.
 *
 *     bandwidth SIZE,SIZE,... [WINDOWS]
 *
 * Sizes in bytes. Rank 0 sends a window of 64 non-blocking messages, and rank 1 replies once it has
 * received all of them; one warm-up window, then WINDOWS (default 1) timed ones. A line is the
 * size, and the time of a window including its reply, divided by 64, in microseconds. Buffers are
 * neither filled nor read.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, TAG = 1, ANSWER = 2, WINDOW = 64 };

static void window(int rank, char* buffer, int bytes)
{
  MPI_Request requests[WINDOW];
  char answer = 0;
  for (int i = 0; i < WINDOW; i++) {
    if (rank == 0)
      MPI_Isend(buffer, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
  if (rank == 0)
    MPI_Recv(&answer, 1, MPI_CHAR, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(&answer, 1, MPI_CHAR, 0, ANSWER, MPI_COMM_WORLD);
}

static void measure(int rank, int bytes, int windows)
{
  char* buffer = malloc((size_t)bytes + 1);
  if (buffer == NULL) {
    fprintf(stderr, "bandwidth: no memory for %d bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  if (rank < 2) {
    window(rank, buffer, bytes);
    const double start = MPI_Wtime();
    for (int i = 0; i < windows; i++)
      window(rank, buffer, bytes);
    if (rank == 0)
      printf("%d %.9f\n", bytes, (MPI_Wtime() - start) / windows / WINDOW * 1e6);
  }
  free(buffer);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int windows = argc > 2 ? atoi(argv[2]) : 1;
  if (ranks < 2 || argc < 2 || windows < 1) {
    if (rank == 0)
      fputs("usage: bandwidth SIZE,SIZE,... [WINDOWS]   on at least two ranks\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  for (char* at = argv[1]; *at != '\0'; at += *at == ',')
    measure(rank, (int)strtol(at, &at, 10), windows);
  MPI_Finalize();
  return 0;
}
