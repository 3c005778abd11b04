/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI from threads of the program, one at a time (MPI_THREAD_SERIALIZED), and from inside parallel regions of several
 * sizes. Rank 0 prints the times of the parts; then each rank prints that it is right, or its errors. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20, LONG = 200000, THREADS = 3 };

static int rank, size, provided;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("rank %d: line %d: not %s\n", rank, __LINE__, #condition);                                                \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/** Calls MPI from the master thread inside a parallel region whose thread count differs between ranks. */
static void masters(void)
{
  const int most = 2 + rank % 3;
  int seen[4]    = {0};
  long all       = 0;
#pragma omp parallel num_threads(most)
  for (int round = 1; round <= ROUNDS; round++) {
    seen[omp_get_thread_num()]++;
#pragma omp barrier
#pragma omp master
    {
      long mine = 0, want = 0;
      EXPECT(omp_get_num_threads() == most);
      for (int thread = 0; thread < most; thread++)
        mine += seen[thread];
      MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      for (int other = 0; other < size; other++)
        want += (2 + other % 3) * round;
      EXPECT(all == want);
    }
#pragma omp barrier
  }
}

/** Calls MPI from whichever thread comes first, in single and critical constructs. */
static void teams(void)
{
  long sum = 0;
#pragma omp parallel num_threads(THREADS)
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp single
    {
      long mine = rank + round, all;
      MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      EXPECT(all == (long)size * (size - 1) / 2 + (long)size * round);
    }
#pragma omp critical
    {
      int sent = rank, got = -1;
      MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, (rank + size - 1) % size, 7,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT(got == (rank + size - 1) % size);
      sum += got;
    }
#pragma omp barrier
  }
  EXPECT(sum == (long)THREADS * ROUNDS * ((rank + size - 1) % size));
}

/** A thread that receives long messages; main waits for its end outside MPI. */
static void* receives(void* unused)
{
  int* values = malloc(LONG * sizeof *values);
  int main_thread;
  (void)unused;
  MPI_Is_thread_main(&main_thread);
  EXPECT(!main_thread);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Status status;
    int count;
    MPI_Recv(values, LONG, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == LONG && status.MPI_SOURCE == (rank ^ 1) && values[0] == round && values[LONG - 1] == round);
  }
  free(values);
  return NULL;
}

static void* sends(void* unused)
{
  int* values = malloc(LONG * sizeof *values);
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < LONG; i++)
      values[i] = round;
    MPI_Send(values, LONG, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD);
  }
  free(values);
  return NULL;
}

static void pairs(void)
{
  pthread_t thread;
  const int alone = rank == size - 1 && rank % 2 == 0;
  if (!alone && pthread_create(&thread, NULL, rank % 2 ? receives : sends, NULL) == 0)
    pthread_join(thread, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

/** Threads that alternate by a mutex, including main. Non-blocking, so that no order is needed. */
static void* sends_in_turn(void* number)
{
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Request request;
    const int value = *(int*)number * ROUNDS + round;
    pthread_mutex_lock(&turn);
    MPI_Isend(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&turn);
  }
  return NULL;
}

static void mutexes(void)
{
  pthread_t threads[THREADS];
  int numbers[THREADS];
  if (rank > 0) {
    for (int i = 0; i < THREADS; i++) {
      numbers[i] = i;
      EXPECT(pthread_create(&threads[i], NULL, sends_in_turn, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
  } else {
    long sum = 0;
    for (int i = 0; i < (size - 1) * THREADS * ROUNDS; i++) {
      int value;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += value;
    }
    EXPECT(sum == (long)(size - 1) * (THREADS * ROUNDS) * (THREADS * ROUNDS - 1) / 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
  double times[5];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(provided == MPI_THREAD_SERIALIZED);
  times[0] = MPI_Wtime();
  masters();
  times[1] = MPI_Wtime();
  teams();
  times[2] = MPI_Wtime();
  pairs();
  times[3] = MPI_Wtime();
  mutexes();
  times[4] = MPI_Wtime();
  if (rank == 0)
    for (int i = 0; i < 4; i++)
      printf("part %d: %.9f s\n", i, times[i + 1] - times[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d is right\n", rank);
  MPI_Finalize();
  return 0;
}
