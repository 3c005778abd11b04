/* SPDX-License-Identifier: LGPL-2.1-only */
/* Short non-blocking sends that are outstanding together, and complete in all the ways that MPI allows. Rank 1 receives
 * them in reverse order, some before their sender waits and some after. Prints "right"; ends with status 3 if data, a
 * handle or a number is wrong.
 */
#include <mpi.h>
#include <stdio.h>

enum { SENDS = 8, ROUNDS = 5, GO = 99, STATUS_WRONG = 3 };

static int rank;

static void need(int right, const char* what)
{
  if (!right) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, STATUS_WRONG);
  }
}

static int value(int round, int send)
{
  return 100 * round + send;
}

/* Completes all requests, differently in each round; the buffer may be overwritten afterwards. */
static void end(int round, MPI_Request* requests)
{
  int index, done;
  int indices[SENDS];
  switch (round % ROUNDS) {
    case 0:
      MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0; i < SENDS; i++) {
        MPI_Waitany(SENDS, requests, &index, MPI_STATUS_IGNORE);
        need(index >= 0 && index < SENDS && requests[index] == MPI_REQUEST_NULL, "Waitany ends another request");
      }
      MPI_Waitany(SENDS, requests, &index, MPI_STATUS_IGNORE);
      need(index == MPI_UNDEFINED, "Waitany finds one more");
      break;
    case 2:
      for (int i = 0; i < SENDS; i++) {
        if (i % 2)
          MPI_Request_free(&requests[i]);
        else
          do
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
          while (!done);
      }
      break;
    case 3:
      for (int all = 0; all < SENDS; all += done) {
        MPI_Waitsome(SENDS, requests, &done, indices, MPI_STATUSES_IGNORE);
        need(done > 0, "Waitsome finds none");
      }
      break;
    default:
      MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
      MPI_Testall(SENDS, requests, &done, MPI_STATUSES_IGNORE);
      need(done, "a short message does not end at once");
  }
  for (int i = 0; i < SENDS; i++)
    need(requests[i] == MPI_REQUEST_NULL, "a request is over, and still there");
}

static void send(int round, MPI_Comm comm)
{
  int buffer[SENDS];
  MPI_Request requests[SENDS];
  for (int i = 0; i < SENDS; i++) {
    buffer[i] = value(round, i);
    MPI_Isend(&buffer[i], 1, MPI_INT, 1, i, comm, &requests[i]);
  }
  end(round, requests);
  for (int i = 0; i < SENDS; i++)
    buffer[i] = -1;
  MPI_Send(NULL, 0, MPI_INT, 1, GO, comm);
}

static void receive(int round, MPI_Comm comm)
{
  int buffer[SENDS];
  MPI_Request requests[SENDS];
  MPI_Status statuses[SENDS];
  const int early = round % 2 ? SENDS / 2 : 0;
  for (int i = 0; i < early; i++)
    MPI_Irecv(&buffer[i], 1, MPI_INT, 0, i, comm, &requests[i]);
  MPI_Recv(NULL, 0, MPI_INT, 0, GO, comm, MPI_STATUS_IGNORE);
  for (int i = SENDS - 1; i >= early; i--)
    MPI_Irecv(&buffer[i], 1, MPI_INT, MPI_ANY_SOURCE, i, comm, &requests[i]);
  MPI_Waitall(SENDS, requests, statuses);
  for (int i = 0; i < SENDS; i++) {
    int count;
    MPI_Get_count(&statuses[i], MPI_INT, &count);
    need(buffer[i] == value(round, i), "a message has other data");
    need(statuses[i].MPI_SOURCE == 0 && statuses[i].MPI_TAG == i && count == 1, "a receive has another status");
  }
}

/* A single send can be cancelled. Of several, those that cannot be cancelled arrive. */
static void cancel(int sends)
{
  int data[SENDS], arrived = 0, gone = 0, there;
  MPI_Request requests[SENDS];
  MPI_Status status;
  if (rank == 0) {
    for (int i = 0; i < sends; i++) {
      data[i] = i;
      MPI_Isend(&data[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &gone);
    MPI_Waitall(sends - 1, requests + 1, MPI_STATUSES_IGNORE);
    need(sends > 1 || gone, "a send that is alone was not cancelled");
    MPI_Send(&gone, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
    return;
  }
  MPI_Recv(&gone, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status); there;
       MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status)) {
    MPI_Recv(data, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    need(data[0] == status.MPI_TAG, "a message has other data");
    arrived++;
  }
  need(arrived == sends - gone, "a message is lost, or was cancelled and arrives");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 2 * ROUNDS; round++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    (rank == 0 ? send : receive)(round, round % 3 ? comm : MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
  cancel(1);
  MPI_Barrier(MPI_COMM_WORLD);
  cancel(SENDS);
  if (rank == 0)
    printf("right\n");
  MPI_Finalize();
  return 0;
}
