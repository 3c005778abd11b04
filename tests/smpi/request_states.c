/* SPDX-License-Identifier: LGPL-2.1-only */
/* Polls that do not change requests, info objects, and the parent. Prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { REQUESTS = 3 };

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_errors(void)
{
  int flag, count, indices[1], class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Request_get_status_all(-1, NULL, &flag, MPI_STATUSES_IGNORE), &class);
  expect(class == MPI_ERR_COUNT, "the class of a negative number of requests");
  MPI_Error_class(MPI_Request_get_status_some(1, NULL, &count, indices, MPI_STATUSES_IGNORE), &class);
  expect(class == MPI_ERR_ARG, "the class of a missing list of requests");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void check_inactive(void)
{
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int flag = 0, index = 5, count = 5, indices[2];
  MPI_Recv_init(NULL, 0, MPI_INT, 0, 0, MPI_COMM_SELF, &none[1]);
  MPI_Request_get_status_all(2, none, &flag, statuses);
  expect(flag, "inactive requests have ended");
  flag = 0;
  MPI_Request_get_status_any(2, none, &index, &flag, statuses);
  expect(flag && index == MPI_UNDEFINED, "none of inactive requests");
  MPI_Request_get_status_some(2, none, &count, indices, statuses);
  expect(count == MPI_UNDEFINED, "some of inactive requests");
  MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE);
  expect(flag, "no requests have ended");
  MPI_Request_free(&none[1]);
}

/* The neighbour's messages 0 and 2 are sent immediately, and message 1 once both have been seen. */
static void check_messages(int rank, int size)
{
  MPI_Request requests[REQUESTS], copies[REQUESTS];
  MPI_Status statuses[REQUESTS], status;
  int values[REQUESTS], flag = 0, index, count = 0, indices[REQUESTS];
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int i = 0; i < REQUESTS; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
  memcpy(copies, requests, sizeof copies);
  MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses);
  expect(!flag, "all have ended before the messages");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < REQUESTS; i += 2)
    MPI_Send(&rank, 1, MPI_INT, right, i, MPI_COMM_WORLD);
  while (count < 2)
    MPI_Request_get_status_some(REQUESTS, requests, &count, indices, statuses);
  expect(count == 2 && indices[0] == 0 && indices[1] == 2, "some");
  expect(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == 2, "the statuses of some");
  MPI_Request_get_status_any(REQUESTS, requests, &index, &flag, &status);
  expect(flag && index == 0 && status.MPI_TAG == 0, "any");
  MPI_Request_get_status_any(1, &requests[1], &index, &flag, &status);
  expect(!flag && index == MPI_UNDEFINED, "any of one that is pending");
  MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses);
  expect(!flag, "all");
  MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  while (!flag)
    MPI_Request_get_status_all(REQUESTS, requests, &flag, statuses);
  for (int i = 0; i < REQUESTS; i++)
    expect(statuses[i].MPI_TAG == i && values[i] == left && requests[i] == copies[i], "the end of all");
  MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void check_infos(int argc, char** argv)
{
  MPI_Info info;
  char value[16];
  int flag = 0, length = sizeof value;
  MPI_Info_create_env(argc, argv, &info);
  MPI_Info_get_string(info, "argv", &length, value, &flag);
  expect(flag && strcmp(value, "one two") == 0 && length == 8, "the arguments");
  length = 4;
  MPI_Info_get_string(info, "argv", &length, value, &flag);
  expect(flag && strcmp(value, "one") == 0 && length == 8, "a value that is cut");
  length = 0;
  MPI_Info_get_string(info, "argv", &length, NULL, &flag);
  expect(flag && length == 8, "the length of a value");
  length = 4;
  MPI_Info_get_string(info, "colour", &length, value, &flag);
  expect(!flag && length == 4, "a key without a value");
  MPI_Info_free(&info);
  MPI_Get_hw_resource_info(&info);
  MPI_Info_free(&info);
  expect(info == MPI_INFO_NULL, "the hardware");
}

int main(int argc, char** argv)
{
  int rank, size;
  MPI_Comm parent = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_errors();
  check_inactive();
  check_messages(rank, size);
  check_infos(argc, argv);
  MPI_Comm_get_parent(&parent);
  expect(parent == MPI_COMM_NULL, "the parent");
  printf("right\n");
  MPI_Finalize();
  return 0;
}
