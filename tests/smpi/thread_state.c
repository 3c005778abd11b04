/* SPDX-License-Identifier: LGPL-2.1-only */
/* Thread-local variables of a rank's OpenMP threads (threadprivate, thread_local) persist between regions with equal
 * thread counts (OpenMP 5.2, section 5.2), whichever ranks, with whichever teams, have run in between. Prints `right`
 * per rank. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { ROUNDS = 4 };
static int seed, copied = 5;
static _Thread_local int visits;
#pragma omp threadprivate(seed, copied)
static int rank, wrong;

static void expect(int found, int expected, const char* what)
{
  if (found == expected)
    return;
#pragma omp critical
  {
    ++wrong;
    printf("rank %d, thread %d: %s: %d instead of %d\n", rank, omp_get_thread_num(), what, found, expected);
  }
}

static int own(int round)
{
  return 1000 * (rank + 1) + 10 * omp_get_thread_num() + round;
}

/* Threads read the values that they wrote in the last region; MPI calls are between or inside regions. */
static void persist(int threads, int inside)
{
  omp_set_num_threads(threads);
#pragma omp parallel
  {
    seed   = own(0);
    visits = 0;
  }
  for (int round = 1; round <= ROUNDS; ++round) {
    if (!inside)
      MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel
    {
      expect(seed, own(round - 1), inside ? "after a wait inside" : "after a wait between");
      expect(visits, round - 1, "visits");
      ++visits;
      seed = own(round);
      if (inside) {
#pragma omp barrier
#pragma omp master
        MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
        expect(seed, own(round), "in the region after a wait");
      }
    }
  }
}

/* Between two regions: teams of other sizes, which end threads, nested regions, and tasks of other ranks. */
static void disturb(int threads)
{
  int sum = 0;
  omp_set_num_threads(threads);
#pragma omp parallel
  seed = own(7);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp atomic
    ++sum;
    expect(sum, 6, "nested threads");
#pragma omp parallel num_threads(5)
#pragma omp single
    for (int task = 0; task < 10; ++task)
#pragma omp task
#pragma omp atomic
      ++sum;
    expect(sum, 16, "tasks");
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel
  expect(seed, own(7), "after other ranks' nested regions");
}

int main(int argc, char** argv)
{
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  omp_set_dynamic(0);
  persist(rank == 0 ? 4 : 2, 0);
  persist(rank % 2 ? 3 : 2, 1);
  persist(3, 0);
  disturb(4);
  copied = rank;
#pragma omp parallel copyin(copied) num_threads(3)
  expect(copied, rank, "copyin");
  if (!wrong)
    puts("right");
  MPI_Finalize();
  return wrong != 0;
}
