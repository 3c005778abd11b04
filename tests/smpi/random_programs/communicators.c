/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communicators created by all of MPI's functions. A rank's index in the new one is also computed here. */
#include "program.h"

#include <stdio.h>

typedef enum {
  DUPLICATE,
  DUPLICATE_LATER,     /* MPI_Comm_idup */
  DUPLICATE_WITH_INFO, /* MPI_Comm_dup_with_info */
  SPLIT_MODULO,
  SPLIT_BLOCKS,
  SOME,       /* MPI_Comm_create */
  SOME_ALONE, /* MPI_Comm_create_group: only the members call it */
  SESSION,    /* MPI_Comm_create_from_group of a session's process set */
  MERGE,      /* MPI_Intercomm_create and MPI_Intercomm_merge */
  GRID,       /* MPI_Cart_create */
  WAYS
} Way;

/** Method of creating a communicator, shared by all ranks of the old one. */
typedef struct {
  Way way;
  int by;
  int size; ///< ranks of the old communicator
  uint64_t salt;
} Making;

/** Returns the part to which a rank of the old communicator belongs, or MPI_UNDEFINED. */
static int color_of(const Making* making, int rank)
{
  switch (making->way) {
    case SPLIT_MODULO:
      return rank % making->by;
    case SPLIT_BLOCKS:
      return rank / 3 == making->by ? MPI_UNDEFINED : rank / (making->by + 1);
    case SOME:
    case SOME_ALONE:
    case SESSION:
      return mixed(making->salt, (uint64_t)rank) % 4 < (uint64_t)making->by ? 0 : MPI_UNDEFINED;
    default:
      return 0;
  }
}

/** Returns the key that orders the ranks of a part; equal keys keep the order of the old communicator. */
static int key_of(const Making* making, int rank)
{
  switch (making->way) {
    case SPLIT_BLOCKS:
    case SOME:
    case SOME_ALONE:
    case SESSION:
      return -rank;
    case MERGE:
      return (rank + making->by) % 2;
    default:
      return 0;
  }
}

/** Lists the ranks of the old communicator in the part of @p color, in the order of the new one. */
static int list_members(const Making* making, int color, int* members)
{
  int count = 0;
  for (int rank = 0; rank < making->size; rank++) {
    if (color_of(making, rank) != color)
      continue;
    int at = count++;
    for (; at > 0 && key_of(making, members[at - 1]) > key_of(making, rank); at--)
      members[at] = members[at - 1];
    members[at] = rank;
  }
  return count;
}

static MPI_Comm create_from_session(Program* program, MPI_Comm old, const int* members, int count, uint64_t salt)
{
  MPI_Group group, world, sessions, part;
  MPI_Comm made;
  int ranks[MOST_RANKS];
  char tag[64];
  MPI_Comm_group(old, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, count, members, world, ranks);
  MPI_Group_from_session_pset(program->session, "mpi://WORLD", &sessions);
  MPI_Group_incl(sessions, count, ranks, &part);
  snprintf(tag, sizeof tag, "random programs %llx", (unsigned long long)salt);
  MPI_Comm_create_from_group(part, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&part);
  MPI_Group_free(&sessions);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return made;
}

static MPI_Comm create_from_group(const Program* program, MPI_Comm old, Way way, const int* members, int count)
{
  MPI_Group group, part;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(old, &group);
  MPI_Group_incl(group, count, members, &part);
  if (way == SOME)
    MPI_Comm_create(old, part, &made);
  else
    MPI_Comm_create_group(old, part, program->step, &made);
  MPI_Group_free(&part);
  MPI_Group_free(&group);
  return made;
}

/** Merges the even and the odd ranks. */
static MPI_Comm merge(const Program* program, MPI_Comm old, int rank, int high)
{
  MPI_Comm local, across, made;
  MPI_Comm_split(old, rank % 2, 0, &local);
  MPI_Intercomm_create(local, 0, old, 1 - rank % 2, program->step, &across);
  MPI_Intercomm_merge(across, high, &made);
  MPI_Comm_free(&across);
  MPI_Comm_free(&local);
  return made;
}

static MPI_Comm make(Program* program, MPI_Comm old, const Making* making, int rank)
{
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  MPI_Info info;
  const int color = color_of(making, rank), none = 0;
  int members[MOST_RANKS];
  const int count = list_members(making, 0, members);
  if (program->old && making->way != DUPLICATE) {
    MPI_Comm_split(old, color, key_of(making, rank), &made);
    return made;
  }
  switch (making->way) {
    case DUPLICATE:
      MPI_Comm_dup(old, &made);
      break;
    case DUPLICATE_LATER:
      MPI_Comm_idup(old, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case DUPLICATE_WITH_INFO:
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
      MPI_Comm_dup_with_info(old, info, &made);
      MPI_Info_free(&info);
      break;
    case SOME:
      made = create_from_group(program, old, making->way, members, count);
      break;
    case SOME_ALONE:
      if (color == 0)
        made = create_from_group(program, old, making->way, members, count);
      break;
    case SESSION:
      if (color == 0)
        made = create_from_session(program, old, members, count, making->salt);
      break;
    case MERGE:
      made = merge(program, old, rank, key_of(making, rank));
      break;
    case GRID:
      MPI_Cart_create(old, 1, &making->size, &none, 0, &made);
      break;
    default:
      MPI_Comm_split(old, color, key_of(making, rank), &made);
  }
  return made;
}

static void check(Program* program, MPI_Comm made, const Making* making, int rank)
{
  int members[MOST_RANKS], own, size;
  const int color = color_of(making, rank);
  if (color == MPI_UNDEFINED || made == MPI_COMM_NULL) {
    if ((color == MPI_UNDEFINED) != (made == MPI_COMM_NULL))
      note_wrong(program, "membership in a communicator");
    return;
  }
  const int count = list_members(making, color, members);
  MPI_Comm_rank(made, &own);
  MPI_Comm_size(made, &size);
  if (size != count || own >= size || members[own] != rank)
    note_wrong(program, "rank in a communicator");
}

void make_communicator(Program* program)
{
  const int from = below(&program->all, MOST_COMMUNICATORS);
  const int to   = 1 + below(&program->all, MOST_COMMUNICATORS - 1);
  Making making  = {.way = (Way)below(&program->all, WAYS), .by = 1 + below(&program->all, 3)};
  if (program->communicators[to] != MPI_COMM_NULL && to != from)
    MPI_Comm_free(&program->communicators[to]);
  const MPI_Comm old = program->communicators[from];
  if (old == MPI_COMM_NULL || to == from)
    return;
  int rank;
  MPI_Comm_rank(old, &rank);
  MPI_Comm_size(old, &making.size);
  making.salt = salt_of(program, old);
  if (making.way == MERGE && making.size == 1)
    making.way = DUPLICATE;
  program->communicators[to] = make(program, old, &making, rank);
  check(program, program->communicators[to], &making, rank);
}

void free_communicator(Program* program)
{
  MPI_Comm* comm = &program->communicators[1 + below(&program->all, MOST_COMMUNICATORS - 1)];
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}
