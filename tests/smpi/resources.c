/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI_Comm_split_type by hardware resources and process sets: each rank prints the sizes of its parts. */
#include <mpi.h>
#include <stdio.h>

static int size_of_part(int type, const char* key, const char* value)
{
  MPI_Comm part;
  MPI_Info info;
  int size = 0;
  MPI_Info_create(&info);
  if (key)
    MPI_Info_set(info, key, value);
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &part);
  MPI_Info_free(&info);
  if (part == MPI_COMM_NULL)
    return 0;
  MPI_Comm_size(part, &size);
  MPI_Comm_free(&part);
  return size;
}

int main(int argc, char** argv)
{
  const char* const resource = "mpi_hw_resource_type";
  MPI_Init(&argc, &argv);
  const int shared   = size_of_part(MPI_COMM_TYPE_SHARED, NULL, NULL);
  const int node     = size_of_part(MPI_COMM_TYPE_HW_GUIDED, resource, "mpi://node");
  const int memory   = size_of_part(MPI_COMM_TYPE_HW_GUIDED, resource, "mpi_shared_memory");
  const int unknown  = size_of_part(MPI_COMM_TYPE_HW_GUIDED, resource, "hwloc://L3Cache");
  const int unguided = size_of_part(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL);
  const int named    = size_of_part(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, "mpi://node");
  const int world    = size_of_part(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
  const int self     = size_of_part(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
  printf("%d %d %d %d %d %d %d %d\n", shared, node, memory, unknown, unguided, named, world, self);
  MPI_Finalize();
  return 0;
}
