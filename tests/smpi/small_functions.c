/* SPDX-License-Identifier: LGPL-2.1-only */
/* Buffers of communicators and sessions, fields of statuses, integers of handles, tests of exposure epochs, and queries
 * of the binary interface. Prints `right` per rank; at least two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100 };

static int rank, size;

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  exit(1);
}

/* Sends to the rank itself, which needs a buffer. */
static int send(MPI_Comm comm)
{
  int sent[COUNT] = {7}, got[COUNT];
  MPI_Request request;
  int result = MPI_Bsend(sent, COUNT, MPI_INT, rank, 1, comm);
  if (result != MPI_SUCCESS)
    return result;
  MPI_Recv(got, COUNT, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
  expect(got[0] == 7, "data of MPI_Bsend");
  MPI_Ibsend(sent, COUNT, MPI_INT, rank, 1, comm, &request);
  MPI_Recv(got, COUNT, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bsend_init(sent, COUNT, MPI_INT, rank, 1, comm, &request);
  MPI_Start(&request);
  MPI_Recv(got, COUNT, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Request_free(&request);
}

static void check_buffers(void)
{
  static char buffer[8 * COUNT + MPI_BSEND_OVERHEAD], other[16];
  MPI_Comm comm;
  MPI_Session session;
  MPI_Request request;
  MPI_Count large = 0;
  void* address   = NULL;
  int length      = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect(send(comm) == MPI_ERR_BUFFER, "a send without a buffer");
  MPI_Comm_attach_buffer(comm, buffer, sizeof buffer);
  expect(MPI_Comm_attach_buffer(comm, other, sizeof other) == MPI_ERR_BUFFER, "a second buffer");
  expect(send(comm) == MPI_SUCCESS, "the buffer of a communicator");
  MPI_Buffer_attach(other, sizeof other);
  expect(send(comm) == MPI_SUCCESS, "a communicator's buffer before the process's");
  MPI_Buffer_detach(&address, &length);
  expect(address == other && length == sizeof other, "the process's buffer");
  MPI_Comm_iflush_buffer(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_flush_buffer(comm);
  MPI_Comm_detach_buffer(comm, &address, &length);
  expect(address == buffer && length == sizeof buffer, "the communicator's buffer");
  expect(MPI_Comm_detach_buffer(comm, &address, &length) == MPI_ERR_BUFFER, "a buffer that is not there");
  MPI_Comm_attach_buffer_c(comm, MPI_BUFFER_AUTOMATIC, 0);
  expect(send(comm) == MPI_SUCCESS, "an automatic buffer");
  MPI_Comm_detach_buffer_c(comm, &address, &large);
  expect(address == MPI_BUFFER_AUTOMATIC, "the automatic buffer");
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  expect(send(comm) == MPI_SUCCESS, "an automatic buffer of the process");
  MPI_Buffer_detach(&address, &length);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_attach_buffer(session, buffer, sizeof buffer);
  expect(send(comm) == MPI_SUCCESS, "the buffer of a session");
  MPI_Session_flush_buffer(session);
  MPI_Session_iflush_buffer(session, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_detach_buffer_c(session, &address, &large);
  expect(address == buffer && large == sizeof buffer, "the session's buffer");
  expect(MPI_Session_fromint(MPI_Session_toint(session)) == session, "the integer of a session");
  expect(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL, "the integer of no session");
  MPI_Session_finalize(&session);
  MPI_Comm_free(&comm);
}

static void check_statuses(void)
{
  MPI_Status status, again;
  MPI_F08_status in_f08;
  MPI_Fint in_fortran[MPI_F_STATUS_SIZE];
  int value = 0, sent = 5, got;
  MPI_Sendrecv(&sent, 1, MPI_INT, rank, 4, &got, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &status);
  expect(MPI_Status_get_source(&status, &value) == MPI_SUCCESS && value == rank, "a source");
  expect(MPI_Status_get_tag(&status, &value) == MPI_SUCCESS && value == 4, "a tag");
  MPI_Status_set_source(&status, 11);
  MPI_Status_set_tag(&status, 12);
  MPI_Status_set_error(&status, MPI_ERR_TAG);
  expect(status.MPI_SOURCE == 11 && status.MPI_TAG == 12 && status.MPI_ERROR == MPI_ERR_TAG, "what is set");
  MPI_Status_get_error(&status, &value);
  expect(value == MPI_ERR_TAG, "an error");
  MPI_Status_c2f08(&status, &in_f08);
  MPI_Status_f082f(&in_f08, in_fortran);
  memset(&in_f08, 0, sizeof in_f08);
  MPI_Status_f2f08(in_fortran, &in_f08);
  expect(in_f08.MPI_SOURCE == 11, "a source in Fortran");
  MPI_Status_f082c(&in_f08, &again);
  MPI_Get_count(&again, MPI_INT, &value);
  expect(again.MPI_TAG == 12 && value == 1, "a status that was in Fortran");
}

static void check_integers(void)
{
  MPI_Request request;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Win win;
  MPI_Info info;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&info);
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win);
  MPI_Irecv(NULL, 0, MPI_INT, rank, 6, comm, &request);
  expect(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm, "a communicator");
  expect(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "MPI_COMM_WORLD");
  expect(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_NULL)) == MPI_COMM_NULL, "MPI_COMM_NULL");
  expect(MPI_Group_fromint(MPI_Group_toint(group)) == group, "a group");
  expect(MPI_Info_fromint(MPI_Info_toint(info)) == info, "an info object");
  expect(MPI_Win_fromint(MPI_Win_toint(win)) == win, "a window");
  expect(MPI_Request_fromint(MPI_Request_toint(request)) == request, "a request");
  expect(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE, "a datatype");
  expect(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM, "an operation");
  expect(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN, "an error handler");
  expect(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "no file");
  expect(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL, "no message");
  MPI_Send(NULL, 0, MPI_INT, rank, 6, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_free(&win);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

/* The last rank exposes its window to all others, which are late. */
static void check_exposure(void)
{
  int memory = 0, tests = 0, flag = 0, one = 1, last = size - 1;
  MPI_Win win;
  MPI_Group all, others, target;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &last, &others);
  MPI_Group_incl(all, 1, &last, &target);
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  for (int epoch = 1; epoch <= 2; epoch++) {
    if (rank == last) {
      double start = MPI_Wtime();
      expect(MPI_Win_test(win, &flag) == MPI_ERR_RMA_SYNC, "a test without an epoch");
      MPI_Win_post(others, 0, win);
      for (tests = flag = 0; flag == 0; tests++)
        MPI_Win_test(win, &flag);
      expect(memory == epoch * last, "what others have accumulated");
      expect(tests > 1 && MPI_Wtime() - start > 1e-3, "tests before the others complete");
    } else {
      double start = MPI_Wtime();
      MPI_Win_start(target, 0, win);
      MPI_Accumulate(&one, 1, MPI_INT, last, 0, 1, MPI_INT, MPI_SUM, win);
      while (MPI_Wtime() - start < 1e-3 * (rank + 1)) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      }
      MPI_Win_complete(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Group_free(&target);
}

static void check_interface(void)
{
  int major = 0, minor = 0, flag = 0, length;
  char value[16];
  int truth, untruth;
  MPI_Info info;
  MPI_Abi_get_version(&major, &minor);
  expect(major == -1 && minor == -1, "no binary interface");
  MPI_Abi_get_info(&info);
  length = sizeof value;
  MPI_Info_get_string(info, "mpi_aint_size", &length, value, &flag);
  expect(flag && atoi(value) == sizeof(MPI_Aint), "the size of an address");
  MPI_Info_free(&info);
  MPI_Abi_get_fortran_info(&info);
  length = sizeof value;
  MPI_Info_get_string(info, "mpi_integer_size", &length, value, &flag);
  expect(flag && atoi(value) == sizeof(MPI_Fint), "the size of an INTEGER");
  MPI_Info_free(&info);
  MPI_Abi_get_fortran_booleans(sizeof truth, &truth, &untruth, &flag);
  expect(flag && truth == 1 && untruth == 0, "Fortran's truth values");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_buffers();
  check_statuses();
  check_integers();
  check_exposure();
  check_interface();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
