/* SPDX-License-Identifier: LGPL-2.1-only */
/* Polling loops: results, times and costs. Times are printed in ns.
 *
 *   wait   CALL US   rank 0 waits for a message that rank 1 sends after US, by MPI_Wait or MPI_Probe
 *                    (CALL wait, probe), or by polls (test, testall, testany, testsome, status,
 *                    iprobe; both: MPI_Iprobe and MPI_Test in turn)
 *   count  CALL N    rank 0 polls N times for a message that is never sent
 *   clock  CALL US   rank 0 polls until US have passed according to MPI_Wtime
 *   sweep  CALL N    wavefront: N times, each rank waits for the previous one and sends to the next
 *                    (wait, test)
 *   replies CALL N   each rank sends requests to others, replies to theirs, and ends with a barrier
 *                    that it completes by polling
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64, PEERS = 6 };
static int rank, ranks;

static int is(const char* word, const char* expected)
{
  return strcmp(word, expected) == 0;
}

static void fail(const char* what)
{
  printf("WRONG: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Makes one poll, of the first of two receives if there are several. */
static int poll_once(const char* call, MPI_Request* requests)
{
  int flag = 0, index = 7, ended = 7, places[2];
  MPI_Status statuses[2];
  if (is(call, "test"))
    MPI_Test(requests, &flag, statuses);
  else if (is(call, "testall"))
    MPI_Testall(1, requests, &flag, statuses);
  else if (is(call, "status"))
    MPI_Request_get_status(requests[0], &flag, statuses);
  else if (is(call, "iprobe"))
    MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, statuses);
  else if (is(call, "testany")) {
    MPI_Testany(2, requests, &index, &flag, statuses);
    if (!flag && index != MPI_UNDEFINED)
      fail("an index without a flag");
  } else if (is(call, "testsome")) {
    MPI_Testsome(2, requests, &ended, places, statuses);
    if (ended != 0 && ended != 1)
      fail("a count of requests that have ended");
    flag = ended;
  } else
    fail("no such call");
  if (flag && (statuses[0].MPI_SOURCE != 1 || statuses[0].MPI_TAG != 0))
    fail("a status");
  return flag;
}

static void wait_for(const char* call, MPI_Request* requests)
{
  static int turn;
  if (is(call, "wait"))
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  else if (is(call, "probe"))
    MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (is(call, "both"))
    while (!poll_once(turn++ % 2 ? "test" : "iprobe", requests))
      ;
  else
    while (!poll_once(call, requests))
      ;
}

/* Rank 0 has two open receives, or probes; the second message is sent once rank 0 has the first. */
static void one_message(const char* call, int us)
{
  int data[WORDS] = {0}, second = 0;
  const int probes  = is(call, "iprobe") || is(call, "probe");
  const double from = MPI_Wtime();
  if (rank == 0) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (!probes)
      MPI_Irecv(data, WORDS, MPI_INT, 1, 0, MPI_COMM_WORLD, requests);
    MPI_Irecv(&second, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, requests + 1);
    wait_for(call, requests);
    if (probes)
      MPI_Recv(data, WORDS, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%.3f\n", (MPI_Wtime() - from) * 1e9);
    if (is(call, "status"))
      MPI_Wait(requests, MPI_STATUS_IGNORE);
    if (data[0] != 42)
      fail("the message's data");
    MPI_Send(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    data[0] = 42;
    usleep(us);
    MPI_Send(data, WORDS, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
}

static void counted(const char* call, int polls)
{
  int data                = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, requests);
  const double from = MPI_Wtime();
  if (rank == 0)
    for (int i = 0; i < polls; i++)
      if (poll_once(call, requests))
        fail("something that is not there");
  if (rank == 0)
    printf("%.3f\n", (MPI_Wtime() - from) * 1e9);
  MPI_Send(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
}

static void by_clock(const char* call, int us)
{
  int data                = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, requests);
  const double from = MPI_Wtime();
  while (MPI_Wtime() < from + us * 1e-6)
    poll_once(call, requests);
  if (rank == 0)
    printf("%.3f\n", (MPI_Wtime() - from) * 1e9);
  MPI_Send(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
}

static void end(const char* call, MPI_Request* request)
{
  int flag = 0;
  if (is(call, "wait"))
    MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    while (!flag)
      MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void sweep(const char* call, int steps)
{
  int data[WORDS] = {0};
  for (int step = 0; step < steps; step++) {
    MPI_Request request;
    if (rank > 0) {
      MPI_Irecv(data, WORDS, MPI_INT, rank - 1, step, MPI_COMM_WORLD, &request);
      end(call, &request);
    }
    if (rank < ranks - 1) {
      MPI_Isend(data, WORDS, MPI_INT, rank + 1, step, MPI_COMM_WORLD, &request);
      end(call, &request);
    }
  }
}

static void answer(void)
{
  int found, question;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, &status);
  if (!found)
    return;
  MPI_Recv(&question, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  question *= 2;
  MPI_Send(&question, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
}

static void replies(int rounds)
{
  for (int round = 0; round < rounds; round++) {
    int answers[PEERS], asked = 0, all = 0, over = 0;
    MPI_Request open[PEERS], barrier;
    for (int step = 1; step < ranks && asked < PEERS; step *= 2, asked++) {
      MPI_Irecv(answers + asked, 1, MPI_INT, (rank + step) % ranks, 2, MPI_COMM_WORLD, open + asked);
      MPI_Send(&round, 1, MPI_INT, (rank + step) % ranks, 1, MPI_COMM_WORLD);
    }
    while (!all) {
      answer();
      MPI_Testall(asked, open, &all, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < asked; i++)
      if (answers[i] != 2 * round)
        fail("an answer");
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    while (!over) {
      answer();
      MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
    }
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4)
    fail("polls WHAT CALL NUMBER");
  const int number  = atoi(argv[3]);
  const double from = MPI_Wtime();
  if (is(argv[1], "wait"))
    one_message(argv[2], number);
  else if (is(argv[1], "count"))
    counted(argv[2], number);
  else if (is(argv[1], "clock"))
    by_clock(argv[2], number);
  else if (is(argv[1], "sweep"))
    sweep(argv[2], number);
  else if (is(argv[1], "replies"))
    replies(number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && (is(argv[1], "sweep") || is(argv[1], "replies")))
    printf("%.3f\n", (MPI_Wtime() - from) * 1e9);
  MPI_Finalize();
  return 0;
}
