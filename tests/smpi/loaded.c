/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rank 0 prints the path of each mapped file whose name begins with NAME: `loaded NAME`. It also allocates SMPI shared
 * memory. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>

static void print_paths(FILE* maps, const char* name)
{
  char line[4096], last[4096] = "";
  while (fgets(line, sizeof(line), maps)) {
    const char* path = strchr(line, '/');
    const char* file = path ? strrchr(line, '/') + 1 : "";
    if (path && strncmp(file, name, strlen(name)) == 0 && strcmp(path, last) != 0)
      fputs(strcpy(last, path), stdout);
  }
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* shared = SMPI_SHARED_MALLOC(1 << 21);
  FILE* maps   = fopen("/proc/self/maps", "r");
  if (rank == 0 && argc == 2 && maps)
    print_paths(maps, argv[1]);
  if (maps)
    fclose(maps);
  SMPI_SHARED_FREE(shared);
  MPI_Finalize();
  return 0;
}
