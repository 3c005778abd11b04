/* SPDX-License-Identifier: LGPL-2.1-only */
/* How long a message takes one way, by size: half of a ping-pong between ranks 0 and 1. Plain MPI.
 *
 *     pingpong [SIZE,SIZE,... [ITERATIONS]]
 *
 * Sizes in bytes. For each size a ping-pong that is not timed, then ITERATIONS that are. A line is the size, the mean
 * one-way time, and the part of it that rank 0 spent in MPI_Send; both in microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, TAG = 1 };

/* One ping-pong; adds to *in_send what rank 0 spent in MPI_Send. */
static void ping_pong(int rank, char* buffer, int bytes, double* in_send)
{
  double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Send(buffer, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    *in_send += MPI_Wtime() - start;
    MPI_Recv(buffer, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
  }
}

static void measure(int rank, int bytes, int iterations)
{
  char* buffer   = calloc((size_t)bytes + 1, 1);
  double ignored = 0, in_send = 0;
  if (buffer == NULL) {
    fprintf(stderr, "pingpong: no memory for %d bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  ping_pong(rank, buffer, bytes, &ignored);
  double start = MPI_Wtime();
  for (int i = 0; i < iterations; i++)
    ping_pong(rank, buffer, bytes, &in_send);
  double one_way = (MPI_Wtime() - start) / iterations / 2;
  if (rank == 0)
    printf("%10d %18.9f %18.9f\n", bytes, one_way * 1e6, in_send / iterations * 1e6);
  free(buffer);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int iterations   = argc > 2 ? atoi(argv[2]) : 10;
  const char* size = argc > 1 ? argv[1] : "1,1024,1048576";
  if (ranks < 2 || iterations < 1) {
    if (rank == 0)
      fputs("usage: pingpong [SIZE,SIZE,... [ITERATIONS]]   on at least two ranks\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  if (rank == 0)
    printf("#    bytes         one_way_us            send_us\n");
  for (char* end; *size != '\0'; size = *end == ',' ? end + 1 : end) {
    long bytes = strtol(size, &end, 10);
    if (end == size)
      break;
    measure(rank, (int)bytes, iterations);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
