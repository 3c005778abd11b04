/* SPDX-License-Identifier: LGPL-2.1-only */
/* Sessions: process sets, communicators from groups, error handlers, buffer flushes. `sessions [init]` prints `right`
 * per rank; with `init`, between MPI_Init and MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  exit(1);
}

static int handled;

static void handle(MPI_Session* session, int* code, ...)
{
  handled += *session != MPI_SESSION_NULL ? *code : 0;
}

static void check_sets(MPI_Session session)
{
  int sets = 0, length = 0, flag = 0, size, world = 0;
  char name[MPI_MAX_PSET_NAME_LEN], value[16];
  MPI_Info info;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  for (int set = 0; set < sets; set++) {
    length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, set, &length, NULL);
    expect(length <= (int)sizeof name, "the length of a name");
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, set, &length, name);
    world += strcmp(name, "mpi://WORLD") == 0;
  }
  expect(world == 1, "mpi://WORLD");
  size = sizeof value;
  MPI_Session_get_pset_info(session, "mpi://SELF", &info);
  MPI_Info_get_string(info, "mpi_size", &size, value, &flag);
  expect(flag && strcmp(value, "1") == 0, "the size of mpi://SELF");
  MPI_Info_free(&info);
  MPI_Session_get_info(session, &info);
  MPI_Info_free(&info);
}

/* If there are several ranks, all except the first create a communicator without it. */
static void check_communicators(MPI_Session session)
{
  MPI_Group world, rest;
  MPI_Comm all, others;
  int rank, size, sum = 0, first = 0, one = 1;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "weft.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  expect(sum == size, "a sum over all ranks");
  MPI_Group_excl(world, 1, &first, &rest);
  if (rank > 0) {
    MPI_Comm_create_from_group(rest, "weft.others", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &others);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others);
    expect(sum == size - 1, "a sum over the other ranks");
    MPI_Comm_free(&others);
  }
  MPI_Group_free(&rest);
  MPI_Group_free(&world);
  MPI_Comm_free(&all);
}

static void check_flushes(void)
{
  MPI_Request request;
  MPI_Buffer_iflush(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Buffer_flush();
}

static void check_errors(MPI_Session session)
{
  MPI_Errhandler handler, now;
  MPI_Group group;
  handled = 0;
  MPI_Session_create_errhandler(handle, &handler);
  MPI_Session_set_errhandler(session, handler);
  MPI_Session_get_errhandler(session, &now);
  expect(now == handler, "the session's error handler");
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  expect(handled == MPI_ERR_OTHER, "a call of the error handler");
  handled = 0;
  expect(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group) == MPI_ERR_ARG, "an unknown process set");
  expect(handled == MPI_ERR_ARG, "the error handler of an unknown process set");
}

int main(int argc, char** argv)
{
  const int init = argc > 1;
  int flag;
  if (init)
    MPI_Init(&argc, &argv);
  for (int time = 0; time < 2; time++) { /* sessions may follow one another */
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Initialized(&flag);
    expect(flag == init, "MPI_Initialized");
    check_sets(session);
    check_communicators(session);
    check_flushes();
    check_errors(session);
    MPI_Session_finalize(&session);
    expect(session == MPI_SESSION_NULL, "a finalized session");
  }
  printf("right\n");
  if (init)
    MPI_Finalize();
  return 0;
}
