/* SPDX-License-Identifier: LGPL-2.1-only */
/* Messages of one tag, alternately small and large, must arrive in sending order, on MPI_COMM_WORLD and on
 * communicators that are repeatedly created and freed. With --cfg smpi/async-small-thresh, small and large messages
 * take different paths in SMPI. Prints "in order". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 12, SMALL = 10, LARGE = 5000, TAG = 3 };

static int bytes_of(int message)
{
  return message % 2 == 0 ? LARGE : SMALL;
}

static void send_all(char (*data)[LARGE], MPI_Comm comm)
{
  MPI_Request requests[MESSAGES];
  for (int i = 0; i < MESSAGES; i++) {
    memset(data[i], i + 1, LARGE);
    MPI_Isend(data[i], bytes_of(i), MPI_CHAR, 1, TAG, comm, &requests[i]);
  }
  MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

static void receive_all(char (*data)[LARGE], MPI_Comm comm)
{
  for (int i = 0; i < MESSAGES; i++) {
    MPI_Status status;
    int bytes = 0;
    MPI_Recv(data[i], LARGE, MPI_CHAR, i % 3 == 0 ? MPI_ANY_SOURCE : 0, TAG, comm, &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    if (bytes != bytes_of(i) || data[i][0] != i + 1)
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
}

static void exchange(MPI_Comm comm)
{
  char (*data)[LARGE] = malloc(MESSAGES * sizeof *data);
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    send_all(data, comm);
  else if (rank == 1)
    receive_all(data, comm);
  free(data);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++) {
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &made);
    exchange(made);
    exchange(MPI_COMM_WORLD);
    MPI_Comm_free(&made);
  }
  if (rank == 0)
    puts("in order");
  MPI_Finalize();
  return 0;
}
