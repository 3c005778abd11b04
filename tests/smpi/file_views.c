/* SPDX-License-Identifier: LGPL-2.1-only */
/* Writes and reads a file through random views and datatypes by every form of access, and compares it with the data
 * that POSIX reads and writes. file_views DIRECTORY SEED: DIRECTORY contains MPI's files. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_UNITS = 64, MOST = 400, ROUNDS = 60, UNIT = 4, FORMS = 20 };

static int rank, ranks, wrong;

static unsigned next(unsigned* state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A rank's view: every period of the file contains units of several ranks. */
struct view {
  MPI_Offset displacement;
  int period;            /* units per period */
  int own;               /* units of this rank */
  int place[MOST_UNITS]; /* positions of these units */
  MPI_Datatype type;
};

static MPI_Datatype resized(MPI_Datatype type, int units)
{
  MPI_Datatype whole;
  MPI_Type_create_resized(type, 0, (MPI_Aint)units * UNIT, &whole);
  MPI_Type_free(&type);
  MPI_Type_commit(&whole);
  return whole;
}

static MPI_Datatype filetype(const struct view* view, unsigned kind)
{
  int lengths[MOST_UNITS], places[MOST_UNITS];
  MPI_Aint addresses[MOST_UNITS];
  MPI_Datatype types[MOST_UNITS], type;
  int runs = 0;
  for (int i = 0; i < view->own; ++i) {
    if (runs > 0 && kind % 2 == 0 && places[runs - 1] + lengths[runs - 1] == view->place[i]) {
      ++lengths[runs - 1];
      continue;
    }
    places[runs]    = view->place[i];
    addresses[runs] = (MPI_Aint)view->place[i] * UNIT;
    types[runs]     = kind % 3 == 0 ? MPI_INT : MPI_FLOAT;
    lengths[runs++] = 1;
  }
  switch (kind % 5) {
    case 0:
      MPI_Type_indexed(runs, lengths, places, MPI_INT, &type);
      break;
    case 1:
      MPI_Type_create_hindexed(runs, lengths, addresses, MPI_INT, &type);
      break;
    case 2:
      MPI_Type_create_struct(runs, lengths, addresses, types, &type);
      break;
    case 3: {
      MPI_Datatype inner;
      MPI_Type_contiguous(UNIT, MPI_BYTE, &inner);
      MPI_Type_create_hindexed(runs, lengths, addresses, inner, &type);
      MPI_Type_free(&inner);
      break;
    }
    default:
      MPI_Type_create_hindexed_block(view->own, 1, addresses, MPI_INT, &type);
      if (runs != view->own) { /* adjacent runs were merged */
        MPI_Type_free(&type);
        MPI_Type_create_hindexed(runs, lengths, addresses, MPI_INT, &type);
      }
  }
  return resized(type, view->period);
}

static struct view random_view(unsigned* common, unsigned kind)
{
  struct view view = {.displacement = (MPI_Offset)(next(common) % 50) * UNIT, .period = ranks * 2, .own = 0};
  view.period += (int)(next(common) % (unsigned)(MOST_UNITS - view.period));
  for (int unit = 0; unit < view.period; ++unit) {
    const int owner = unit < ranks ? unit : (int)(next(common) % (unsigned)(ranks + 1));
    if (owner == rank)
      view.place[view.own++] = unit;
  }
  view.type = filetype(&view, kind);
  return view;
}

static MPI_Offset offset_of(const struct view* view, int unit)
{
  return view->displacement + ((MPI_Offset)(unit / view->own) * view->period + view->place[unit % view->own]) * UNIT;
}

/* Memory buffer: units in blocks with gaps. */
struct memory {
  int block, stride, count;
  MPI_Datatype type;
  int elements; /* elements of the type */
};

static struct memory random_memory(unsigned kind, int units)
{
  struct memory memory = {.block = 1, .stride = 1, .count = units, .type = MPI_INT, .elements = units};
  if (kind % 3 == 1) {
    memory.block  = 2;
    memory.stride = 3;
    MPI_Type_vector(units / 2, 2, 3, MPI_INT, &memory.type);
    MPI_Type_commit(&memory.type);
    memory.elements = 1;
  } else if (kind % 3 == 2) { /* a resized integer */
    memory.stride = 2;
    MPI_Datatype one;
    MPI_Type_contiguous(1, MPI_INT, &one);
    memory.type = resized(one, 2);
  }
  return memory;
}

static int slot(const struct memory* memory, int unit)
{
  return unit / memory->block * memory->stride + unit % memory->block;
}

static void written(MPI_File file, unsigned form, int at, const int* data, const struct memory* memory)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag                = 0;
  const int count         = memory->elements;
  const MPI_Datatype type = memory->type;
  switch (form % FORMS / 2) {
    case 0:
      MPI_File_write_at(file, at, data, count, type, &status);
      break;
    case 1:
      MPI_File_write_at_all(file, at, data, count, type, &status);
      break;
    case 2:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_write(file, data, count, type, &status);
      break;
    case 3:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_write_all(file, data, count, type, &status);
      break;
    case 4:
      MPI_File_iwrite_at(file, at, data, count, type, &request);
      break;
    case 5:
      MPI_File_iwrite_at_all(file, at, data, count, type, &request);
      break;
    case 6:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iwrite(file, data, count, type, &request);
      break;
    case 7:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iwrite_all(file, data, count, type, &request);
      break;
    case 8:
      MPI_File_write_at_all_begin(file, at, data, count, type);
      MPI_File_write_at_all_end(file, data, &status);
      break;
    default:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_write_all_begin(file, data, count, type);
      MPI_File_write_all_end(file, data, &status);
  }
  if (request != MPI_REQUEST_NULL && form % 2)
    MPI_Wait(&request, &status);
  else if (request != MPI_REQUEST_NULL)
    while (!flag)
      MPI_Test(&request, &flag, &status);
  MPI_Get_count(&status, type, &flag);
  if (flag != count && ++wrong < 10)
    printf("rank %d: form %u wrote %d of %d\n", rank, form, flag, count);
}

static void read_back(MPI_File file, unsigned form, int at, int* data, const struct memory* memory)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag                = 0;
  const int count         = memory->elements;
  const MPI_Datatype type = memory->type;
  switch (form % FORMS / 2) {
    case 0:
      MPI_File_read_at(file, at, data, count, type, &status);
      break;
    case 1:
      MPI_File_read_at_all(file, at, data, count, type, &status);
      break;
    case 2:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_read(file, data, count, type, &status);
      break;
    case 3:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_read_all(file, data, count, type, &status);
      break;
    case 4:
      MPI_File_iread_at(file, at, data, count, type, &request);
      break;
    case 5:
      MPI_File_iread_at_all(file, at, data, count, type, &request);
      break;
    case 6:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iread(file, data, count, type, &request);
      break;
    case 7:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iread_all(file, data, count, type, &request);
      break;
    case 8:
      MPI_File_read_at_all_begin(file, at, data, count, type);
      MPI_File_read_at_all_end(file, data, &status);
      break;
    default:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_read_all_begin(file, data, count, type);
      MPI_File_read_all_end(file, data, &status);
  }
  if (request != MPI_REQUEST_NULL) {
    if (form % 2)
      MPI_Waitall(1, &request, &status);
    else
      MPI_Waitany(1, &request, &flag, &status);
  }
  MPI_Get_count(&status, type, &flag);
  if (flag != count && ++wrong < 10)
    printf("rank %d: form %u read %d of %d\n", rank, form, flag, count);
}

int main(int argc, char** argv)
{
  static int data[3 * MOST];
  char path[4096];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned common = (unsigned)atoi(argv[2]), own = common + 77u * (unsigned)rank;
  snprintf(path, sizeof path, "%s/views", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, "views", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int round = 0; round < ROUNDS; ++round) {
    const unsigned form = next(&common) % FORMS;
    struct view view    = random_view(&common, next(&own));
    const int units = 2 * (1 + (int)(next(&own) % (MOST / 4))), at = (int)(next(&own) % 40);
    struct memory memory = random_memory(next(&own), units);
    MPI_File_set_view(file, view.displacement, MPI_INT, view.type, "native", MPI_INFO_NULL);
    for (int unit = 0; unit < units; ++unit)
      data[slot(&memory, unit)] = (round * 1000 + unit) * 64 + rank;
    written(file, form, at, data, &memory);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    const int posix = open(path, O_RDWR);
    for (int unit = 0; unit < units; ++unit) {
      int found = -1;
      if (pread(posix, &found, UNIT, offset_of(&view, at + unit)) != UNIT ||
          found != (round * 1000 + unit) * 64 + rank) {
        if (++wrong < 10)
          printf("rank %d: round %d, form %u: unit %d written as %d\n", rank, round, form, unit, found);
      }
      found = -(round * 1000 + unit) * 64 - rank;
      if (pwrite(posix, &found, UNIT, offset_of(&view, at + unit)) != UNIT)
        ++wrong;
    }
    close(posix);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 0x55, sizeof data);
    read_back(file, form, at, data, &memory);
    for (int unit = 0; unit < units; ++unit) {
      if (data[slot(&memory, unit)] != -(round * 1000 + unit) * 64 - rank && ++wrong < 10)
        printf("rank %d: round %d, form %u: unit %d read as %d\n", rank, round, form, unit, data[slot(&memory, unit)]);
      data[slot(&memory, unit)] = 0x55555555;
    }
    for (int i = 0; i < 3 * MOST; ++i)
      if (data[i] != 0x55555555 && ++wrong < 10)
        printf("rank %d: round %d, form %u: the gap at %d was overwritten\n", rank, round, form, i);
    MPI_Type_free(&view.type);
    if (memory.type != MPI_INT)
      MPI_Type_free(&memory.type);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
