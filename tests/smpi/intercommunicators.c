/* SPDX-License-Identifier: LGPL-2.1-only */
/* Intercommunicators.
 *
 * intercommunicators basics           creation, queries, copies, parts, merging
 * intercommunicators messages SEED    random messages, compared with the data that their senders computed
 * intercommunicators collectives SEED CASES   random collectives, likewise
 * intercommunicators wrong CASE [return]   a call with wrong arguments, which returns or is fatal */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static unsigned state;

static int draw(int below)
{
  state = state * 1103515245u + 12345u;
  return (int)(state / 65536u % 32768u) % below;
}

static void check(int right, const char* what)
{
  if (!right)
    printf("rank %d: wrong %s\n", rank, what);
}

/* Creates an intercommunicator between the ranks below `below` and the rest; *side is this rank's side. */
static MPI_Comm make(int below, int* side, MPI_Comm* local)
{
  MPI_Comm made;
  *side = rank >= below;
  MPI_Comm_split(MPI_COMM_WORLD, *side, rank, local);
  int others_leader = *side ? draw(below) : below + draw(size - below);
  int low = draw(below), high = draw(size - below);
  (void)others_leader;
  MPI_Intercomm_create(*local, *side ? high : low, MPI_COMM_WORLD, *side ? low : below + high, 5, &made);
  return made;
}

static int world_rank(MPI_Group group, int of)
{
  MPI_Group world;
  int its = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &of, world, &its);
  return its;
}

static void check_sides(MPI_Comm comm, int below, int side, const char* what)
{
  int inter = 0, own = -1, own_size = -1, others = -1;
  MPI_Group local, remote;
  MPI_Comm_test_inter(comm, &inter);
  check(inter, what);
  MPI_Comm_rank(comm, &own);
  check(own == (side ? rank - below : rank), "rank");
  MPI_Comm_size(comm, &own_size);
  check(own_size == (side ? size - below : below), "size");
  MPI_Comm_remote_size(comm, &others);
  check(others == (side ? below : size - below), "remote size");
  MPI_Comm_group(comm, &local);
  MPI_Comm_remote_group(comm, &remote);
  for (int i = 0; i < own_size; i++)
    check(world_rank(local, i) == (side ? below + i : i), "local group");
  for (int i = 0; i < others; i++)
    check(world_rank(remote, i) == (side ? i : below + i), "remote group");
  MPI_Group_free(&local);
  MPI_Group_free(&remote);
}

/* Each rank sends its number to all ranks of the remote group. */
static void cross(MPI_Comm comm, const char* what)
{
  int others, own;
  MPI_Group remote;
  MPI_Comm_remote_size(comm, &others);
  MPI_Comm_rank(comm, &own);
  MPI_Comm_remote_group(comm, &remote);
  MPI_Request requests[2 * 64];
  int got[64];
  for (int i = 0; i < others; i++) {
    MPI_Irecv(got + i, 1, MPI_INT, i, 3, comm, requests + i);
    MPI_Isend(&rank, 1, MPI_INT, i, 3, comm, requests + others + i);
  }
  MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < others; i++)
    check(got[i] == world_rank(remote, i), what);
  MPI_Group_free(&remote);
}

static int copies, deletions;

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag)
{
  (void)comm, (void)key, (void)extra;
  *(void**)copy = value;
  *flag         = 1;
  copies++;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra)
{
  int others = -1;
  (void)key, (void)value, (void)extra;
  MPI_Comm_remote_size(comm, &others);
  check(others > 0, "intercommunicator while it is freed");
  deletions++;
  return MPI_SUCCESS;
}

static void check_copies(MPI_Comm comm, int below, int side)
{
  MPI_Comm copy, with_info, later;
  MPI_Request request;
  MPI_Info info;
  int key, result, flag = 0, length = 0, number = 7, *value = NULL;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
  MPI_Comm_set_attr(comm, key, &number);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_name(comm, "across");
  MPI_Comm_get_name(comm, name, &length);
  check(strcmp(name, "across") == 0, "name");
  MPI_Comm_dup(comm, &copy);
  check_sides(copy, below, side, "copy");
  MPI_Comm_compare(comm, copy, &result);
  check(result == MPI_CONGRUENT, "comparison with a copy");
  MPI_Comm_compare(comm, comm, &result);
  check(result == MPI_IDENT, "comparison with itself");
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
  check(result == MPI_UNEQUAL, "comparison with an intracommunicator");
  MPI_Comm_get_attr(copy, key, &value, &flag);
  check(flag && *value == 7, "copied attribute");
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(copy, &handler);
  check(handler == MPI_ERRORS_RETURN, "copied error handler");
  MPI_Info_create(&info);
  MPI_Comm_dup_with_info(comm, info, &with_info);
  MPI_Info_free(&info);
  MPI_Comm_idup(comm, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int tag = side;
  /* Messages of different intercommunicators do not match. */
  if (rank == 0 || rank == below) {
    int sent[3] = {rank, rank + 100, rank + 200}, got[3] = {-1, -1, -1};
    MPI_Request requests[3];
    MPI_Irecv(got + 2, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, later, requests);
    MPI_Irecv(got + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, with_info, requests + 1);
    MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, requests + 2);
    MPI_Send(sent, 1, MPI_INT, 0, tag, copy);
    MPI_Send(sent + 1, 1, MPI_INT, 0, tag, with_info);
    MPI_Send(sent + 2, 1, MPI_INT, 0, tag, later);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    int other = rank == 0 ? below : 0;
    check(got[0] == other && got[1] == other + 100 && got[2] == other + 200, "messages of copies");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  cross(later, "message of a copy");
  MPI_Comm_free(&copy);
  MPI_Comm_free(&with_info);
  MPI_Comm_disconnect(&later);
  check(copies == 3 && deletions == 3, "number of attributes copied and deleted");
  MPI_Comm_delete_attr(comm, key);
}

static void check_merging(MPI_Comm comm, int below, int side)
{
  for (int high = 0; high < 2; high++) {
    MPI_Comm all;
    int own, sum = 0, inter = 1;
    MPI_Intercomm_merge(comm, high ? side : !side, &all);
    MPI_Comm_rank(all, &own);
    MPI_Comm_test_inter(all, &inter);
    int expected = side ? rank - below : rank;
    if (high)
      expected = rank;
    else if (!side)
      expected = size - below + rank;
    check(own == expected && !inter, "merged communicator");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    check(sum == size * (size - 1) / 2, "sum over the merged communicator");
    MPI_Comm_free(&all);
  }
  MPI_Comm all;
  int same = -1, count = 0;
  MPI_Intercomm_merge(comm, 0, &all);
  MPI_Comm_rank(all, &same);
  MPI_Comm_size(all, &count);
  check(count == size && same >= 0, "merged communicator of two low groups");
  MPI_Comm_free(&all);
}

static void check_parts(MPI_Comm comm, int below, int side)
{
  MPI_Comm part;
  int own, own_size, others;
  /* One part with the first rank of each side, one with all others; the latter is empty on a side of one rank. */
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &own_size);
  MPI_Comm_remote_size(comm, &others);
  MPI_Comm_split(comm, own > 0, -own, &part);
  if (own > 0 && others == 1) {
    check(part == MPI_COMM_NULL, "part of one side");
  } else {
    int in_part = -1, across = -1;
    MPI_Comm_rank(part, &in_part);
    MPI_Comm_remote_size(part, &across);
    check(in_part == (own > 0 ? own_size - 1 - own : 0) && across == (own > 0 ? others - 1 : 1), "part");
    cross(part, "message of a part");
    MPI_Comm_free(&part);
  }
  MPI_Comm_split(comm, side ? 1 : MPI_UNDEFINED, 0, &part);
  check(part == MPI_COMM_NULL, "part without a side");
  MPI_Group local, last;
  int only = own_size - 1;
  MPI_Comm_group(comm, &local);
  MPI_Group_incl(local, 1, &only, &last);
  MPI_Comm_create(comm, last, &part);
  if (own == only) {
    MPI_Comm_remote_size(part, &others);
    check(others == 1, "created part");
    cross(part, "message of a created part");
    MPI_Comm_free(&part);
  } else {
    check(part == MPI_COMM_NULL, "created part of others");
  }
  MPI_Comm_create(comm, side ? last : MPI_GROUP_EMPTY, &part);
  check(part == MPI_COMM_NULL, "created part without a side");
  MPI_Group_free(&last);
  MPI_Group_free(&local);
  (void)below;
}

static void basics(void)
{
  for (int below = 1; below < size; below++) {
    int side;
    MPI_Comm local, comm = make(below, &side, &local);
    copies = deletions = 0;
    check_sides(comm, below, side, "intercommunicator");
    cross(comm, "message");
    check_copies(comm, below, side);
    check_merging(comm, below, side);
    check_parts(comm, below, side);
    MPI_Comm_free(&comm);
    check(comm == MPI_COMM_NULL, "freed handle");
    MPI_Comm_free(&local);
  }
}

enum { LARGEST = 40000, MESSAGES = 12, WAYS = 12 };

/* The messages on intercommunicator number `round`, each from one rank to a remote one. All ranks draw the same
 * messages; a rank sends and receives its own in this order. */
static void exchange(MPI_Comm comm, int below, int side)
{
  static char sent[LARGEST], got[LARGEST];
  static int number; /* number of the message, with which MPI_ANY_SOURCE matches only this message */
  for (int message = 0; message < MESSAGES; message++) {
    const int from_side = draw(2), low = draw(below), high = draw(size - below), tag = number++, any = draw(3);
    const int length = draw(2) ? draw(200) : draw(LARGEST), way = draw(WAYS), value = draw(100);
    const int own = side ? rank - below : rank;
    MPI_Status status;
    MPI_Request request;
    MPI_Message matched;
    int count = -1, flag = 0;
    memset(sent, value, (size_t)length);
    memset(got, -1, (size_t)length);
    if (side == from_side && own == (side ? high : low)) {
      const int to = side ? low : high;
      if (way == 0)
        MPI_Ssend(sent, length, MPI_CHAR, to, tag, comm);
      else if (way == 1) {
        MPI_Issend(sent, length, MPI_CHAR, to, tag, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else if (way == 2) {
        MPI_Send_init(sent, length, MPI_CHAR, to, tag, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
      } else if (way == 3) {
        static char buffer[LARGEST + 4096];
        int detached;
        void* attached;
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(sent, length, MPI_CHAR, to, tag, comm);
        MPI_Buffer_detach(&attached, &detached);
      } else if (way == 4) {
        MPI_Sendrecv(sent, length, MPI_CHAR, to, tag, got, 1, MPI_CHAR, MPI_PROC_NULL, 0, comm, &status);
        check(status.MPI_SOURCE == MPI_PROC_NULL, "status of MPI_PROC_NULL");
      } else if (way == 5) {
        MPI_Psend_init(sent, 1, length, MPI_CHAR, to, tag, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
      } else
        MPI_Send(sent, length, MPI_CHAR, to, tag, comm);
    } else if (side != from_side && own == (side ? high : low)) {
      const int source = side ? low : high;
      const int from = any ? source : MPI_ANY_SOURCE, with = any == 1 ? MPI_ANY_TAG : tag;
      if (way == 5) {
        MPI_Precv_init(got, 1, length, MPI_CHAR, source, tag, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        check(memcmp(sent, got, (size_t)length) == 0, "partitioned data");
        continue;
      } else if (way == 6) {
        MPI_Probe(from, with, comm, &status);
        check(status.MPI_SOURCE == source && status.MPI_TAG == tag, "status of a probe");
        MPI_Recv(got, length, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      } else if (way == 7) {
        MPI_Mprobe(from, with, comm, &matched, &status);
        check(status.MPI_SOURCE == source && status.MPI_TAG == tag, "status of a matched probe");
        MPI_Mrecv(got, length, MPI_CHAR, &matched, &status);
      } else if (way == 8) {
        while (!flag)
          MPI_Iprobe(from, with, comm, &flag, &status);
        MPI_Irecv(got, length, MPI_CHAR, from, with, comm, &request);
        MPI_Wait(&request, &status);
      } else if (way == 9) {
        MPI_Recv_init(got, length, MPI_CHAR, from, with, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
      } else if (way == 10)
        MPI_Sendrecv(sent, 1, MPI_CHAR, MPI_PROC_NULL, 0, got, length, MPI_CHAR, from, with, comm, &status);
      else
        MPI_Recv(got, length, MPI_CHAR, from, with, comm, &status);
      MPI_Get_count(&status, MPI_CHAR, &count);
      check(status.MPI_SOURCE == source && status.MPI_TAG == tag && count == length, "status");
      check(memcmp(sent, got, (size_t)length) == 0, "data");
    }
  }
}

static void messages(unsigned seed)
{
  enum { MOST = 6 };
  MPI_Comm comms[MOST], locals[MOST];
  int below[MOST], side[MOST];
  state = seed;
  for (int i = 0; i < MOST; i++) {
    below[i] = 1 + draw(size - 1);
    comms[i] = make(below[i], side + i, locals + i);
  }
  for (int round = 0; round < 2 * MOST; round++) {
    const int i = draw(MOST);
    exchange(comms[i], below[i], side[i]);
  }
  for (int i = 0; i < MOST; i++) {
    MPI_Comm_free(comms + i);
    MPI_Comm_free(locals + i);
  }
}

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

enum { MOST_RANKS = 16, MOST_COUNT = 700, CALLS = 16 };

/* Returns element `i` that rank `from` of MPI_COMM_WORLD sends to rank `to`, or to all ranks of a group (to < 0), in
 * call number `call`. */
static int element(int call, int from, int to, int i)
{
  return call * 7919 + from * 101 + (to + 1) * 13 + i;
}

static int not_commutative_calls;

/* (a, b) and (c, d) represent x -> a x + b and x -> c x + d, whose composition does not commute. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type)
{
  (void)type;
  const unsigned* first = in;
  unsigned* second      = inout;
  for (int i = 0; i < 2 * *length; i += 2) {
    const unsigned a = first[i] * second[i], b = first[i + 1] * second[i] + second[i + 1];
    second[i]     = a;
    second[i + 1] = b;
  }
  not_commutative_calls++;
}

struct group {
  int side, below, own, others, first, other_first; /* first: a group's first rank in MPI_COMM_WORLD */
};

static int length_of(int call, int from, int to) /* of blocks in the v and w forms */
{
  return (call * 3 + from * 5 + to * 7) % 4;
}

static void finish(MPI_Request* request, int way)
{
  if (way == 2)
    MPI_Start(request);
  if (way > 0)
    MPI_Wait(request, MPI_STATUS_IGNORE);
  if (way == 2)
    MPI_Request_free(request);
}

/* Makes a call blocking (way 0), non-blocking or persistent. */
#define MAKE(name, ...)                                                                                                \
  do {                                                                                                                 \
    if (way == 0)                                                                                                      \
      MPI_##name(__VA_ARGS__);                                                                                         \
    else if (way == 1)                                                                                                 \
      MPI_I##name##_(__VA_ARGS__, &request);                                                                           \
    else                                                                                                               \
      MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                                         \
    finish(&request, way);                                                                                             \
  } while (0)
#define MPI_IBarrier_ MPI_Ibarrier
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IGather_ MPI_Igather
#define MPI_IGatherv_ MPI_Igatherv
#define MPI_IScatter_ MPI_Iscatter
#define MPI_IScatterv_ MPI_Iscatterv
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IAllgatherv_ MPI_Iallgatherv
#define MPI_IAlltoall_ MPI_Ialltoall
#define MPI_IAlltoallv_ MPI_Ialltoallv
#define MPI_IAlltoallw_ MPI_Ialltoallw
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IReduce_scatter_ MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block

static int sent[MOST_RANKS * MOST_COUNT], got[MOST_RANKS * MOST_COUNT];

/* Reduces the pairs of the remote group's ranks, for comparison. */
static void reduce_others(const struct group* its, int call, int count, int ordered, unsigned* result)
{
  unsigned next[2 * MOST_COUNT];
  int length = count;
  for (int other = 0; other < its->others; other++) {
    for (int i = 0; i < 2 * count; i++)
      next[i] = (unsigned)element(call, its->other_first + other, -1, i);
    if (other == 0)
      memcpy(result, next, sizeof next[0] * 2 * (size_t)count);
    else if (ordered) {
      compose(result, next, &length, NULL);
      memcpy(result, next, sizeof next[0] * 2 * (size_t)count);
    } else
      for (int i = 0; i < 2 * count; i++)
        result[i] += next[i];
  }
}

static void check_reduced(const struct group* its, int call, int count, int ordered, int first, int length,
                          const char* what)
{
  static unsigned result[2 * MOST_COUNT];
  reduce_others(its, call, count, ordered, result);
  check(memcmp(got, result + 2 * first, 2 * (size_t)length * sizeof(int)) == 0, what);
}

static void collective(MPI_Comm comm, const struct group* its, int call)
{
  static MPI_Op composition;
  static MPI_Datatype pair;
  if (pair == MPI_DATATYPE_NULL || !pair) {
    MPI_Op_create(compose, 0, &composition);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
  }
  const int kind = draw(CALLS), way = draw(3), large = draw(2), count = large ? 1 + draw(MOST_COUNT / 16) : draw(4);
  const int root_side = draw(2), low = draw(its->below), high = draw(size - its->below), ordered = draw(2);
  const int root_place = root_side ? high : low, place = rank - its->first;
  const int is_root    = its->side == root_side && place == root_place;
  const int root       = its->side != root_side ? root_place : is_root ? MPI_ROOT : MPI_PROC_NULL;
  const int root_world = root_side ? its->below + high : low, gets = its->side != root_side;
  int counts[MOST_RANKS], from[MOST_RANKS], send_counts[MOST_RANKS], to[MOST_RANKS], at = 0, send_at = 0;
  MPI_Datatype types[MOST_RANKS];
  MPI_Request request;
  memset(got, -1, sizeof got);
  for (int i = 0; i < its->others; i++) {
    counts[i]      = length_of(call, its->other_first + i, rank);
    send_counts[i] = length_of(call, rank, its->other_first + i);
    from[i]        = at, at += counts[i] + 1;
    to[i]          = send_at, send_at += send_counts[i] + 1;
    types[i]       = MPI_INT;
  }
  if (kind == 0) {
    MAKE(Barrier, comm);
  } else if (kind == 1) {
    for (int i = 0; i < count; i++)
      sent[i] = element(call, rank, -1, i);
    if (gets)
      MAKE(Bcast, got, count, MPI_INT, root, comm);
    else
      MAKE(Bcast, sent, count, MPI_INT, root, comm);
    for (int i = 0; gets && i < count; i++)
      check(got[i] == element(call, root_world, -1, i), "MPI_Bcast");
  } else if (kind == 2 || kind == 3) { /* gather */
    const int mine = kind == 2 ? count : length_of(call, rank, root_world);
    for (int i = 0; i < mine; i++)
      sent[i] = element(call, rank, -1, i);
    if (kind == 2)
      MAKE(Gather, sent, count, MPI_INT, got, count, MPI_INT, root, comm);
    else
      MAKE(Gatherv, sent, mine, MPI_INT, got, counts, from, MPI_INT, root, comm);
    for (int other = 0; is_root && other < its->others; other++)
      for (int i = 0; i < (kind == 2 ? count : counts[other]); i++)
        check(got[kind == 2 ? other * count + i : from[other] + i] == element(call, its->other_first + other, -1, i),
              "MPI_Gather(v)");
  } else if (kind == 4 || kind == 5) { /* scatter */
    for (int other = 0; is_root && other < its->others; other++)
      for (int i = 0; i < (kind == 4 ? count : send_counts[other]); i++)
        sent[kind == 4 ? other * count + i : to[other] + i] = element(call, rank, its->other_first + other, i);
    const int mine = kind == 4 ? count : length_of(call, root_world, rank);
    if (kind == 4)
      MAKE(Scatter, sent, count, MPI_INT, got, count, MPI_INT, root, comm);
    else
      MAKE(Scatterv, sent, send_counts, to, MPI_INT, got, mine, MPI_INT, root, comm);
    for (int i = 0; gets && i < mine; i++)
      check(got[i] == element(call, root_world, rank, i), "MPI_Scatter(v)");
  } else if (kind == 6 || kind == 7) { /* allgather: each side has its own length */
    const int mine   = kind == 6 ? (its->side ? count : 2 * count) : length_of(call, rank, 0);
    const int theirs = its->side ? 2 * count : count;
    for (int i = 0; i < mine; i++)
      sent[i] = element(call, rank, -1, i);
    for (int i = 0, next = 0; i < its->others; i++) {
      counts[i] = length_of(call, its->other_first + i, 0);
      from[i]   = next, next += counts[i] + 1;
    }
    if (kind == 6)
      MAKE(Allgather, sent, mine, MPI_INT, got, theirs, MPI_INT, comm);
    else
      MAKE(Allgatherv, sent, mine, MPI_INT, got, counts, from, MPI_INT, comm);
    for (int other = 0; other < its->others; other++)
      for (int i = 0; i < (kind == 6 ? theirs : counts[other]); i++)
        check(got[kind == 6 ? other * theirs + i : from[other] + i] == element(call, its->other_first + other, -1, i),
              "MPI_Allgather(v)");
  } else if (kind == 8) {
    for (int other = 0; other < its->others; other++)
      for (int i = 0; i < count; i++)
        sent[other * count + i] = element(call, rank, its->other_first + other, i);
    MAKE(Alltoall, sent, count, MPI_INT, got, count, MPI_INT, comm);
    for (int other = 0; other < its->others; other++)
      for (int i = 0; i < count; i++)
        check(got[other * count + i] == element(call, its->other_first + other, rank, i), "MPI_Alltoall");
  } else if (kind == 9 || kind == 10) {
    for (int other = 0; other < its->others; other++)
      for (int i = 0; i < send_counts[other]; i++)
        sent[to[other] + i] = element(call, rank, its->other_first + other, i);
    if (kind == 9)
      MAKE(Alltoallv, sent, send_counts, to, MPI_INT, got, counts, from, MPI_INT, comm);
    else {
      int from_bytes[MOST_RANKS], to_bytes[MOST_RANKS];
      for (int i = 0; i < its->others; i++)
        from_bytes[i] = 4 * from[i], to_bytes[i] = 4 * to[i];
      MAKE(Alltoallw, sent, send_counts, to_bytes, types, got, counts, from_bytes, types, comm);
    }
    for (int other = 0; other < its->others; other++)
      for (int i = 0; i < counts[other]; i++)
        check(got[from[other] + i] == element(call, its->other_first + other, rank, i), "MPI_Alltoall(v,w)");
  } else { /* reductions of pairs */
    const MPI_Datatype type = ordered ? pair : MPI_INT;
    const MPI_Op op         = ordered ? composition : MPI_SUM;
    const int unit          = ordered ? 1 : 2;
    for (int i = 0; i < 2 * MOST_COUNT; i++)
      sent[i] = element(call, rank, -1, i);
    if (kind == 11 || kind == 12) {
      MAKE(Allreduce, sent, got, unit * count, type, op, comm);
      check_reduced(its, call, count, ordered, 0, count, "MPI_Allreduce");
    } else if (kind == 13) {
      MAKE(Reduce, sent, got, unit * count, type, op, root, comm);
      if (is_root)
        check_reduced(its, call, count, ordered, 0, count, "MPI_Reduce");
    } else if (kind == 14) { /* as many blocks as both groups divide */
      const int total = its->own * its->others * (1 + count % 2);
      if (total <= MOST_COUNT) {
        const int block = total / its->own;
        MAKE(Reduce_scatter_block, sent, got, unit * block, type, op, comm);
        check_reduced(its, call, total, ordered, place * block, block, "MPI_Reduce_scatter_block");
      }
    } else { /* the first rank gets the remainder */
      const int total = its->own + its->others + count;
      for (int i = 0; i < its->own; i++)
        counts[i] = unit * (i == 0 ? total - its->own + 1 : 1);
      MAKE(Reduce_scatter, sent, got, counts, type, op, comm);
      check_reduced(its, call, total, ordered, place == 0 ? 0 : total - its->own + place, counts[place] / unit,
                    "MPI_Reduce_scatter");
    }
  }
}

static void collectives(unsigned seed, int cases)
{
  enum { MOST = 4 };
  MPI_Comm comms[MOST], locals[MOST];
  struct group its[MOST];
  state = seed;
  for (int i = 0; i < MOST; i++) {
    const int below = 1 + draw(size - 1);
    comms[i]        = make(below, &its[i].side, locals + i);
    its[i].below = below, its[i].own = its[i].side ? size - below : below, its[i].others = size - its[i].own;
    its[i].first = its[i].side ? below : 0, its[i].other_first = its[i].side ? 0 : below;
  }
  for (int call = 0; call < cases; call++) {
    const int i = draw(MOST);
    collective(comms[i], its + i, call);
  }
  for (int i = 0; i < MOST; i++) {
    MPI_Comm_free(comms + i);
    MPI_Comm_free(locals + i);
  }
}

static int seen;

static void note(MPI_Comm* comm, int* code, ...)
{
  (void)comm;
  MPI_Error_class(*code, &seen);
}

/* Rank 1 is in both groups: {0, 1} and {1, 2}. */
static int overlap(MPI_Errhandler handler)
{
  MPI_Comm comms[2], made;
  int code = MPI_ERR_COMM;
  seen     = MPI_ERR_COMM; /* on all other ranks */
  for (int second = 0; second < 2; second++)
    MPI_Comm_split(MPI_COMM_WORLD, rank == second || rank == second + 1 ? 0 : MPI_UNDEFINED, rank, comms + second);
  for (int second = 0; second < 2; second++)
    if (comms[second] != MPI_COMM_NULL) {
      MPI_Comm_set_errhandler(comms[second], handler);
      code = MPI_Intercomm_create(comms[second], second, MPI_COMM_WORLD, second ? 0 : 2, 0, &made);
    }
  return code;
}

static void wrong(const char* which, int returns)
{
  int side, flag;
  MPI_Comm local, comm = make(size / 2, &side, &local), made;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  for (int i = 0; i < 3 && returns; i++)
    MPI_Comm_set_errhandler(i == 0 ? comm : i == 1 ? local : MPI_COMM_WORLD, handler);
  int code = MPI_SUCCESS, expected = MPI_ERR_COMM;
  MPI_Win window;
  int numbers[2] = {0, 0};
  if (strcmp(which, "merge") == 0)
    code = MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made);
  else if (strcmp(which, "remote-size") == 0)
    code = MPI_Comm_remote_size(local, &flag);
  else if (strcmp(which, "create-of-inter") == 0)
    code = MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 0, 0, &made);
  else if (strcmp(which, "leader") == 0)
    code = MPI_Intercomm_create(local, -1, MPI_COMM_WORLD, 0, 0, &made), expected = MPI_ERR_RANK;
  else if (strcmp(which, "remote-leader") == 0) {
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, returns ? handler : MPI_ERRORS_ARE_FATAL);
    code = MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, size, 0, &made), expected = MPI_ERR_RANK;
  } else if (strcmp(which, "tag") == 0)
    code = MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &made), expected = MPI_ERR_TAG;
  else if (strcmp(which, "rank") == 0)
    code = MPI_Send(&rank, 1, MPI_INT, side ? size / 2 : size - size / 2, 0, comm), expected = MPI_ERR_RANK;
  else if (strcmp(which, "scan") == 0)
    code = MPI_Scan(&rank, &flag, 1, MPI_INT, MPI_SUM, comm);
  else if (strcmp(which, "root") == 0)
    code = MPI_Bcast(numbers, 1, MPI_INT, side ? size / 2 : size - size / 2, comm), expected = MPI_ERR_ROOT;
  else if (strcmp(which, "in-place") == 0)
    code = MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, comm), expected = MPI_ERR_BUFFER;
  else if (strcmp(which, "grid") == 0)
    code = MPI_Cart_create(comm, 1, &size, numbers, 0, &made);
  else if (strcmp(which, "graph") == 0)
    code = MPI_Graph_create(comm, 0, numbers, numbers, 0, &made);
  else if (strcmp(which, "neighbors") == 0)
    code = MPI_Neighbor_allgather(&rank, 1, MPI_INT, numbers, 1, MPI_INT, comm);
  else if (strcmp(which, "window") == 0)
    code = MPI_Win_create(numbers, 8, 4, MPI_INFO_NULL, comm, &window);
  else if (strcmp(which, "overlap") == 0)
    code = overlap(returns ? handler : MPI_ERRORS_ARE_FATAL);
  int class = -1;
  MPI_Error_class(code, &class);
  if (returns)
    printf("%s\n", class == expected && seen == expected ? "right" : "wrong");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "basics") == 0)
    basics();
  else if (strcmp(argv[1], "messages") == 0)
    messages((unsigned)atoi(argv[2]));
  else if (strcmp(argv[1], "collectives") == 0)
    collectives((unsigned)atoi(argv[2]), atoi(argv[3]));
  else
    wrong(argv[2], argc > 3);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("done\n");
  MPI_Finalize();
  return 0;
}
