/* SPDX-License-Identifier: LGPL-2.1-only */
/* Matched probes: random messages, received by all forms of matched probes and checked, while a copy of the
 * communicator is created in the background. `matched SEED MESSAGES` prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAGS = 3, MOST = 40000, GAP = 2 };

static unsigned state;

static int draw(int below)
{
  state = state * 1103515245u + 12345u;
  return (int)(state / 65536u % 32768u) % below;
}

static void fail(const char* what)
{
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int length_of(int sender, int number)
{
  const int lengths[] = {0, 1, 7, 300, 20000, MOST};
  return lengths[(sender * 5 + number * 3) % 6];
}

/* Receives one message in a random form and checks it. The numbers of a sender's messages with one tag increase. */
static void receive(MPI_Comm comm, MPI_Datatype gapped, int* latest)
{
  static int buffer[GAP * MOST];
  MPI_Message message;
  MPI_Status status, received;
  int count, flag = 0, spread = draw(2);
  if (draw(2)) {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
  } else {
    while (!flag)
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
  }
  MPI_Get_count(&status, MPI_INT, &count);
  memset(buffer, 0xff, sizeof buffer);
  if (draw(2)) {
    MPI_Mrecv(buffer, count, spread ? gapped : MPI_INT, &message, &received);
  } else {
    MPI_Request request;
    MPI_Imrecv(buffer, count, spread ? gapped : MPI_INT, &message, &request);
    MPI_Wait(&request, &received);
  }
  if (message != MPI_MESSAGE_NULL)
    fail("the message is not null after its receive");
  if (received.MPI_SOURCE != status.MPI_SOURCE || received.MPI_TAG != status.MPI_TAG)
    fail("the receive's source or tag is not the probe's");
  int step = spread ? GAP : 1, number = count > 0 ? buffer[0] : -1;
  for (int i = 0; i < count; i++)
    if (buffer[i * step] != number + i || (spread && buffer[i * step + 1] != -1))
      fail("data");
  int* last = latest + status.MPI_SOURCE * TAGS + status.MPI_TAG;
  if (count > 0 && number <= *last)
    fail("order");
  if (count > 0)
    *last = number;
}

int main(int argc, char** argv)
{
  int rank, size, messages = atoi(argv[2]);
  MPI_Comm copy;
  MPI_Request made;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (unsigned)(atoi(argv[1]) + 77 * rank);
  MPI_Datatype gapped;
  MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);

  int* data             = malloc(sizeof(int) * MOST * (size_t)messages);
  int* latest           = malloc(sizeof(int) * TAGS * (size_t)size);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)messages);
  for (int i = 0; i < TAGS * size; i++)
    latest[i] = -1;
  for (int i = 0; i < messages; i++) { /* every rank receives as many messages as it sends */
    int to = (rank + 1 + i % (size > 1 ? size - 1 : 1)) % size;
    for (int j = 0; j < length_of(rank, i); j++)
      data[i * MOST + j] = i * MOST + j;
    MPI_Isend(data + i * MOST, length_of(rank, i), MPI_INT, to, i % TAGS, copy, requests + i);
  }
  for (int i = 0; i < messages; i++)
    receive(copy, gapped, latest);
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);

  MPI_Message none;
  MPI_Status status;
  MPI_Mprobe(MPI_PROC_NULL, 0, copy, &none, &status);
  if (none != MPI_MESSAGE_NO_PROC || status.MPI_SOURCE != MPI_PROC_NULL)
    fail("probe of MPI_PROC_NULL");
  MPI_Mrecv(NULL, 0, MPI_INT, &none, &status);
  if (none != MPI_MESSAGE_NULL || status.MPI_SOURCE != MPI_PROC_NULL)
    fail("receive from MPI_PROC_NULL");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Mrecv(NULL, 0, MPI_INT, &none, &status) != MPI_ERR_REQUEST)
    fail("receive of MPI_MESSAGE_NULL");
  MPI_Type_free(&gapped);
  MPI_Comm_free(&copy);
  printf("right\n");
  free(data);
  free(latest);
  free(requests);
  MPI_Finalize();
  return 0;
}
