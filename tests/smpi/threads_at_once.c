/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI from several threads concurrently, which programs with MPI_THREAD_SERIALIZED must not do. Argument "polling":
 * threads exchange messages with their neighbours' threads, and rank 0 prints the sum of all. "self": main waits for a
 * message that only another thread of its rank would send. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5, THREADS = 3, PAUSE = 200000 };

static int rank, size;

static long poll_all(void)
{
  long sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
  for (int round = 0; round < ROUNDS; round++) {
    const int me = omp_get_thread_num(), sent = rank + me;
    int got = 0, done = 0;
    MPI_Request requests[2];
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, me, MPI_COMM_WORLD, &requests[1]);
    while (!done)
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    sum += got;
  }
  return sum;
}

static void* send_to_self(void* unused)
{
  const int value = 1;
  (void)unused;
  usleep(PAUSE); /* in real time: main is in MPI by then */
  MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  return NULL;
}

static long wait_for_self(void)
{
  int value = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, send_to_self, NULL) != 0)
    return 0;
  MPI_Recv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pthread_join(thread, NULL);
  return value;
}

int main(int argc, char** argv)
{
  int provided;
  long mine, all;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mine = strcmp(argv[1], "self") == 0 ? wait_for_self() : poll_all();
  MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("provided %d, sum %ld\n", provided == MPI_THREAD_SERIALIZED, all);
  MPI_Finalize();
  return 0;
}
