/* SPDX-License-Identifier: LGPL-2.1-only */
/* One-way time of messages by size: half of a ping-pong between two ranks. Plain MPI.
 *
 *     pingpong [SIZE,SIZE,... [ITERATIONS [RANK RANK]]]
 *
 * Sizes in bytes. For each size one warm-up ping-pong, then ITERATIONS timed ones. A line is the
 * size, the mean one-way time, and the part of it that the first rank spent in MPI_Send; both in
 * microseconds. The ranks are 0 and 1 unless two are given; all others are idle.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, TAG = 1 };

/* Makes one ping-pong with another rank; adds to *in_send the first rank's time in MPI_Send. */
static void ping_pong(int is_first, int other, char* buffer, int bytes, double* in_send)
{
  double start = MPI_Wtime();
  if (is_first) {
    MPI_Send(buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
    *in_send += MPI_Wtime() - start;
    MPI_Recv(buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
  }
}

static void measure(int is_first, int other, int bytes, int iterations)
{
  char* buffer   = calloc((size_t)bytes + 1, 1);
  double ignored = 0, in_send = 0;
  if (buffer == NULL) {
    fprintf(stderr, "pingpong: no memory for %d bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  ping_pong(is_first, other, buffer, bytes, &ignored);
  double start = MPI_Wtime();
  for (int i = 0; i < iterations; i++)
    ping_pong(is_first, other, buffer, bytes, &in_send);
  double one_way = (MPI_Wtime() - start) / iterations / 2;
  if (is_first)
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
  int first        = argc > 4 ? atoi(argv[3]) : 0;
  int second       = argc > 4 ? atoi(argv[4]) : 1;
  if (first < 0 || second < 0 || first >= ranks || second >= ranks || first == second || iterations < 1) {
    if (rank == 0)
      fputs("usage: pingpong [SIZE,SIZE,... [ITERATIONS [RANK RANK]]]   on at least two ranks\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  if (rank == first)
    printf("#    bytes         one_way_us            send_us\n");
  for (char* end; *size != '\0'; size = *end == ',' ? end + 1 : end) {
    long bytes = strtol(size, &end, 10);
    if (end == size)
      break;
    if (rank == first || rank == second)
      measure(rank == first, rank == first ? second : first, (int)bytes, iterations);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
