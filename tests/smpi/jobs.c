/* SPDX-License-Identifier: LGPL-2.1-only */
/* Programs of the tests of several jobs: `jobs WHAT NUMBER`.
 *
 * sum N       N Allreduces, MPI_Alltoalls and rings over the world and a duplicate, each checked
 * flow BYTES  rank 0 sends BYTES to rank 1, which prints the time
 * words       prints the arguments, the variable JOB and a private counter
 * return, exit, early, abort, crash, raise, hang, mismatch, thread-abort, thread-crash N
 *             as `sum 2`, and then rank N % size ends as named, with status N + 3 if it has a status;
 *             thread-…: another thread of it does
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int counter; /* private to each rank */

static void check(int right, const char* what)
{
  if (!right) {
    fprintf(stderr, "wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 99);
  }
}

static void sums(MPI_Comm comm, int times)
{
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < times; ++i) {
    int own[64], sum[64];
    for (int k = 0; k < 64; ++k)
      own[k] = rank + i + k;
    MPI_Allreduce(own, sum, 64, MPI_INT, MPI_SUM, comm);
    for (int k = 0; k < 64; ++k)
      check(sum[k] == size * (size - 1) / 2 + size * (i + k), "MPI_Allreduce");
    int* from = malloc(sizeof(int) * size);
    int* to   = malloc(sizeof(int) * size);
    for (int k = 0; k < size; ++k)
      from[k] = rank * 1000 + k;
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
    for (int k = 0; k < size; ++k)
      check(to[k] == k * 1000 + rank, "MPI_Alltoall");
    free(from);
    free(to);
    int left = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &left, 1, MPI_INT, (rank + size - 1) % size, i, comm,
                 MPI_STATUS_IGNORE);
    check(left == (rank + size - 1) % size, "MPI_Sendrecv");
    ++counter;
  }
}

static void flow(int bytes)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data   = malloc(bytes);
  double start = MPI_Wtime();
  if (rank == 0)
    MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  else if (rank == 1) {
    MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%.17g\n", MPI_Wtime() - start);
  }
  free(data);
}

static void* fail_in_thread(void* status)
{
  if (status)
    MPI_Abort(MPI_COMM_WORLD, *(int*)status);
  *(volatile int*)8 = 1;
  return NULL;
}

static void fail(const char* how, int number, int rank, int size)
{
  int culprit = rank == number % size;
  if (strcmp(how, "mismatch") == 0) {
    if (culprit)
      MPI_Barrier(MPI_COMM_WORLD);
    else
      MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (!culprit) {
    if (strcmp(how, "return") != 0 && strcmp(how, "exit") != 0)
      MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  if (strcmp(how, "early") == 0)
    exit(number + 3);
  if (strcmp(how, "abort") == 0)
    MPI_Abort(MPI_COMM_WORLD, number + 3);
  if (strcmp(how, "crash") == 0)
    *(volatile int*)8 = 1;
  if (strncmp(how, "thread-", 7) == 0) {
    int status = number + 3;
    pthread_t thread;
    pthread_create(&thread, NULL, fail_in_thread, strcmp(how, "thread-abort") == 0 ? &status : NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(how, "raise") == 0)
    raise(SIGTERM);
  if (strcmp(how, "hang") == 0)
    MPI_Recv(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  int rank, size, provided;
  MPI_Comm copy;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "sum";
  int number       = argc > 2 ? atoi(argv[2]) : 1;
  if (strcmp(what, "flow") == 0) {
    flow(number);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(what, "words") == 0) {
    counter += rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d: %d arguments, JOB=%s, counter %d\n", rank, size, argc - 1, getenv("JOB"), counter);
    MPI_Finalize();
    return 0;
  }
  int times = strcmp(what, "sum") == 0 ? number : 2;
  sums(MPI_COMM_WORLD, times);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  sums(copy, times);
  check(counter == 2 * times, "counting");
  MPI_Comm_free(&copy);
  if (strcmp(what, "sum") != 0)
    fail(what, number, rank, size);
  MPI_Finalize();
  if (rank == 0 && strcmp(what, "sum") == 0)
    printf("right\n");
  if (rank == number % size && strcmp(what, "return") == 0)
    return number + 3;
  if (rank == number % size && strcmp(what, "exit") == 0)
    exit(number + 3);
  return 0;
}
