/* SPDX-License-Identifier: LGPL-2.1-only */
/* Counts of statuses beyond 2^31 - 1 bytes: set by MPI_Status_set_elements_x, and of messages between two ranks in
 * shared memory, through every function that returns a status. SMPI's own messages are not probed (if there is an
 * argument). Prints `right`, or the first error. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

static const MPI_Count LONG_ONE = 5000000000, LONGEST = 0x7654321ff1234567;

static int rank, right = 1;

static void check(int is_right, const char* what)
{
  if (!is_right) {
    printf("rank %d: wrong: %s\n", rank, what);
    right = 0;
  }
}

/** Checks a status of LONG_ONE bytes. */
static void check_status(const MPI_Status* status, const char* what)
{
  MPI_Count bytes, words, elements;
  int small, cancelled;
  MPI_Get_count_c(status, MPI_BYTE, &bytes);
  MPI_Get_count_c(status, MPI_DOUBLE, &words);
  MPI_Get_elements_x((MPI_Status*)status, MPI_SHORT, &elements);
  check(bytes == LONG_ONE && words == LONG_ONE / 8 && elements == LONG_ONE / 2, what);
  MPI_Get_count(status, MPI_BYTE, &small);
  check(small == MPI_UNDEFINED, what);
  MPI_Get_count(status, MPI_DOUBLE, &small);
  check(small == LONG_ONE / 8, what);
  MPI_Test_cancelled(status, &cancelled);
  check(cancelled == 0, what);
}

static void set_and_get(void)
{
  MPI_Status status;
  MPI_Count count;
  int flag;
  for (int cancelled = 0; cancelled < 2; cancelled++) {
    MPI_Status_set_cancelled(&status, !cancelled);
    MPI_Status_set_elements_x(&status, MPI_BYTE, LONGEST);
    MPI_Status_set_cancelled(&status, cancelled);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    MPI_Test_cancelled(&status, &flag);
    check(count == LONGEST && flag == cancelled, "MPI_Status_set_elements_x");
  }
  MPI_Status_set_elements(&status, MPI_INT, 3);
  MPI_Get_count_c(&status, MPI_INT, &count);
  check(count == 3, "MPI_Status_set_elements");
}

static void messages(int probes)
{
  char* data  = SMPI_SHARED_MALLOC((size_t)LONG_ONE);
  char* other = SMPI_SHARED_MALLOC((size_t)LONG_ONE);
  MPI_Request request;
  MPI_Status status;
  int index, flag;
  for (int way = 0; way < 6; way++) {
    if (rank == 0) {
      MPI_Send_c(data, LONG_ONE, MPI_BYTE, 1, way, MPI_COMM_WORLD);
      continue;
    }
    status.cancelled = -1; /* arbitrary value */
    switch (way) {
      case 0:
        MPI_Recv_c(data, LONG_ONE, MPI_BYTE, 0, way, MPI_COMM_WORLD, &status);
        check_status(&status, "MPI_Recv_c");
        break;
      case 1:
        MPI_Probe(0, way, MPI_COMM_WORLD, &status);
        if (probes)
          check_status(&status, "MPI_Probe");
        MPI_Recv_c(data, LONG_ONE, MPI_BYTE, 0, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
      default:
        MPI_Irecv_c(data, LONG_ONE, MPI_BYTE, 0, way, MPI_COMM_WORLD, &request);
        if (way == 2)
          MPI_Wait(&request, &status);
        else if (way == 3)
          MPI_Waitall(1, &request, &status);
        else if (way == 4)
          MPI_Waitany(1, &request, &index, &status);
        else
          do
            MPI_Test(&request, &flag, &status);
          while (!flag);
        check_status(&status, "MPI_Irecv_c");
    }
  }
  status.cancelled = -1;
  MPI_Sendrecv_c(data, LONG_ONE, MPI_BYTE, 1 - rank, 9, other, LONG_ONE, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD,
                 &status);
  check_status(&status, "MPI_Sendrecv_c");
  SMPI_SHARED_FREE(other);
  SMPI_SHARED_FREE(data);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  set_and_get();
  messages(argc == 1);
  if (right)
    printf("right\n");
  MPI_Finalize();
  return 0;
}
