/* SPDX-License-Identifier: LGPL-2.1-only */
/* Changes of MPI 4.1, by their numbers in its change-log (annex B.1), that no other test shows: rows of
 * docs/mpi-changes.csv. Prints `right` per rank; two ranks or more. */
#include "checks.h"

#include <string.h>

static int handled;

static void handle(MPI_Comm* comm, int* code, ...)
{
  (void)comm, (void)code;
  ++handled;
}

/** Returns the value of a key, or the empty string. */
static const char* value_of(MPI_Info info, const char* key)
{
  static char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag ? value : "";
}

/* Erratum 4: an inactive request may outlive its communicator, and even stay until the program ends. */
static void leave_requests(void)
{
  static int left;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Recv_init(&left, 1, MPI_INT, rank, 4, copy, &request);
  check(MPI_Comm_disconnect(&copy) == MPI_SUCCESS && copy == MPI_COMM_NULL, "MPI_Comm_disconnect");
  MPI_Recv_init(&left, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
}

/* Errata 7 to 9: datatypes outlive their session; a communicator created from a session gets the requested error
 * handler, and so do its duplicates. */
static void check_sessions(void)
{
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm, copy;
  MPI_Errhandler handler, found;
  MPI_Datatype pair;
  int sent[2] = {1, 2}, got[2] = {0, 0};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_create_from_group(world, "weft.changes", MPI_INFO_NULL, handler, &comm);
  MPI_Comm_get_errhandler(comm, &found);
  check(found == handler, "the error handler of MPI_Comm_create_from_group");
  handled = 0;
  check(MPI_Send(sent, -1, MPI_INT, 0, 0, comm) != MPI_SUCCESS && handled == 1, "a call of it");
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_errhandler(copy, &found);
  check(found == handler, "the error handler of a copy");
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Group_free(&world);
  MPI_Session_finalize(&session);
  MPI_Sendrecv(sent, 1, pair, rank, 0, got, 1, pair, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(got[0] == 1 && got[1] == 2, "a datatype that was committed in a session");
  MPI_Type_free(&pair);
  MPI_Errhandler_free(&handler);
}

/* Erratum 10. */
static void check_coordinates(void)
{
  const int dims[2] = {1, 1}, periods[2] = {0, 1};
  int coords[3] = {7, 7, 7}, its_dims[3] = {7, 7, 7}, its_periods[3] = {7, 7, 7};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid);
  check(MPI_Cart_coords(grid, 0, 3, coords) == MPI_SUCCESS, "MPI_Cart_coords");
  check(coords[0] == 0 && coords[1] == 0 && coords[2] == 7, "coordinates, of which there are ndims");
  check(MPI_Cart_get(grid, 3, its_dims, its_periods, coords) == MPI_SUCCESS, "MPI_Cart_get");
  check(its_dims[1] == 1 && its_periods[1] && its_dims[2] == 7, "dimensions, of which there are ndims");
  MPI_Comm_free(&grid);
}

/* Changes 7 and 8: these are functions, whose addresses can be taken. */
static void check_functions(void)
{
#if defined MPI_Wtime || defined PMPI_Wtime || defined MPI_Wtick || defined PMPI_Wtick
#error "clocks are functions"
#endif
#if defined MPI_Comm_c2f || defined MPI_Comm_f2c || defined MPI_Type_c2f || defined MPI_Request_c2f
#error "conversions of handles are functions"
#endif
  double (*const clocks[])(void)              = {MPI_Wtime, PMPI_Wtime, MPI_Wtick, PMPI_Wtick};
  MPI_Fint (*const number)(MPI_Comm)          = MPI_Comm_c2f;
  MPI_Comm (*const communicator)(MPI_Fint)    = MPI_Comm_f2c;
  MPI_Fint (*const type_number)(MPI_Datatype) = MPI_Type_c2f;
  check(clocks[1]() >= clocks[0]() - 1 && clocks[2]() > 0 && clocks[3]() > 0, "clocks");
  check(communicator(number(MPI_COMM_WORLD)) == MPI_COMM_WORLD && type_number(MPI_INT) != type_number(MPI_BYTE),
        "conversions");
}

/* Change 9: a loop of MPI_Request_get_status calls alone completes a long message. */
static void check_progress(void)
{
  static char data[1 << 20];
  MPI_Request request;
  int flag = 0;
  if (rank > 1)
    return;
  if (rank == 0)
    MPI_Isend(data, sizeof data, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request);
  else
    MPI_Irecv(data, sizeof data, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request);
  while (!flag)
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Change 11. */
static void check_session_buffer(void)
{
  static char buffer[64];
  void* found = NULL;
  int bytes   = 0;
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_attach_buffer(session, buffer, sizeof buffer);
  MPI_Session_detach_buffer(session, &found, &bytes);
  check(found == buffer && bytes == sizeof buffer, "the buffer of a session");
  MPI_Session_finalize(&session);
}

/* Changes 16 and 17. */
static void check_hints(void)
{
  MPI_Info hints, found;
  MPI_Comm comm;
  MPI_Session session;
  MPI_Win win;
  int base = 0;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_strict_persistent_collective_ordering", "true");
  MPI_Info_set(hints, "mpi_assert_memory_alloc_kinds", "system");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &comm);
  MPI_Comm_get_info(comm, &found);
  check(strcmp(value_of(found, "mpi_assert_strict_persistent_collective_ordering"), "true") == 0, "a strict order");
  check(strcmp(value_of(found, "mpi_assert_memory_alloc_kinds"), "system") == 0, "kinds that are asserted");
  check(strcmp(value_of(found, "mpi_memory_alloc_kinds"), "mpi,system") == 0, "kinds of a communicator");
  MPI_Info_free(&found);
  MPI_Comm_free(&comm);
  MPI_Info_free(&hints);
  MPI_Comm_get_info(MPI_COMM_WORLD, &found);
  check(strcmp(value_of(found, "mpi_memory_alloc_kinds"), "mpi,system") == 0, "kinds of MPI_COMM_WORLD");
  MPI_Info_free(&found);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_memory_alloc_kinds", "cuda:device,system,mpi");
  MPI_Session_init(hints, MPI_ERRORS_RETURN, &session);
  MPI_Session_get_info(session, &found);
  check(strstr(value_of(found, "mpi_memory_alloc_kinds"), "system") != NULL, "a kind of a session");
  check(strstr(value_of(found, "mpi_memory_alloc_kinds"), "cuda") == NULL, "a kind that is not supported");
  MPI_Info_free(&found);
  MPI_Session_finalize(&session);
  MPI_Info_free(&hints);
  MPI_Win_create(&base, sizeof base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_info(win, &found);
  check(strcmp(value_of(found, "mpi_accumulate_granularity"), "0") == 0, "the granularity of a window");
  check(strcmp(value_of(found, "mpi_memory_alloc_kinds"), "mpi,system") == 0, "kinds of a window");
  MPI_Info_free(&found);
  MPI_Win_free(&win);
}

/* Change 20. */
static void check_handlers(void)
{
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(MPI_ERR_ERRHANDLER, text, &length);
  check(strstr(text, "MPI_ERR_ERRHANDLER") != NULL, "the text of MPI_ERR_ERRHANDLER");
  check(class_of(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL)) == MPI_ERR_ERRHANDLER,
        "an error handler that is none");
}

/* Change 22: windows of all flavours except dynamic ones may be queried; for memory that is not shared, the size is
 * zero. */
static void check_shared_queries(void)
{
  MPI_Win win;
  MPI_Aint bytes;
  int base = 0, unit = 0, *found = NULL, *allocated;
  MPI_Win_create(&base, sizeof base, sizeof base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check(MPI_Win_shared_query(win, rank, &bytes, &unit, &found) == MPI_SUCCESS, "MPI_WIN_FLAVOR_CREATE");
  check(bytes == 0 || (bytes == sizeof base && found == &base), "the memory of a rank itself");
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof base, sizeof base, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
  check(MPI_Win_shared_query(win, rank, &bytes, &unit, &found) == MPI_SUCCESS, "MPI_WIN_FLAVOR_ALLOCATE");
  check(bytes == 0 || (bytes == sizeof base && found == allocated), "the allocated memory of a rank itself");
  MPI_Win_free(&win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  check(MPI_Win_shared_query(win, rank, &bytes, &unit, &found) != MPI_SUCCESS, "MPI_WIN_FLAVOR_DYNAMIC");
  MPI_Win_free(&win);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  leave_requests();
  check_sessions();
  check_coordinates();
  check_functions();
  check_progress();
  check_session_buffer();
  check_hints();
  check_handlers();
  check_shared_queries();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
