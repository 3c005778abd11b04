/* SPDX-License-Identifier: LGPL-2.1-only */
/* Fortran handles of requests: MPI_Request_c2f returns a number, and MPI_Request_f2c the request.
 *
 * Two ranks exchange COUNT messages; every second request is converted to its number and back. Rank 0 prints the
 * difference between the last number and the first. */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 64, HALF = COUNT / 2, WRONG = 3 };

int main(int argc, char** argv)
{
  int rank, got[COUNT];
  MPI_Request requests[COUNT];
  MPI_Fint numbers[HALF];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < COUNT; i++)
    MPI_Irecv(&got[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(NULL, 0, MPI_INT, 0, COUNT, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* rank 1 converts after rank 0 */
  for (int i = 0; i < HALF; i++) {
    numbers[i] = MPI_Request_c2f(requests[2 * i]);
    if (MPI_Request_c2f(requests[2 * i]) != numbers[i] || (i > 0 && numbers[i] <= numbers[i - 1]) ||
        MPI_Request_f2c(numbers[i]) != requests[2 * i])
      MPI_Abort(MPI_COMM_WORLD, WRONG);
  }
  if (rank == 0)
    MPI_Send(NULL, 0, MPI_INT, 1, COUNT, MPI_COMM_WORLD);
  for (int i = 0; i < COUNT; i++)
    MPI_Send(&i, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
  for (int i = 0; i < HALF; i++) {
    requests[2 * i] = MPI_Request_f2c(numbers[i]);
    MPI_Wait(&requests[2 * i], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < COUNT; i++)
    if (got[i] != i)
      MPI_Abort(MPI_COMM_WORLD, WRONG);
  if (rank == 0)
    printf("%d\n", numbers[HALF - 1] - numbers[0]);
  MPI_Finalize();
  return 0;
}
