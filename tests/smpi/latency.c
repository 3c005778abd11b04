/* SPDX-License-Identifier: LGPL-2.1-only */
/* Entry and exit times of each rank in an Allreduce (MPI_INT, MPI_SUM), back to back for each size.
 *
 *     latency SIZE,SIZE,... [LATE_RANK MICROSECONDS]     (sizes in bytes)
 *
 * Each rank prints "rank bytes entered left" for each size. Only the Allreduces take simulated time, and rank LATE_RANK
 * sleeps before each of them. Requires --cfg=smpi/wtime:0, since SMPI otherwise charges 10 ns per clock read.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void call(int rank, long bytes, unsigned late_us)
{
  int count    = (int)(bytes / (long)sizeof(int));
  int* send    = calloc((size_t)count, sizeof(int));
  int* receive = calloc((size_t)count, sizeof(int));
  if (late_us > 0)
    usleep(late_us);
  double entered = MPI_Wtime();
  MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d %ld %.17g %.17g\n", rank, bytes, entered, MPI_Wtime());
  free(send);
  free(receive);
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int late          = argc == 4 && atoi(argv[2]) == rank;
  const char* sizes = argv[1];
  while (*sizes != '\0') {
    char* end;
    call(rank, strtol(sizes, &end, 10), late ? (unsigned)atoi(argv[3]) : 0);
    sizes = *end == ',' ? end + 1 : end;
  }
  MPI_Finalize();
  return 0;
}
