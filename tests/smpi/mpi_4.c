/* SPDX-License-Identifier: LGPL-2.1-only */
/* Additions of MPI 4: its version, splitting an intercommunicator by type, and null or inactive partitioned requests.
 * Also calls that are refused, whose errors the program handles. Prints `right` per rank; needs an even number of
 * ranks, and neighbours (with `shared`) or halves that share hosts. */
#include "checks.h"

#include <string.h>

#if MPI_VERSION != 4 || MPI_SUBVERSION != 1
#error "weft's MPI has the functions of MPI 4.1"
#endif

static int size, handled;

static void handle(MPI_Comm* comm, int* code, ...)
{
  (void)comm, (void)code;
  ++handled;
}

/* Returns an intercommunicator of the even and the odd ranks. */
static MPI_Comm of_even_and_odd(void)
{
  MPI_Comm local, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &both);
  MPI_Comm_free(&local);
  return both;
}

static void check_part(MPI_Comm part, int local, int remote, const char* what)
{
  int is_inter = 0, its_local = -1, its_remote = -1;
  check((part == MPI_COMM_NULL) == (local == 0), what);
  if (local == 0)
    return;
  MPI_Comm_test_inter(part, &is_inter);
  MPI_Comm_size(part, &its_local);
  MPI_Comm_remote_size(part, &its_remote);
  check(is_inter && its_local == local && its_remote == remote, what);
  MPI_Comm_free(&part);
}

static void check_split_type(int ranks_per_host)
{
  MPI_Comm both = of_even_and_odd(), part;
  MPI_Info info;
  const int half = ranks_per_host / 2, smaller = ranks_per_host < size ? half : 0;
  MPI_Comm_split_type(both, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part);
  check_part(part, half, half, "MPI_COMM_TYPE_SHARED");
  MPI_Comm_split_type(both, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part);
  if (rank >= ranks_per_host)
    check_part(part, half, half, "MPI_UNDEFINED of another host");
  else if (rank == 0 || ranks_per_host == 2)
    check_part(part, 0, 0, "MPI_UNDEFINED");
  else
    check_part(part, rank % 2 ? half : half - 1, rank % 2 ? half - 1 : half, "MPI_UNDEFINED of one rank");
  MPI_Comm_split_type(both, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &part);
  check_part(part, smaller, smaller, "MPI_COMM_TYPE_HW_UNGUIDED");
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi://node");
  MPI_Comm_split_type(both, MPI_COMM_TYPE_HW_GUIDED, rank, info, &part);
  check_part(part, half, half, "MPI_COMM_TYPE_HW_GUIDED");
  MPI_Info_delete(info, "mpi_hw_resource_type");
  MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
  MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, rank, info, &part);
  check_part(part, 0, 0, "mpi://SELF");
  MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
  MPI_Comm_split_type(both, MPI_COMM_TYPE_RESOURCE_GUIDED, rank, info, &part);
  check_part(part, size / 2, size / 2, "mpi://WORLD");
  MPI_Info_free(&info);
  MPI_Comm_free(&both);
}

static void check_parrived(void)
{
  int flag            = 0, buffer[4];
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Parrived(request, 0, &flag) == MPI_SUCCESS && flag, "MPI_Parrived of a null request");
  MPI_Precv_init(buffer, 2, 2, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  flag = 0;
  check(MPI_Parrived(request, 1, &flag) == MPI_SUCCESS && flag, "MPI_Parrived of an inactive request");
  MPI_Request_free(&request);
}

/* None of these calls prints a message. */
static void refuse(void)
{
  int x = 0, y = 0, flag;
  char text[MPI_MAX_INFO_VAL];
  MPI_Comm both = of_even_and_odd();
  MPI_Request request;
  MPI_Datatype type;
  MPI_Win window;
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  check(class_of(MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, both)) == MPI_ERR_COMM, "MPI_Exscan");
  check(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a send without a buffer");
  check(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a negative count");
  check(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a rank that does not exist");
  check(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "no datatype");
  check(MPI_Bcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD) != MPI_SUCCESS, "a root that does not exist");
  check(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS, "no operation");
  check(MPI_Comm_size(MPI_COMM_NULL, &x) != MPI_SUCCESS, "no communicator");
  check(MPI_Info_get(MPI_INFO_NULL, "key", 1, text, &flag) != MPI_SUCCESS, "no info");
  check(MPI_Type_contiguous(-1, MPI_INT, &type) != MPI_SUCCESS, "a negative count of a type");
  MPI_Irecv(&x, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
  {
    const int two[2] = {1, 2};
    MPI_Send(two, 2, MPI_INT, rank, 1, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* truncated */
  MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, window);
  check(MPI_Put(&y, 1, MPI_INT, size, 0, 1, MPI_INT, window) != MPI_SUCCESS, "a target that does not exist");
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&both);
}

int main(int argc, char** argv)
{
  int version, subversion;
  MPI_Comm host;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_version(&version, &subversion);
  check(version == MPI_VERSION && subversion == MPI_SUBVERSION, "MPI_Get_version");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &version);
  check_split_type(version);
  check_parrived();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  refuse();
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  refuse();
  check(handled > 5, "calls of the program's error handler");
  printf("right\n");
  MPI_Finalize();
  return 0;
}
