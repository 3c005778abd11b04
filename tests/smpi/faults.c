/* SPDX-License-Identifier: LGPL-2.1-only */
/* Programs of the tests of faults: `faults WHAT BYTES TIMES`.
 *
 * allreduce   TIMES Allreduces of BYTES, each checked; rank 0 prints the time of the last rank
 * mixed       TIMES rounds of Isend/Irecv rings, Allreduce, Bcast, Allgather and Alltoall over the world and two
 *             halves of it, blocking and not, each checked; rank 0 prints the sum of all results
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int right, const char* what)
{
  if (!right) {
    fprintf(stderr, "wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 99);
  }
}

static void allreduce(MPI_Comm comm, int count, int round)
{
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* own = malloc(sizeof(int) * (count + 1));
  int* sum = malloc(sizeof(int) * (count + 1));
  for (int i = 0; i < count; ++i)
    own[i] = rank + i + round;
  MPI_Allreduce(own, sum, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i)
    check(sum[i] == size * (size - 1) / 2 + size * (i + round), "MPI_Allreduce");
  free(own);
  free(sum);
}

static int64_t mixed(MPI_Comm comm, int count, int round)
{
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* own = malloc(sizeof(int) * (count + 1));
  int* got = malloc(sizeof(int) * (count + 1));
  int* all = malloc(sizeof(int) * (count + 1) * size);
  for (int i = 0; i < count; ++i)
    own[i] = rank * 7 + i + round;
  MPI_Request requests[2];
  const int left = (rank + size - 1) % size;
  MPI_Irecv(got, count, MPI_INT, left, round, comm, &requests[0]);
  MPI_Isend(own, count, MPI_INT, (rank + 1) % size, round, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i)
    check(got[i] == left * 7 + i + round, "MPI_Isend");
  MPI_Iallreduce(own, got, count, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Iallreduce(own, all, count, MPI_INT, MPI_MAX, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i)
    check(all[i] == (size - 1) * 7 + i + round, "MPI_Iallreduce of maxima");
  for (int i = 0; i < count; ++i)
    check(got[i] == 7 * (size * (size - 1) / 2) + size * (i + round), "MPI_Iallreduce");
  MPI_Bcast(got, count, MPI_INT, round % size, comm);
  MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, comm);
  int64_t sum = 0;
  for (int i = 0; i < count * size; ++i)
    sum += all[i];
  int* out = malloc(sizeof(int) * (count + 1) * size);
  MPI_Alltoall(all, count, MPI_INT, out, count, MPI_INT, comm);
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < count; ++i)
      check(out[from * count + i] == all[rank * count + i], "MPI_Alltoall");
  MPI_Barrier(comm);
  free(own);
  free(got);
  free(all);
  free(out);
  return sum;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int count = argc > 2 ? atoi(argv[2]) / (int)sizeof(int) : 0;
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "allreduce") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int round = 0; round < times; ++round)
      allreduce(MPI_COMM_WORLD, count, round);
    double took = MPI_Wtime() - start;
    double last = 0;
    MPI_Reduce(&took, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%.17g\n", last);
  } else {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int64_t sum = 0;
    for (int round = 0; round < times; ++round)
      sum += mixed(MPI_COMM_WORLD, count, round) + mixed(half, count, round);
    int64_t total = 0;
    MPI_Reduce(&sum, &total, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%lld\n", (long long)total);
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
  return 0;
}
