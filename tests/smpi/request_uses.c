/* SPDX-License-Identifier: LGPL-2.1-only */
/* Requests of non-blocking collectives in all the ways that MPI allows, each twice and after a plain MPI_Wait, whose
 * request may be reused. Rank 0 prints the statuses that it gets, and the time at which the last rank has finished, in
 * nanoseconds. Ends with status 3 if a result, a handle or a number is wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { SEVERAL = 5 };

static int rank, ranks, calls;

static void need(int right, const char* what)
{
  if (!right) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

/* Call with its contribution and expected sum. */
struct Call {
  int given, sum;
  MPI_Request request;
};

static void start(struct Call* call)
{
  call->given = ++calls;
  call->sum   = -1;
  MPI_Iallreduce(&call->given, &call->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &call->request);
}

static void end(const struct Call* call)
{
  need(call->request == MPI_REQUEST_NULL, "the request is over, and still there");
  need(call->sum == ranks * call->given, "the sum is wrong");
}

static void plain(void)
{
  struct Call call;
  start(&call);
  MPI_Wait(&call.request, MPI_STATUS_IGNORE);
  end(&call);
}

static void show(const char* how, const MPI_Status* status)
{
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  if (rank == 0)
    printf("%s: source %d, tag %d, error %d, count %d\n", how, status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR,
           count);
}

static void with_status(void)
{
  struct Call call;
  MPI_Status status = {.MPI_ERROR = MPI_SUCCESS}; /* functions that complete one request do not set it */
  start(&call);
  MPI_Wait(&call.request, &status);
  end(&call);
  show("wait", &status);
}

static void another_collective(void)
{
  MPI_Request request;
  MPI_Status status = {.MPI_ERROR = MPI_SUCCESS}; /* functions that complete one request do not set it */
  int data          = rank == 1 ? 42 : 0;
  MPI_Ibcast(&data, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  need(data == 42, "the broadcast is wrong");
  show("bcast", &status);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  show("barrier", &status);
}

static void tested(void)
{
  struct Call call;
  MPI_Status status = {.MPI_ERROR = MPI_SUCCESS}; /* functions that complete one request do not set it */
  int over          = 0;
  start(&call);
  while (!over) {
    usleep(1);
    MPI_Test(&call.request, &over, &status);
  }
  end(&call);
  show("test", &status);
}

static void looked_at(void)
{
  struct Call call;
  MPI_Status status = {.MPI_ERROR = MPI_SUCCESS}; /* functions that complete one request do not set it */
  int over          = 0;
  start(&call);
  while (!over) {
    usleep(1);
    MPI_Request_get_status(call.request, &over, &status);
  }
  need(call.request != MPI_REQUEST_NULL, "a request that was only looked at is gone");
  MPI_Wait(&call.request, MPI_STATUS_IGNORE);
  end(&call);
}

/* Waits for the last request first. */
static void several(int with_any)
{
  struct Call all[SEVERAL];
  for (int i = 0; i < SEVERAL; i++)
    start(&all[i]);
  MPI_Wait(&all[SEVERAL - 1].request, MPI_STATUS_IGNORE);
  MPI_Wait(&all[1].request, MPI_STATUS_IGNORE);
  MPI_Request left[SEVERAL];
  MPI_Status statuses[SEVERAL];
  for (int i = 0; i < SEVERAL; i++)
    left[i] = all[i].request;
  if (with_any) {
    int which, number, indices[SEVERAL], over;
    MPI_Waitany(SEVERAL, left, &which, MPI_STATUS_IGNORE);
    need(which == 0 || which == 2 || which == 3, "there is no such request");
    MPI_Waitsome(SEVERAL, left, &number, indices, statuses);
    MPI_Testall(SEVERAL, left, &over, statuses);
    MPI_Waitall(SEVERAL, left, MPI_STATUSES_IGNORE);
  } else {
    MPI_Waitall(SEVERAL, left, rank % 2 == 0 ? statuses : MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < SEVERAL; i++) {
    all[i].request = left[i];
    end(&all[i]);
  }
}

/* A Fortran number identifies one request during its lifetime. */
static void numbered(void)
{
  struct Call first, second;
  start(&first);
  const MPI_Fint number = MPI_Request_c2f(first.request);
  need(MPI_Request_f2c(number) == first.request, "the number is of another request");
  need(MPI_Request_c2f(first.request) == number, "a request has two numbers");
  MPI_Wait(&first.request, MPI_STATUS_IGNORE);
  end(&first);
  start(&second);
  need(MPI_Request_c2f(second.request) != number, "two requests have one number");
  MPI_Wait(&second.request, MPI_STATUS_IGNORE);
  end(&second);
}

/* Together with a message, for which SMPI waits. */
static void mixed(void)
{
  struct Call call;
  MPI_Request all[3];
  int from = -1;
  MPI_Irecv(&from, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &all[0]);
  start(&call);
  all[1] = call.request;
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &all[2]);
  MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
  call.request = all[1];
  end(&call);
  need(from == (rank + ranks - 1) % ranks, "the message is wrong");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  usleep((unsigned)(3 * rank));
  for (int round = 0; round < 2; round++) {
    plain();
    with_status();
    plain();
    another_collective();
    plain();
    tested();
    plain();
    looked_at();
    plain();
    several(0);
    plain();
    several(1);
    plain();
    mixed();
    plain();
    if (round == 1)
      numbered();
    plain();
  }
  const double mine = MPI_Wtime();
  double last;
  MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.0f\n", last * 1e9);
  MPI_Finalize();
  return 0;
}
