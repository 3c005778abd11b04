/* SPDX-License-Identifier: LGPL-2.1-only */
/* Alternates correct and erroneous collectives: rank 0 prints each call's error class and its result. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static int rank, ranks;
static int give[MOST], get[MOST], counts[MOST], places[MOST];

static void start(void)
{
  memset(get, 0, sizeof get);
  for (int i = 0; i < MOST; i++)
    give[i] = rank + i;
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1;
    places[i] = i;
  }
}

static void say(const char* call, int error)
{
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  if (rank == 0)
    printf("%s: error %d, got %d %d\n", call, error_class, get[0], get[ranks - 1]);
}

static int finished(int error, MPI_Request* request)
{
  return error == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : error;
}

static void call_each(MPI_Comm comm)
{
  MPI_Request request;
  start();
  say("allreduce", MPI_Allreduce(give, get, ranks, MPI_INT, MPI_SUM, comm));
  start();
  say("in place", MPI_Allreduce(MPI_IN_PLACE, get, ranks, MPI_INT, MPI_SUM, comm));
  say("count", MPI_Allreduce(give, get, -1, MPI_INT, MPI_SUM, comm));
  say("no buffer", MPI_Allreduce(give, NULL, 1, MPI_INT, MPI_SUM, comm));
  say("operation", MPI_Allreduce(give, get, 1, MPI_FLOAT, MPI_BAND, comm));
  say("nothing", MPI_Allreduce(give, get, 0, MPI_INT, MPI_SUM, comm));
  start();
  say("iallreduce", finished(MPI_Iallreduce(give, get, ranks, MPI_INT, MPI_MAX, comm, &request), &request));
  say("iallreduce's type", MPI_Iallreduce(give, get, 1, MPI_DATATYPE_NULL, MPI_MAX, comm, &request));
  start();
  say("reduce_scatter", MPI_Reduce_scatter(give, get, counts, MPI_INT, MPI_SUM, comm));
  start();
  say("ireduce_scatter", finished(MPI_Ireduce_scatter(give, get, counts, MPI_INT, MPI_SUM, comm, &request), &request));
  counts[ranks - 1] = -1;
  say("reduce_scatter's counts", MPI_Reduce_scatter(give, get, counts, MPI_INT, MPI_SUM, comm));
  say("no counts", MPI_Reduce_scatter(give, get, NULL, MPI_INT, MPI_SUM, comm));
  start();
  say("allgatherv", MPI_Allgatherv(give, 1, MPI_INT, get, counts, places, MPI_INT, comm));
  start();
  say("iallgatherv",
      finished(MPI_Iallgatherv(give, 1, MPI_INT, get, counts, places, MPI_INT, comm, &request), &request));
  counts[0] = -1;
  say("allgatherv's counts", MPI_Allgatherv(give, 1, MPI_INT, get, counts, places, MPI_INT, comm));
  start();
  say("no places", MPI_Allgatherv(give, 1, MPI_INT, get, counts, NULL, MPI_INT, comm));
}

int main(int argc, char** argv)
{
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  for (int time = 0; time < 2; time++) { // a correct call may enable shortcuts for later ones
    call_each(MPI_COMM_WORLD);
    call_each(other);
  }
  MPI_Comm_free(&other);
  MPI_Finalize();
  const int error = MPI_Allreduce(give, get, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("after the end: %s\n", error == MPI_SUCCESS ? "done" : "refused");
  return 0;
}
