/* SPDX-License-Identifier: LGPL-2.1-only */
/* Loops that wait for another rank by calls that take no simulated time. Times are printed in us.
 *
 *   spin CALL   rank 0 repeats CALL until rank 1 has set a flag in rank 0's window, which it does after 50 us; rank 0
 *               prints when it has seen the flag, rank 1 when its access has completed
 *   token       the ranks of a host pass on a token through a shared window
 *   work        rank 0 makes many calls at one instant that are no loops of this kind, and prints their time
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_US = 50, CALLS = 50000 };
static int rank, ranks;

static int is(const char* word, const char* expected)
{
  return !strcmp(word, expected);
}

/* Makes the call once, and returns whether the flag is set. */
static int look(const char* call, volatile int* flag, MPI_Win win)
{
  static int one = 1, none, seen;
  int found, ended, *value;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  seen = *flag;
  if (is(call, "fetch")) {
    MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush_local(0, win);
  } else if (is(call, "replace")) {
    int old;
    MPI_Fetch_and_op(&none, &old, MPI_INT, 0, 1, MPI_REPLACE, win);
  } else if (is(call, "accumulate"))
    MPI_Get_accumulate(NULL, 0, MPI_INT, &seen, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win);
  else if (is(call, "get")) {
    MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  } else if (is(call, "rget")) {
    MPI_Rget(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(call, "swap")) { /* replaces a value of 1 */
    MPI_Compare_and_swap(&one, &one, &seen, MPI_INT, 0, 0, win);
  } else if (is(call, "put"))
    MPI_Put(&none, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
  else if (is(call, "flush_all"))
    MPI_Win_flush_all(win);
  else if (is(call, "flush_local_all"))
    MPI_Win_flush_local_all(win);
  else if (is(call, "sync"))
    MPI_Win_sync(win);
  else if (is(call, "lock")) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  } else if (is(call, "lock_all")) {
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
  } else if (is(call, "iprobe"))
    MPI_Iprobe(1, 7, MPI_COMM_WORLD, &found, &status);
  else if (is(call, "test"))
    MPI_Test(&request, &found, MPI_STATUS_IGNORE);
  else if (is(call, "testany"))
    MPI_Testany(1, &request, &ended, &found, MPI_STATUS_IGNORE);
  else if (is(call, "testall"))
    MPI_Testall(0, NULL, &found, MPI_STATUSES_IGNORE);
  else if (is(call, "testsome"))
    MPI_Testsome(1, &request, &found, &ended, MPI_STATUSES_IGNORE);
  else if (is(call, "attribute"))
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void*)&value, &found);
  return seen;
}

static void spin(const char* call)
{
  MPI_Win win;
  int *memory, one = 1, data = 3;
  const int locks = is(call, "lock") || is(call, "lock_all");
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = 0;
  if (rank == 1)
    MPI_Send(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); /* for "iprobe" */
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (!locks)
    MPI_Win_lock_all(0, win);
  if (rank == 0)
    while (!look(call, memory, win))
      ;
  else if (rank == 1) {
    usleep(WAIT_US);
    if (locks)
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (locks)
      MPI_Win_unlock(0, win);
  }
  const double end = MPI_Wtime();
  if (!locks)
    MPI_Win_unlock_all(win);
  if (rank == 0)
    MPI_Recv(&data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2)
    printf("%d %.6f\n", rank, (end - start) * 1e6);
  MPI_Win_free(&win);
}

static void token(void)
{
  MPI_Win win;
  MPI_Comm host;
  MPI_Aint bytes;
  int unit, here, all;
  volatile int* next;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &here);
  MPI_Comm_size(host, &all);
  MPI_Win_allocate_shared(here == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, host, (void*)&next, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, (void*)&next);
  if (here == 0)
    *next = all - 1;
  MPI_Barrier(host);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int turn = 0; turn < 3; turn++) {
    while (*next != here)
      MPI_Win_sync(win);
    *next = (here + all - 1) % all;
    MPI_Win_sync(win);
  }
  MPI_Win_unlock_all(win);
  printf("rank %d passed\n", rank);
  MPI_Win_free(&win);
}

static void work(void)
{
  static int places[CALLS];
  MPI_Win win;
  int* memory;
  MPI_Win_allocate(CALLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, CALLS * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  const double start = MPI_Wtime();
  for (int call = 0; rank == 0 && call < CALLS; call++) {
    MPI_Get(&places[call], 1, MPI_INT, 0, call, 1, MPI_INT, win);
    MPI_Put(&call, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  }
  for (int call = 0; rank == 0 && call < 5000; call++)
    MPI_Win_sync(win);
  if (rank == 0)
    printf("%.6f\n", (MPI_Wtime() - start) * 1e6);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

int main(int argc, char* argv[])
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is(argv[1], "spin"))
    spin(argv[2]);
  else if (is(argv[1], "token"))
    token();
  else
    work();
  MPI_Finalize();
  return 0;
}
