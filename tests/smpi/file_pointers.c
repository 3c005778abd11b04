/* SPDX-License-Identifier: LGPL-2.1-only */
/* Pointers, sizes, modes, views and hints of files; prints "0 wrong" if all are as MPI defines. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, wrong;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition) && ++wrong < 20)                                                                                  \
      printf("rank %d: line %d: %s\n", rank, __LINE__, #condition);                                                    \
  } while (0)

static int class_of(int code)
{
  int its = 0;
  MPI_Error_class(code, &its);
  return its;
}

static int called;
static void count_call(MPI_File* file, int* code, ...)
{
  (void)file;
  called = class_of(*code);
}

static void shared_pointers(MPI_Comm comm)
{
  MPI_File file;
  MPI_Offset at;
  MPI_Status status;
  MPI_Request request;
  int mine[3], all[64], sum = 0, each = rank + 1, count;
  MPI_File_open(comm, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (int i = 0; i < 3; ++i)
    mine[i] = rank;
  /* Each rank writes 1 + rank % 3 numbers, in rank order. */
  const int own = 1 + rank % 3;
  MPI_File_write_ordered(file, mine, own, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == own);
  MPI_File_get_position_shared(file, &at);
  int before = 0, total = 0;
  for (int i = 0; i < ranks; ++i) {
    before += i < rank ? 1 + i % 3 : 0;
    total += 1 + i % 3;
  }
  CHECK(at == total);
  MPI_File_sync(file);
  MPI_Barrier(comm);
  MPI_File_read_at(file, before, all, own, MPI_INT, &status);
  for (int i = 0; i < own; ++i)
    CHECK(all[i] == rank);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  memset(all, -1, sizeof all);
  MPI_File_read_ordered_begin(file, all, own, MPI_INT);
  MPI_File_read_ordered_end(file, all, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == own && all[own - 1] == rank && all[own] == -1);
  /* Any order: every number occurs once. */
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_write_shared(file, &each, 1, MPI_INT, &status);
  MPI_File_iwrite_shared(file, &each, 1, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_Barrier(comm);
  MPI_File_read_at(file, 0, all, 2 * ranks, MPI_INT, &status);
  for (int i = 0; i < 2 * ranks; ++i)
    sum += all[i];
  CHECK(sum == ranks * (ranks + 1));
  MPI_Barrier(comm);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  all[0] = all[1] = 0;
  MPI_File_read_shared(file, all, 1, MPI_INT, &status);
  MPI_File_iread_shared(file, all + 1, 1, MPI_INT, &request);
  MPI_Wait(&request, &status);
  sum = all[0] + all[1];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == ranks * (ranks + 1));
  MPI_File_close(&file);
  CHECK(file == MPI_FILE_NULL);
  CHECK(class_of(MPI_File_open(comm, "shared", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
}

static void sizes_and_pointers(MPI_Comm comm, const char* name)
{
  MPI_File file;
  MPI_Offset at;
  MPI_Status status;
  MPI_Group group, world;
  MPI_Datatype etype, filetype, every_second;
  MPI_Aint extent;
  char format[MPI_MAX_DATAREP_STRING];
  int mode, same, flag, data[8] = {0}, count, place;
  MPI_Comm_rank(comm, &place);
  MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_get_amode(file, &mode);
  CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
  MPI_File_get_group(file, &group);
  MPI_Comm_group(comm, &world);
  MPI_Group_compare(group, world, &same);
  CHECK(same == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_File_set_size(file, 100);
  MPI_File_get_size(file, &at);
  CHECK(at == 100);
  MPI_File_preallocate(file, 50);
  MPI_File_get_size(file, &at);
  CHECK(at == 100);
  MPI_File_preallocate(file, 200);
  MPI_File_get_size(file, &at);
  CHECK(at == 200);
  MPI_File_seek(file, -8, MPI_SEEK_END);
  MPI_File_get_position(file, &at);
  CHECK(at == 192);
  MPI_File_read(file, data, 4, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 2);
  MPI_File_get_position(file, &at);
  CHECK(at == 208);
  MPI_File_read(file, data, 4, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0);
  MPI_File_seek(file, -200, MPI_SEEK_CUR);
  MPI_File_get_position(file, &at);
  CHECK(at == 24); /* after the requested bytes, not the existing ones */
  CHECK(class_of(MPI_File_seek(file, -25, MPI_SEEK_CUR)) == MPI_ERR_ARG);
  MPI_Type_create_resized(MPI_INT, 0, 8, &every_second);
  MPI_Type_commit(&every_second);
  MPI_File_set_view(file, 4, MPI_INT, every_second, "native", MPI_INFO_NULL);
  MPI_File_get_byte_offset(file, 3, &at);
  CHECK(at == 28);
  MPI_File_seek(file, 0, MPI_SEEK_END); /* numbers begin at 4, 12, …, 196 */
  MPI_File_get_position(file, &at);
  CHECK(at == 25);
  MPI_File_get_view(file, &at, &etype, &filetype, format);
  MPI_Type_get_extent(filetype, &extent, &extent);
  CHECK(at == 4 && etype == MPI_INT && extent == 8 && strcmp(format, "native") == 0);
  MPI_Type_free(&filetype);
  MPI_Type_free(&every_second);
  MPI_File_get_type_extent(file, MPI_DOUBLE, &extent);
  CHECK(extent == sizeof(double));
  MPI_File_get_atomicity(file, &flag);
  CHECK(flag == 0);
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &flag);
  CHECK(flag == 1);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
  data[0] = 0x01020304;
  MPI_File_write_at(file, place, data, 1, MPI_INT, &status);
  data[0] = 0;
  MPI_File_read_at(file, place, data, 1, MPI_INT, &status);
  CHECK(data[0] == 0x01020304);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  unsigned char first = 0;
  MPI_File_read_at(file, 0, &first, 1, MPI_BYTE, &status);
  CHECK(first == 1);
  MPI_File_close(&file);
  MPI_File_open(comm, name, MPI_MODE_APPEND | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_get_position(file, &at);
  CHECK(at == 200);
  MPI_File_close(&file);
}

static void hints(MPI_Comm comm)
{
  MPI_File file;
  MPI_Info info;
  char value[64];
  int flag;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "4096");
  MPI_Info_set(info, "unknown_hint", "1");
  MPI_File_open(comm, "hints", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  MPI_Info_free(&info);
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, "cb_buffer_size", 63, value, &flag);
  CHECK(flag && strcmp(value, "4096") == 0);
  MPI_Info_get(info, "romio_cb_write", 63, value, &flag);
  CHECK(flag && strcmp(value, "automatic") == 0);
  MPI_Info_get(info, "unknown_hint", 63, value, &flag);
  CHECK(!flag);
  MPI_Info_set(info, "romio_cb_write", "disable");
  MPI_File_set_info(file, info);
  MPI_Info_free(&info);
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, "romio_cb_write", 63, value, &flag);
  CHECK(flag && strcmp(value, "disable") == 0);
  MPI_Info_free(&info);
  MPI_File_close(&file);
}

static void errors(MPI_Comm comm)
{
  MPI_File file, other;
  MPI_Errhandler handler, found;
  MPI_Offset at;
  int data = 0;
  CHECK(class_of(MPI_File_open(comm, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
  CHECK(class_of(MPI_File_open(comm, "a", MPI_MODE_CREATE, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
  CHECK(class_of(MPI_File_open(comm, "a", MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
  CHECK(class_of(MPI_File_open(comm, "a", MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
  CHECK(class_of(MPI_File_delete("none", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
  MPI_File_open(comm, "errors", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  CHECK(class_of(MPI_File_open(comm, "errors", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                               &other)) == MPI_ERR_FILE_EXISTS);
  CHECK(class_of(MPI_File_read_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  CHECK(class_of(MPI_File_write_at(file, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_write_at(file, 0, &data, -1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_File_write_at(file, 0, &data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_File_write_at(file, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "utf8", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_set_view(file, -4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_set_size(file, -1)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_write_all_end(file, &data, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  CHECK(class_of(MPI_File_write_at(MPI_FILE_NULL, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  CHECK(class_of(MPI_File_write_at(file, 0, &data, 3, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  MPI_File_create_errhandler(count_call, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_File_get_errhandler(file, &found);
  CHECK(found == handler);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  MPI_File_read_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(called == MPI_ERR_ACCESS);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  CHECK(called == MPI_ERR_IO);
  MPI_File_close(&file);
  MPI_File_open(comm, "errors", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(class_of(MPI_File_write_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
  CHECK(class_of(MPI_File_set_size(file, 10)) == MPI_ERR_READ_ONLY);
  MPI_File_close(&file);
  MPI_File_open(comm, "errors", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file);
  CHECK(class_of(MPI_File_write_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_get_position(file, &at)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(MPI_File_write_shared(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_File_close(&file);
}

int main(int argc, char** argv)
{
  MPI_Comm half;
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  shared_pointers(MPI_COMM_WORLD);
  sizes_and_pointers(MPI_COMM_WORLD, "sizes");
  hints(MPI_COMM_WORLD);
  errors(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  snprintf(name, sizeof name, "of-rank-%d", rank);
  sizes_and_pointers(MPI_COMM_SELF, name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0)
    errors(half);
  MPI_Comm_free(&half);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
