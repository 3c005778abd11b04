/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI and the system see the same files, under the same names. Prints "N wrong". */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int wrong;
static int rank;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      ++wrong;                                                                                                         \
      printf("rank %d: line %d: %s\n", rank, __LINE__, #condition);                                                    \
    }                                                                                                                  \
  } while (0)

static int class_of(int code)
{
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static int open_class(const char* name, int mode)
{
  MPI_File file;
  const int class = class_of(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
  if (class == MPI_SUCCESS)
    MPI_File_close(&file);
  return class;
}

static void write_by_mpi(const char* name, const char* text, int mode)
{
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  if (rank == 0)
    CHECK(MPI_File_write(file, text, (int)strlen(text), MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_File_close(&file);
}

static void write_by_c(const char* name, const char* text)
{
  if (rank == 0) {
    FILE* file = fopen(name, "w");
    fputs(text, file);
    fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int is_there(const char* name)
{
  MPI_Barrier(MPI_COMM_WORLD);
  const int is = access(name, F_OK) == 0;
  struct stat about;
  CHECK((stat(name, &about) == 0) == is);
  MPI_Barrier(MPI_COMM_WORLD);
  return is;
}

static int holds_for_c(const char* name, const char* text)
{
  char found[64] = "";
  FILE* file     = fopen(name, "r");
  if (file) {
    found[fread(found, 1, sizeof found - 1, file)] = 0;
    fclose(file);
  }
  return file && strcmp(found, text) == 0;
}

static int holds_for_mpi(const char* name, const char* text)
{
  char found[64]  = "";
  MPI_Offset size = -1;
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return 0;
  MPI_File_get_size(file, &size);
  MPI_File_read_at_all(file, 0, found, (int)strlen(text), MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  return size == (MPI_Offset)strlen(text) && strcmp(found, text) == 0;
}

/** Changes by one interface, seen by the other. */
static void both_ways(void)
{
  write_by_mpi("by-mpi", "written by MPI", MPI_MODE_WRONLY);
  CHECK(is_there("by-mpi") && holds_for_c("by-mpi", "written by MPI"));
  write_by_c("by-c", "written by C");
  CHECK(holds_for_mpi("by-c", "written by C"));
  CHECK(class_of(open_class("by-c", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY)) == MPI_ERR_FILE_EXISTS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(rename("by-mpi", "renamed") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(open_class("by-mpi", MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE);
  CHECK(holds_for_mpi("renamed", "written by MPI"));
  if (rank == 0)
    CHECK(truncate("renamed", 7) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(holds_for_mpi("renamed", "written"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(unlink("renamed") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(open_class("renamed", MPI_MODE_RDWR) == MPI_ERR_NO_SUCH_FILE);
  if (rank == 0)
    CHECK(MPI_File_delete("by-c", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(!is_there("by-c"));
  CHECK(class_of(MPI_File_delete("by-c", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
}

/** Files that are removed or renamed while they are open, and files deleted on close. */
static void while_open(void)
{
  char found[8] = "";
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "open", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  CHECK(is_there("open"));
  if (rank == 0)
    CHECK(unlink("open") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_at_all(file, 0, "kept", 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, found, 4, MPI_CHAR, MPI_STATUS_IGNORE);
  CHECK(strcmp(found, "kept") == 0);
  MPI_File_close(&file);
  CHECK(!is_there("open"));
  MPI_File_open(MPI_COMM_WORLD, "closing", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  CHECK(is_there("closing"));
  MPI_File_close(&file);
  CHECK(!is_there("closing"));
}

/** Names in directories, relative to the rank's own, absolute, with links and with a file-system prefix. */
static void names(void)
{
  char here[4096], whole[8192];
  CHECK(open_class("below/file", MPI_MODE_CREATE | MPI_MODE_WRONLY) == MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(mkdir("below", 0777) == 0 && symlink("below", "link") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  write_by_mpi("below/file", "deep", MPI_MODE_RDWR);
  CHECK(holds_for_c("link/file", "deep") && holds_for_mpi("link/../below/./file", "deep"));
  CHECK(holds_for_mpi("ufs:below/file", "deep"));
  CHECK(open_class("below", MPI_MODE_RDONLY) != MPI_SUCCESS && open_class("below", MPI_MODE_RDWR) != MPI_SUCCESS);
  CHECK(getcwd(here, sizeof here) != NULL);
  snprintf(whole, sizeof whole, "%s/below/file", here);
  CHECK(holds_for_mpi(whole, "deep"));
  CHECK(chdir("below") == 0);
  CHECK(holds_for_mpi("file", "deep") && holds_for_mpi("../below/file", "deep"));
  write_by_mpi("second", "also", MPI_MODE_WRONLY);
  CHECK(chdir("..") == 0);
  CHECK(is_there("below/second"));
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  both_ways();
  while_open();
  names();
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
