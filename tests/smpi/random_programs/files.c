/* SPDX-License-Identifier: LGPL-2.1-only */
/* Files: every rank writes its data in two accesses through a view or with a shared pointer, and reads another rank's
 * data. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

/** Forms of access. All ranks use the same form if it is collective; otherwise each may choose its own. */
typedef enum {
  INDIVIDUAL,
  AT,
  INDIVIDUAL_LATER, /* MPI_File_iwrite */
  AT_LATER,
  LARGE_COUNT, /* MPI_File_write_c */
  ALONE,       /* number of forms that are not collective */
  ALL = ALONE,
  AT_ALL,
  ALL_LATER,
  AT_ALL_LATER,
  ALL_SPLIT, /* MPI_File_write_all_begin and _end */
  AT_ALL_SPLIT,
  ALL_LARGE_COUNT,
  ACCESSES
} Access;

typedef struct {
  Program* program;
  MPI_Comm comm;
  MPI_File file;
  int rank, size;
  Basic basic;
  int groups; ///< groups that each rank writes
  int period; ///< consecutive elements of a rank in the file
  uint64_t salt;
} Use;

/** Calls a form that writes or reads, for instance MPI_File_write_all and MPI_File_read_all. */
#define ACCESS(use, writes, form, ...)                                                                                 \
  ((writes) ? MPI_File_write##form((use)->file, __VA_ARGS__) : MPI_File_read##form((use)->file, __VA_ARGS__))
#define ACCESS_LATER(use, writes, form, ...)                                                                           \
  ((writes) ? MPI_File_iwrite##form((use)->file, __VA_ARGS__) : MPI_File_iread##form((use)->file, __VA_ARGS__))

/** Accesses @p count elements of a type at the individual pointer, which is at element @p at of the view. */
static void access_file(const Use* use, Access access, int writes, void* data, int count, MPI_Datatype type,
                        MPI_Offset at, MPI_Status* status)
{
  MPI_Request request;
  switch (access) {
    case INDIVIDUAL:
      ACCESS(use, writes, , data, count, type, status);
      break;
    case AT:
      ACCESS(use, writes, _at, at, data, count, type, status);
      break;
    case INDIVIDUAL_LATER:
      ACCESS_LATER(use, writes, , data, count, type, &request);
      MPI_Wait(&request, status);
      break;
    case AT_LATER:
      ACCESS_LATER(use, writes, _at, at, data, count, type, &request);
      MPI_Wait(&request, status);
      break;
    case LARGE_COUNT:
      ACCESS(use, writes, _c, data, count, type, status);
      break;
    case ALL:
      ACCESS(use, writes, _all, data, count, type, status);
      break;
    case AT_ALL:
      ACCESS(use, writes, _at_all, at, data, count, type, status);
      break;
    case ALL_LATER:
      ACCESS_LATER(use, writes, _all, data, count, type, &request);
      MPI_Wait(&request, status);
      break;
    case AT_ALL_LATER:
      ACCESS_LATER(use, writes, _at_all, at, data, count, type, &request);
      MPI_Wait(&request, status);
      break;
    case ALL_SPLIT:
      ACCESS(use, writes, _all_begin, data, count, type);
      ACCESS(use, writes, _all_end, data, status);
      break;
    case AT_ALL_SPLIT:
      ACCESS(use, writes, _at_all_begin, at, data, count, type);
      ACCESS(use, writes, _at_all_end, data, status);
      break;
    default:
      ACCESS(use, writes, _all_c, data, count, type, status);
  }
}

static int is_explicit(Access access)
{
  return access == AT || access == AT_LATER || access == AT_ALL || access == AT_ALL_LATER || access == AT_ALL_SPLIT;
}

static Access draw_access(Program* program)
{
  const int collective = once_in(&program->all, 2);
  const Access shared  = (Access)(ALONE + below(&program->all, ACCESSES - ALONE));
  const Access own     = (Access)below(&program->mine, ALONE);
  return collective ? shared : own;
}

/** Shows the elements of @p rank: `period` of every `period * size`. */
static void view(const Use* use, int rank)
{
  MPI_Datatype part, type;
  const MPI_Aint extent = (MPI_Aint)use->period * use->size * use->basic.size;
  const MPI_Offset from = (MPI_Offset)use->period * rank * use->basic.size;
  MPI_Type_contiguous(use->period, use->basic.type, &part);
  MPI_Type_create_resized(part, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(use->file, from, use->basic.type, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  MPI_Type_free(&part);
}

/** Writes or reads the buffer of @p call in two accesses, whose random sizes may differ between ranks. */
static void access_all(const Use* use, int writes, Call* call)
{
  const Buffer* buffer = writes ? &call->send : &call->receive;
  const int whole = buffer->counts[0], cut = below(&use->program->mine, whole + 1);
  const int starts[3] = {0, cut, whole};
  for (int part = 0; part < 2; part++) {
    MPI_Status status;
    int counted;
    const Access access = draw_access(use->program);
    const int count     = starts[part + 1] - starts[part];
    const MPI_Offset at = (MPI_Offset)starts[part] * buffer->layout.elements;
    if (!is_explicit(access))
      MPI_File_seek(use->file, at, MPI_SEEK_SET);
    access_file(use, access, writes, buffer->origin + starts[part] * buffer->layout.extent, count, buffer->layout.type,
                at, &status);
    MPI_Get_count(&status, buffer->layout.type, &counted);
    if (counted != count)
      note_wrong(use->program, "count of an access to a file");
  }
}

/** Writes with the shared pointer, in rank order or in any order. */
static void write_shared(const Use* use, Call* call, int ordered)
{
  const Buffer* buffer = &call->send;
  MPI_Request request;
  MPI_File_seek_shared(use->file, 0, MPI_SEEK_SET);
  if (!ordered)
    for (int rank = 0; rank < use->size; rank++) { // still in rank order
      if (rank == use->rank && rank % 2)
        MPI_File_write_shared(use->file, buffer->address, buffer->counts[0], buffer->layout.type, MPI_STATUS_IGNORE);
      else if (rank == use->rank) {
        MPI_File_iwrite_shared(use->file, buffer->address, buffer->counts[0], buffer->layout.type, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      MPI_Barrier(use->comm);
    }
  else if (ordered == 1)
    MPI_File_write_ordered(use->file, buffer->address, buffer->counts[0], buffer->layout.type, MPI_STATUS_IGNORE);
  else {
    MPI_File_write_ordered_begin(use->file, buffer->address, buffer->counts[0], buffer->layout.type);
    MPI_File_write_ordered_end(use->file, buffer->address, MPI_STATUS_IGNORE);
  }
}

void use_file(Program* program, MPI_Comm comm)
{
  Draw* all = &program->all;
  Use use   = {.program = program, .comm = comm, .salt = salt_of(program, comm)};
  char name[64];
  MPI_Comm_rank(comm, &use.rank);
  MPI_Comm_size(comm, &use.size);
  use.basic        = draw_basic(all);
  use.groups       = 1 + below(all, once_in(all, 4) ? 400 : 8);
  const int shared = below(all, 6); // below 3: with the shared pointer
  use.period       = shared < 3 ? use.groups * GROUP : 1 + below(all, 40);
  const int other  = (use.rank + 1 + below(all, 5)) % use.size;
  Call* out        = new_call("write", comm, BLOCKING);
  Call* in         = new_call("read", comm, BLOCKING);
  out->send        = make_buffer(&program->mine, use.basic, 1, &use.groups, 0);
  in->receive      = make_buffer(&program->mine, use.basic, 1, &use.groups, 0);
  out->gives = in->gets = 1;
  fill(&out->send, 0, mixed(use.salt, (uint64_t)use.rank));
  expect(&in->receive, 0, mixed(use.salt, (uint64_t)other));
  snprintf(name, sizeof name, "random-%llx", (unsigned long long)use.salt);
  MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &use.file);
  if (shared < 3)
    write_shared(&use, out, shared);
  else {
    view(&use, use.rank);
    access_all(&use, 1, out);
  }
  MPI_File_sync(use.file);
  MPI_Barrier(comm);
  MPI_File_sync(use.file);
  view(&use, other);
  access_all(&use, 0, in);
  MPI_File_close(&use.file);
  end_call(program, out);
  end_call(program, in);
}
