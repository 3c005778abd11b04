/* SPDX-License-Identifier: LGPL-2.1-only */
/* Errors in statuses and of functions that complete requests (MPI 4.1, 3.2.5, 3.7.5), on two ranks.
 *
 *   kept      functions that complete one message do not change MPI_ERROR of a status; empty statuses have no error
 *   truncated a message that is too long, and one that fits, completed by each function
 */
#include "checks.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void check_kept(void)
{
  int value = 1, sent = 1, flag = 0, index;
  MPI_Status status;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Message message;
  status.MPI_ERROR = 77;
#define KEPT(call)                                                                                                     \
  call;                                                                                                                \
  check(status.MPI_ERROR == 77, #call)
#define RECEIVE MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0])
  if (rank == 0) {
    for (int i = 0; i < 8; i++)
      MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    KEPT(MPI_Sendrecv(&sent, 1, MPI_INT, 1, 2, &value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &status));
    return;
  }
  KEPT(MPI_Probe(0, 1, MPI_COMM_WORLD, &status));
  KEPT(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
  check(status.MPI_SOURCE == 0 && status.MPI_TAG == 1, "the rest of a status");
  while (!flag)
    KEPT(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, &status));
  RECEIVE;
  KEPT(MPI_Wait(&requests[0], &status));
  RECEIVE;
  for (flag = 0; !flag;)
    KEPT(MPI_Request_get_status(requests[0], &flag, &status));
  for (flag = 0; !flag;)
    KEPT(MPI_Test(&requests[0], &flag, &status));
  RECEIVE;
  KEPT(MPI_Waitany(2, requests, &index, &status));
  RECEIVE;
  for (flag = 0; !flag;)
    KEPT(MPI_Testany(2, requests, &index, &flag, &status));
  KEPT(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status));
  KEPT(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
  MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(&value, 1, MPI_INT, &message, &requests[0]);
  KEPT(MPI_Wait(&requests[0], &status));
  MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  KEPT(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 2, &value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &status));
#define EMPTY(call)                                                                                                    \
  status.MPI_ERROR = 77;                                                                                               \
  call;                                                                                                                \
  check(status.MPI_ERROR == MPI_SUCCESS, #call)
  EMPTY(MPI_Wait(&requests[0], &status));
  EMPTY(MPI_Test(&requests[0], &flag, &status));
  EMPTY(MPI_Waitany(2, requests, &index, &status));
  EMPTY(MPI_Testany(2, requests, &index, &flag, &status));
  EMPTY(MPI_Request_get_status(requests[0], &flag, &status));
}

static MPI_Request requests[2];
static int buffers[2][4];

/* Two messages: of 4 and of 2 integers, both matched by receives of 2. */
static void exchange(void)
{
  int values[4] = {1, 2, 3, 4};
  if (rank == 0) {
    MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(values, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(buffers[0], 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffers[1], 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check_errors(const MPI_Status* statuses, const char* what)
{
  for (int i = 0; i < 2; i++)
    check(class_of(statuses[i].MPI_ERROR) == (statuses[i].MPI_TAG == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), what);
}

static void check_truncated(void)
{
  int flag = 0, ended = 0, index, places[2];
  MPI_Status statuses[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int way = 0; way < 8; way++) {
    exchange();
    if (rank == 0)
      continue;
    switch (way) {
      case 0:
        check(class_of(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS, "MPI_Waitall");
        check_errors(statuses, "statuses of MPI_Waitall");
        break;
      case 1:
        check(class_of(MPI_Testall(2, requests, &flag, statuses)) == MPI_ERR_IN_STATUS && flag, "MPI_Testall");
        check_errors(statuses, "statuses of MPI_Testall");
        break;
      case 2:
        check(class_of(MPI_Waitsome(2, requests, &ended, places, statuses)) == MPI_ERR_IN_STATUS, "MPI_Waitsome");
        check(ended == 2, "all have ended");
        check_errors(statuses, "statuses of MPI_Waitsome");
        break;
      case 3:
        check(class_of(MPI_Testsome(2, requests, &ended, places, statuses)) == MPI_ERR_IN_STATUS, "MPI_Testsome");
        check(ended == 2, "all have ended");
        check_errors(statuses, "statuses of MPI_Testsome");
        break;
      case 4:
        check(class_of(MPI_Waitany(2, requests, &index, statuses)) == MPI_ERR_TRUNCATE && index == 0, "MPI_Waitany");
        check(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS && index == 1, "MPI_Waitany, right");
        break;
      case 5:
        check(class_of(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE && index == 0,
              "MPI_Testany");
        check(MPI_Testany(2, requests, &index, &flag, statuses) == MPI_SUCCESS && index == 1, "MPI_Testany, right");
        break;
      case 6:
        check(class_of(MPI_Test(&requests[0], &flag, statuses)) == MPI_ERR_TRUNCATE && flag, "MPI_Test");
        check(MPI_Wait(&requests[1], statuses) == MPI_SUCCESS, "MPI_Wait, right");
        break;
      default:
        check(class_of(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE, "MPI_Wait");
        check(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag, "MPI_Test, right");
        break;
    }
    check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "no request is left");
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "kept") == 0)
    check_kept();
  else
    check_truncated();
  MPI_Finalize();
  if (rank == 0)
    printf("right\n");
  return 0;
}
