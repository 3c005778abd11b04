/* SPDX-License-Identifier: LGPL-2.1-only */
/* Requests of MPI_PROC_NULL and MPI_Isendrecv: MPI 4.1, 3.10 and 3.11.
 *
 *   null     persistent messages to and from MPI_PROC_NULL: started, completed by all functions, restarted, freed
 *   exchange MPI_Isendrecv(_replace): statuses of the receive, one or both sides MPI_PROC_NULL, the rank itself
 *   any      MPI_Waitany finds another request while an MPI_Isendrecv is pending
 */
#include "checks.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int ranks;

static void check_status(MPI_Status status, int source, int tag, int ints, const char* what)
{
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  check(status.MPI_SOURCE == source && status.MPI_TAG == tag && count == ints, what);
}

static void check_null(void)
{
  int buffer = 7, index, flag, ended, places[5];
  MPI_Status status, statuses[5];
  MPI_Request requests[5], *receive = requests;
  MPI_Recv_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Ssend_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[2]);
  MPI_Rsend_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[3]);
  char attached[MPI_BSEND_OVERHEAD + 64];
  void* detached;
  MPI_Buffer_attach(attached, sizeof attached);
  MPI_Bsend_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[4]);
  MPI_Wait(receive, &status);
  check_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, "the status of an inactive request");
  for (int round = 0; round < 2; round++) {
    MPI_Start(receive);
    MPI_Request_get_status(*receive, &flag, &status);
    check(flag, "a receive from nobody has ended");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Request_get_status");
    memset(&status, 1, sizeof status);
    MPI_Wait(receive, &status);
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Wait");
    check(*receive != MPI_REQUEST_NULL, "a persistent request stays");
    MPI_Start(receive);
    MPI_Test(receive, &flag, &status);
    check(flag, "MPI_Test finds the end");
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Test");
    MPI_Startall(5, requests);
    MPI_Waitall(5, requests, statuses);
    check_status(statuses[0], MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Waitall");
    MPI_Startall(5, requests);
    MPI_Testall(5, requests, &flag, statuses);
    check(flag, "MPI_Testall finds the ends");
    check_status(statuses[0], MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Testall");
    MPI_Startall(5, requests);
    MPI_Waitsome(5, requests, &ended, places, statuses);
    check(ended == 5 && places[0] == 0, "MPI_Waitsome finds the ends");
    MPI_Start(receive);
    MPI_Waitany(5, requests, &index, &status);
    check(index == 0, "MPI_Waitany finds the only active one");
    MPI_Start(receive);
    MPI_Cancel(receive);
    MPI_Wait(receive, MPI_STATUS_IGNORE);
  }
  MPI_Start(receive);
  for (int i = 0; i < 5; i++)
    MPI_Request_free(&requests[i]);
  check(*receive == MPI_REQUEST_NULL && buffer == 7, "freed requests");
  MPI_Irecv(&buffer, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, receive);
  MPI_Request_free(receive);
  MPI_Buffer_detach(&detached, &index);
}

static void check_exchange(int length)
{
  static int sent[100000], received[100000];
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  for (int i = 0; i < length; i++)
    sent[i] = rank * length + i;
  MPI_Isendrecv(sent, length, MPI_INT, next, rank, received, 100000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  check(request == MPI_REQUEST_NULL, "the request is freed");
  check_status(status, last, last, length, "the status of MPI_Isendrecv");
  check(received[length - 1] == last * length + length - 1, "the data of MPI_Isendrecv");
  MPI_Isendrecv_replace(sent, length, MPI_INT, last, rank, next, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  while (!flag)
    MPI_Test(&request, &flag, &status);
  check_status(status, next, next, length, "the status of MPI_Isendrecv_replace");
  check(sent[0] == next * length, "the data of MPI_Isendrecv_replace");
  MPI_Isendrecv(sent, length, MPI_INT, rank, 9, received, length, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Waitall(1, &request, &status);
  check_status(status, rank, 9, length, "the status of a message to oneself");

  /* A line: the first rank has no predecessor, the last no successor. */
  const int before = rank == 0 ? MPI_PROC_NULL : rank - 1, behind = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  received[0] = -1;
  MPI_Isendrecv(&rank, 1, MPI_INT, behind, 4, received, 1, MPI_INT, before, 4, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  check(received[0] == (rank == 0 ? -1 : before), "a line's data");
  check_status(status, before, rank == 0 ? MPI_ANY_TAG : 4, rank == 0 ? 0 : 1, "a line's statuses");
  MPI_Isendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 4, received, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &request);
  for (flag = 0; !flag;)
    MPI_Testall(1, &request, &flag, &status);
  check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "both sides with nobody");

  /* A call with refused arguments starts nothing. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_Isendrecv(sent, 1, MPI_INT, ranks, 4, received, 1, MPI_INT, last, 4, MPI_COMM_WORLD, &request),
                  &class);
  check(class == MPI_ERR_RANK, "a rank that does not exist");
  MPI_Isendrecv(&rank, 2, MPI_INT, next, 5, received, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &request);
  MPI_Error_class(MPI_Wait(&request, &status), &class);
  check(class == MPI_ERR_TRUNCATE, "a truncated message");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Rank 0's exchange completes only after rank 1 knows that MPI_Waitany has returned. */
static void check_any(int length)
{
  static int sent[100000], received[100000];
  int note = 0, index = -1;
  MPI_Status status;
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Isendrecv(sent, length, MPI_INT, 1, 1, received, length, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&note, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, &status);
    check(index == 1 && note == 5, "the other request ends first");
    MPI_Send(&note, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, &status);
    check(index == 0, "the exchange ends");
    check_status(status, 1, 1, length, "its status");
  } else if (rank == 1) {
    note = 5;
    MPI_Send(&note, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(&note, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent, length, MPI_INT, 0, 1, received, length, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(argv[1], "null") == 0)
    check_null();
  const int lengths[] = {1, 100000};
  for (int i = 0; i < 2; i++) {
    if (strcmp(argv[1], "exchange") == 0)
      check_exchange(lengths[i]);
    else if (strcmp(argv[1], "any") == 0)
      check_any(lengths[i]);
  }
  MPI_Finalize();
  if (rank == 0)
    printf("right\n");
  return 0;
}
