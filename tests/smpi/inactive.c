/* SPDX-License-Identifier: LGPL-2.1-only */
/* Requests that are null, inactive, of a single rank, or cancelled: MPI 4.1, 3.7.3 to 3.7.5, 3.8.4, 3.9.
 *
 *   tests     results of each completion function for null and inactive requests
 *   alone     non-blocking collectives on one rank: each returns a request, which a test completes
 *   partial   MPI_Testall with one of two requests complete: it completes none, and no status is lost
 *   status    MPI_Request_get_status: false before completion, and does not free the request
 *   cancel N  persistent receives, matched by N messages: cancelled, waited for, tested, restarted, freed
 *   late N    cancelled receive of N bytes whose message has arrived or is in flight: it is received
 */
#include "checks.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ranks;

static MPI_Status filled(void)
{
  MPI_Status status;
  memset(&status, 7, sizeof status);
  return status;
}

static void check_empty(MPI_Status status, const char* what)
{
  int count = -1, cancelled = 1;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  check(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled, what);
}

/* Checks requests that are all null or inactive. */
static void check_all(MPI_Request* requests, int count, const char* which)
{
  int flag, index, ended, places[3];
  MPI_Status status, statuses[3];
  char what[128];
  for (int with = 0; with < 2; with++) {
    MPI_Status* one  = with ? &status : MPI_STATUS_IGNORE;
    MPI_Status* many = with ? statuses : MPI_STATUSES_IGNORE;
#define CALL(call, ...)                                                                                                \
  status = statuses[0] = statuses[1] = statuses[2] = filled();                                                         \
  flag = 7, index = 7, ended = 7;                                                                                      \
  snprintf(what, sizeof what, #call " %s", which);                                                                     \
  call(__VA_ARGS__)
#define ONE_EMPTY()                                                                                                    \
  if (with)                                                                                                            \
  check_empty(status, what)
#define ALL_EMPTY()                                                                                                    \
  for (int i = 0; with && i < count; i++)                                                                              \
  check_empty(statuses[i], what)
    CALL(MPI_Test, requests, &flag, one);
    check(flag == 1, what);
    ONE_EMPTY();
    CALL(MPI_Testany, count, requests, &index, &flag, one);
    check(flag == 1 && index == MPI_UNDEFINED, what);
    ONE_EMPTY();
    CALL(MPI_Testall, count, requests, &flag, many);
    check(flag == 1, what);
    ALL_EMPTY();
    CALL(MPI_Testsome, count, requests, &ended, places, many);
    check(ended == MPI_UNDEFINED, what);
    CALL(MPI_Wait, requests, one);
    ONE_EMPTY();
    CALL(MPI_Waitany, count, requests, &index, one);
    check(index == MPI_UNDEFINED, what);
    ONE_EMPTY();
    CALL(MPI_Waitall, count, requests, many);
    ALL_EMPTY();
    CALL(MPI_Waitsome, count, requests, &ended, places, many);
    check(ended == MPI_UNDEFINED, what);
    CALL(MPI_Request_get_status, requests[0], &flag, one);
    check(flag == 1, what);
    ONE_EMPTY();
  }
}

static void tests(void)
{
  int data[2]         = {rank, -1};
  MPI_Request null[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check_all(null, 3, "of null requests");
  MPI_Request persistent[3];
  MPI_Send_init(data, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, persistent);
  MPI_Recv_init(data + 1, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, persistent + 1);
  persistent[2] = MPI_REQUEST_NULL;
  check_all(persistent, 3, "of requests that were not started");
  check_all(persistent + 1, 2, "of a receive that was not started");
  for (int round = 0; round < 3; round++) {
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    check(data[1] == (rank + ranks - 1) % ranks, "a message");
    check_all(persistent, 3, "of requests that have ended");
    check_all(persistent + 1, 2, "of a receive that has ended");
  }
  MPI_Request_free(persistent);
  MPI_Request_free(persistent + 1);
  int index, flag = 7;
  MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
  check(flag == 1 && index == MPI_UNDEFINED, "of no requests");
}

static void alone(void)
{
  int one = 1, zero = 0, from = 42, to = 0;
  MPI_Request requests[16];
  MPI_Datatype type = MPI_INT;
  MPI_Comm self;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
  int count = 0;
  MPI_Ibarrier(self, requests + count++);
  MPI_Ibcast(&from, 1, MPI_INT, 0, self, requests + count++);
  MPI_Ireduce(&from, &to, 1, MPI_INT, MPI_SUM, 0, self, requests + count++);
  MPI_Iallreduce(&from, &to, 1, MPI_INT, MPI_SUM, self, requests + count++);
  MPI_Iallgather(&from, 1, MPI_INT, &to, 1, MPI_INT, self, requests + count++);
  MPI_Iallgatherv(&from, 1, MPI_INT, &to, &one, &zero, MPI_INT, self, requests + count++);
  MPI_Igather(&from, 1, MPI_INT, &to, 1, MPI_INT, 0, self, requests + count++);
  MPI_Iscatter(&from, 1, MPI_INT, &to, 1, MPI_INT, 0, self, requests + count++);
  MPI_Igatherv(&from, 1, MPI_INT, &to, &one, &zero, MPI_INT, 0, self, requests + count++);
  MPI_Iscatterv(&from, &one, &zero, MPI_INT, &to, 1, MPI_INT, 0, self, requests + count++);
  MPI_Ialltoall(&from, 1, MPI_INT, &to, 1, MPI_INT, self, requests + count++);
  MPI_Ialltoallv(&from, &one, &zero, MPI_INT, &to, &one, &zero, MPI_INT, self, requests + count++);
  MPI_Ialltoallw(&from, &one, &zero, &type, &to, &one, &zero, &type, self, requests + count++);
  MPI_Ireduce_scatter(&from, &to, &one, MPI_INT, MPI_SUM, self, requests + count++);
  MPI_Ireduce_scatter_block(&from, &to, 1, MPI_INT, MPI_SUM, self, requests + count++);
  MPI_Iscan(&from, &to, 1, MPI_INT, MPI_SUM, self, requests + count++);
  for (int i = 0; i < count; i++) {
    int flag = 0, ended = 7, place = 7;
    check(requests[i] != MPI_REQUEST_NULL, "a request");
    if (i % 2) {
      for (int polls = 0; !flag && polls < 100; polls++)
        MPI_Test(requests + i, &flag, MPI_STATUS_IGNORE);
      check(flag, "its end");
    } else {
      MPI_Waitsome(1, requests + i, &ended, &place, MPI_STATUSES_IGNORE);
      check(ended == 1 && place == 0, "MPI_Waitsome of it");
    }
    check(requests[i] == MPI_REQUEST_NULL, "no request after its end");
  }
  check(to == 42, "its data");
  MPI_Comm_free(&self);
}

static void partial(void)
{
  int data[2] = {0, 0}, flag, late = 0;
  MPI_Status statuses[2];
  MPI_Request requests[2];
  if (rank == 1) {
    MPI_Send(&(int){5}, 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
    usleep(1000);
    MPI_Send((int[]){6, 7}, 2, MPI_INT, 0, 11, MPI_COMM_WORLD);
  }
  if (rank != 0)
    return;
  MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, requests);
  int second[2];
  MPI_Irecv(second, 2, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, requests + 1);
  usleep(500);
  do {
    statuses[0] = statuses[1] = filled();
    MPI_Testall(2, requests, &flag, statuses);
    if (!flag) {
      late++;
      check(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, "requests while one goes on");
    }
  } while (!flag);
  check(late > 0, "a test before the end");
  for (int i = 0; i < 2; i++) {
    int count;
    MPI_Get_count(statuses + i, MPI_INT, &count);
    check(statuses[i].MPI_SOURCE == 1 && statuses[i].MPI_TAG == 10 + i && count == 1 + i, "a status");
  }
}

static void status(void)
{
  int data[3] = {0}, flag = 7, late = 0, count = 0;
  MPI_Status found;
  MPI_Request request;
  if (rank == 1) {
    usleep(500);
    MPI_Send((int[]){1, 2}, 2, MPI_INT, 0, 12, MPI_COMM_WORLD);
  }
  if (rank != 0)
    return;
  MPI_Irecv(data, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  do {
    MPI_Request_get_status(request, &flag, &found);
    late += !flag;
  } while (!flag);
  check(late > 0, "MPI_Request_get_status before the end");
  for (int i = 0; i < 3; i++) {
    MPI_Get_count(&found, MPI_INT, &count);
    check(found.MPI_SOURCE == 1 && found.MPI_TAG == 12 && count == 2, "the status of a request that has ended");
    check(request != MPI_REQUEST_NULL, "the request");
    found = filled();
    if (i == 0)
      MPI_Request_get_status(request, &flag, &found);
    else
      MPI_Wait(&request, &found);
    if (i == 1)
      break;
  }
  check(request == MPI_REQUEST_NULL && data[0] == 1 && data[1] == 2, "the end of the request");
}

static void late(int bytes)
{
  char* data = calloc((size_t)bytes, 1);
  MPI_Request request;
  MPI_Status status = filled();
  int count = 0, cancelled = 1;
  if (rank == 0) {
    memset(data, 7, (size_t)bytes);
    MPI_Send(data, bytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Irecv(data, bytes, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    usleep(5);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    MPI_Get_count(&status, MPI_CHAR, &count);
    check(!cancelled && request == MPI_REQUEST_NULL, "a cancellation that is too late");
    check(count == bytes && status.MPI_TAG == 3 && data[0] == 7 && data[bytes - 1] == 7, "the message");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(data);
}

/* The four receives are restarted when a message has arrived, and cancelled at the end. */
static void cancel(int messages)
{
  enum { OPEN = 4 };
  MPI_Request open[OPEN], sent;
  int data[OPEN][2], flag, index, cancelled;
  for (int i = 0; i < OPEN; i++)
    MPI_Recv_init(data[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, open + i);
  for (int round = 0; round < 2; round++) {
    MPI_Startall(OPEN, open);
    for (int k = 0; k < messages; k++) {
      MPI_Isend((int[]){k, rank}, 2, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &sent);
      do
        MPI_Testany(OPEN, open, &index, &flag, MPI_STATUS_IGNORE);
      while (!flag);
      check(index != MPI_UNDEFINED && data[index][0] == k && data[index][1] == (rank + ranks - 1) % ranks, "a message");
      MPI_Start(open + index);
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < OPEN; i++) {
      MPI_Status status = filled();
      MPI_Cancel(open + i);
      if (i % 2)
        MPI_Wait(open + i, &status);
      else
        for (flag = 0; !flag;)
          MPI_Test(open + i, &flag, &status);
      MPI_Test_cancelled(&status, &cancelled);
      check(cancelled && open[i] != MPI_REQUEST_NULL, "a receive that was cancelled");
    }
    check_all(open, 3, "of receives that were cancelled");
    MPI_Barrier(MPI_COMM_WORLD); /* no message of the next round may arrive earlier */
  }
  for (int i = 0; i < OPEN; i++)
    MPI_Request_free(open + i);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "tests") == 0)
    tests();
  else if (strcmp(what, "alone") == 0)
    alone();
  else if (strcmp(what, "partial") == 0)
    partial();
  else if (strcmp(what, "status") == 0)
    status();
  else if (strcmp(what, "late") == 0)
    late(atoi(argv[2]));
  else if (strcmp(what, "cancel") == 0)
    cancel(atoi(argv[2]));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    puts("right");
  MPI_Finalize();
  return 0;
}
