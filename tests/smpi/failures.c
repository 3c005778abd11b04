/* SPDX-License-Identifier: LGPL-2.1-only */
/* Fails in one of many ways after a successful Allreduce: `failures HOW`. Rank 1 causes the failure. */
#include <mpi.h>
#include <pthread.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { RANKS = 4, BUFFER = 8, EXIT_USAGE = 64 };

static int send[BUFFER], receive[BUFFER];
static double send_doubles[BUFFER], receive_doubles[BUFFER];

/* ---- Ranks that make different calls ---- */

static void other_collective(int rank)
{
  if (rank == 1)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void other_count(int rank)
{
  MPI_Allreduce(send, receive, rank == 1 ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void other_op(int rank)
{
  MPI_Allreduce(send, receive, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static void other_type(int rank)
{
  if (rank == 1)
    MPI_Allreduce(send_doubles, receive_doubles, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void other_root(int rank)
{
  MPI_Bcast(send, 1, MPI_INT, rank == 1, MPI_COMM_WORLD);
}

static void other_size_of_bcast(int rank)
{
  MPI_Bcast(send, rank == 1 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void other_part(int rank)
{
  int counts[RANKS] = {1, 1, rank == 1 ? 2 : 1, 1}, places[RANKS] = {0, 1, 2, 4};
  MPI_Allgatherv(send, 1, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void other_parts_of_the_same_sum(int rank)
{
  int counts[RANKS] = {1, rank == 1 ? 2 : 1, rank == 1 ? 0 : 1, 1};
  MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void other_form(int rank)
{
  MPI_Request request;
  if (rank == 1) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void other_root_later(int rank)
{
  MPI_Request requests[2];
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Ireduce(send, receive, 1, MPI_INT, MPI_SUM, rank == 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void skipped_ibarrier(int rank)
{
  MPI_Request request;
  if (rank == 1)
    return;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_order_in_half(int rank)
{
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  if (rank == 1)
    MPI_Barrier(half);
  MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, half);
  if (rank != 1)
    MPI_Barrier(half);
}

/* ---- Ranks that wait forever ---- */

static void receive_without_send(int rank)
{
  if (rank == 1)
    MPI_Recv(receive, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void skipped_allreduce(int rank)
{
  if (rank != 1)
    MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* The same, but rank 1 has ended long before. */
static void late_allreduce(int rank)
{
  if (rank != 1) {
    usleep(100);
    MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void skipped_barrier(int rank)
{
  if (rank != 1)
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Deadlock: rank 1 waits for a message that rank 0 sends only after the Allreduce, which waits for rank 1. */
static void crossed(int rank)
{
  if (rank == 1)
    MPI_Recv(receive, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Send(send, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

/* ---- Ranks that exit ---- */

static void segmentation_fault(int rank)
{
  volatile int* nowhere = NULL;
  if (rank == 1)
    *nowhere = 1;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void call_abort(int rank)
{
  if (rank == 1)
    abort();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void call_exit(int rank)
{
  if (rank == 1)
    exit(3);
}

static void call_exit_in_one_of_many(int rank)
{
  if (rank == 1)
    exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void call_mpi_abort(int rank)
{
  if (rank == 1)
    MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void return_early(int rank)
{
  if (rank != 1)
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cut_short(int rank)
{
  if (rank == 0)
    MPI_Send(send, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(receive, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wrong_root(int rank)
{
  (void)rank;
  MPI_Bcast(send, 1, MPI_INT, -3, MPI_COMM_WORLD);
}

static void spawned(int rank)
{
  MPI_Comm inter;
  if (rank == 1)
    MPI_Comm_spawn("other", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
}

static void file(int rank)
{
  MPI_File opened;
  if (rank == 1)
    MPI_File_open(MPI_COMM_SELF, "written", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &opened);
}

/* 300 MB, mapped 4,096 B at a time if the run is configured that way. */
static void shared_memory(int rank)
{
  if (rank == 1)
    SMPI_SHARED_FREE(SMPI_SHARED_MALLOC((size_t)300 * 1000 * 1000));
}

/* One PiB, which no machine grants. */
static void endless_memory(int rank)
{
  if (rank == 1)
    SMPI_SHARED_FREE(SMPI_SHARED_MALLOC((size_t)1 << 50));
}

static void* call_from_thread(void* unused)
{
  MPI_Send(send, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  return unused;
}

static void other_thread(int rank)
{
  pthread_t thread;
  if (rank == 1) {
    pthread_create(&thread, NULL, call_from_thread, NULL);
    pthread_join(thread, NULL);
  }
}

/* Takes no simulated time and unlimited wall time. */
static void run_for_ever(int rank)
{
  if (rank == 0) {
    puts("running");
    fflush(stdout);
  }
  while (1)
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(int rank);
} WAYS[] = {
    {"other-collective", other_collective},
    {"other-count", other_count},
    {"other-op", other_op},
    {"other-type", other_type},
    {"other-root", other_root},
    {"other-size-of-bcast", other_size_of_bcast},
    {"other-part", other_part},
    {"other-parts-of-the-same-sum", other_parts_of_the_same_sum},
    {"other-form", other_form},
    {"other-root-later", other_root_later},
    {"skipped-ibarrier", skipped_ibarrier},
    {"other-order-in-half", other_order_in_half},
    {"receive-without-send", receive_without_send},
    {"crossed", crossed},
    {"skipped-allreduce", skipped_allreduce},
    {"late-allreduce", late_allreduce},
    {"skipped-barrier", skipped_barrier},
    {"segmentation-fault", segmentation_fault},
    {"abort", call_abort},
    {"exit", call_exit},
    {"exit-while-others-wait", call_exit_in_one_of_many},
    {"mpi-abort", call_mpi_abort},
    {"return-early", return_early},
    {"truncate", cut_short},
    {"wrong-root", wrong_root},
    {"spawned", spawned},
    {"other-thread", other_thread},
    {"file", file},
    {"shared-memory", shared_memory},
    {"endless-memory", endless_memory},
    {"run-for-ever", run_for_ever},
};

int main(int argc, char** argv)
{
  int rank;
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(how, "return") == 0) {
    MPI_Finalize();
    return rank == 1 ? 5 : 0;
  }
  for (size_t i = 0; i < COUNT_OF(WAYS); i++) {
    if (strcmp(how, WAYS[i].name) == 0) {
      WAYS[i].run(rank);
      if (rank == 1 && strcmp(how, "return-early") == 0)
        return 7;
      MPI_Finalize();
      return 0;
    }
  }
  fprintf(stderr, "failures: no such way: '%s'\n", how);
  MPI_Finalize();
  return EXIT_USAGE;
}
