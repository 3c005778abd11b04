/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rounds of random messages: all kinds of send, receive and completion, several communicators, sizes across all
 * thresholds, derived types, and wildcards that only one message can match.
 *
 *   random_messages SEED ROUNDS [alone]
 *   random_messages SEED ROUNDS programs NUMBER
 *
 * alone: includes features that fail in SMPI: cancelled receives, messages to oneself, persistent messages of types
 * with gaps, MPI_ANY_TAG.
 * All ranks draw the same messages. Prints for each rank the number of wrong bytes, a checksum of the statuses and the
 * clock after each round.
 *
 * programs: NUMBER programs in sequence, with seeds starting at SEED. Prints for each the sums over all ranks: wrong
 * bytes, checksums, and times since its start after each round. */
#include "draws.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 48, COMMS = 4, MOST_ROUNDS = 64 };
enum SendKind { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, SEND_INIT, SSEND_INIT, BSEND_INIT, SENDS };
enum Layout { PLAIN, GAPS, CONTIGUOUS };
enum ReceiveKind { IRECV, RECV_INIT, RECV, PROBE, IPROBE, RECEIVES };
enum EndKind { WAITS, WAITALL, WAITANY, WAITSOME, TESTS, TESTALL, TESTANY, TESTSOME, STATUS, ENDS };

typedef struct {
  int from, to, tag, comm, size, layout, send, receive, any_source, twice;
} Message;

static int rank, size, wrong, alone;
static uint64_t sum;
static MPI_Comm comms[COMMS], ring;

static int draw_size(void)
{
  static const int SIZES[] = {0, 1, 7, 512, 1000, 4096, 8191, 8192, 8200, 16384, 65535, 65536, 65537, 100000, 300000};
  return SIZES[below(sizeof SIZES / sizeof *SIZES)];
}

static unsigned char byte_of(const Message* m, int use, int at)
{
  return (unsigned char)(m->from * 131 + m->tag * 31 + use * 7 + at * (at >> 8 | 1));
}

static MPI_Datatype type_of(const Message* m)
{
  MPI_Datatype type = MPI_CHAR;
  if (m->layout == GAPS) /* every other byte */
    MPI_Type_vector(m->size, 1, 2, MPI_CHAR, &type);
  if (m->layout == CONTIGUOUS)
    MPI_Type_contiguous(m->size, MPI_CHAR, &type);
  if (m->layout != PLAIN)
    MPI_Type_commit(&type);
  return type;
}

static void fill(const Message* m, int use, unsigned char* buffer)
{
  const int step = m->layout == GAPS ? 2 : 1;
  for (int i = 0; i < m->size; i++)
    buffer[i * step] = byte_of(m, use, i);
}

static void check(const Message* m, int use, const unsigned char* buffer, const MPI_Status* status)
{
  const int step = m->layout == GAPS ? 2 : 1;
  for (int i = 0; i < m->size; i++)
    wrong += buffer[i * step] != byte_of(m, use, i);
  for (int i = 0; m->layout == GAPS && i < m->size - 1; i++)
    wrong += buffer[i * step + 1] != 0xEE;
  int bytes, source;
  MPI_Get_count(status, MPI_CHAR, &bytes);
  MPI_Comm_rank(comms[m->comm], &source);
  wrong += bytes != m->size || status->MPI_TAG != m->tag;
  sum = sum * 31 + (uint64_t)(bytes + status->MPI_TAG * 7 + status->MPI_SOURCE * 3);
}

static int members[COMMS][1024]; /* rank in the communicator, by rank of all; -1: none */

static int draw_messages(Message* all, int round)
{
  const int count = 1 + below(MOST);
  int made        = 0;
  for (int i = 0; i < count; i++) {
    Message m        = {.tag = MOST * round + i, .comm = below(COMMS), .size = draw_size()};
    const int layout = below(10);
    m.layout         = layout < 2 ? GAPS : layout == 2 ? CONTIGUOUS : PLAIN;
    m.from           = below(size);
    m.to             = below(size);
    if (m.to == m.from && size > 1 && !alone)
      m.to = (m.to + 1) % size;
    m.send    = below(SENDS);
    m.receive = below(RECEIVES);
    if (members[m.comm][m.from] < 0 || members[m.comm][m.to] < 0)
      m.comm = 0;
    const int blocks = m.send == SEND || m.send == SSEND || m.send == RSEND;
    if (blocks && (m.receive == RECV || m.receive == PROBE || m.receive == IPROBE))
      m.receive = IRECV; /* otherwise two would wait for each other */
    m.any_source = below(3) == 0;
    m.twice      = below(2) && (alone || m.layout != GAPS);
    if (m.layout == GAPS && m.size > 20000)
      m.size = 20000;
    all[made++] = m;
  }
  return made;
}

static void end_all(int kind, int count, MPI_Request* requests, MPI_Status* statuses)
{
  int flag, index, number, indices[2 * MOST];
  MPI_Status one, some[2 * MOST];
  switch (kind) {
    case WAITS:
      for (int i = 0; i < count; i++)
        MPI_Wait(requests + i, statuses + i);
      return;
    case WAITALL:
      MPI_Waitall(count, requests, statuses);
      return;
    case WAITANY:
      for (int i = 0; i < count; i++) {
        MPI_Waitany(count, requests, &index, &one);
        if (index != MPI_UNDEFINED)
          statuses[index] = one;
      }
      return;
    case WAITSOME:
      for (int left = count; left > 0; left -= number) {
        MPI_Waitsome(count, requests, &number, indices, some);
        if (number == MPI_UNDEFINED)
          return;
        for (int i = 0; i < number; i++)
          statuses[indices[i]] = some[i];
      }
      return;
    case TESTS:
      for (int i = 0; i < count; i++)
        do
          MPI_Test(requests + i, &flag, statuses + i);
        while (!flag);
      return;
    case TESTALL:
      do
        MPI_Testall(count, requests, &flag, statuses);
      while (!flag);
      return;
    case TESTANY:
      for (int left = count; left > 0;) {
        MPI_Testany(count, requests, &index, &flag, &one);
        if (flag && index == MPI_UNDEFINED)
          return;
        if (flag)
          statuses[index] = one;
        left -= flag;
      }
      return;
    case TESTSOME:
      for (int left = count; left > 0;) {
        MPI_Testsome(count, requests, &number, indices, some);
        if (number == MPI_UNDEFINED)
          return;
        for (int i = 0; i < number; i++)
          statuses[indices[i]] = some[i];
        left -= number;
      }
      return;
    default:
      for (int i = 0; i < count; i++) {
        do
          MPI_Request_get_status(requests[i], &flag, &one);
        while (!flag);
        MPI_Wait(requests + i, statuses + i);
      }
  }
}

/* A receive that no send matches. */
static void cancel_one(int number)
{
  MPI_Request nothing;
  MPI_Status cancelled;
  int flag, unused;
  MPI_Irecv(&unused, 1, MPI_INT, MPI_ANY_SOURCE, 10000 + number, MPI_COMM_WORLD, &nothing);
  MPI_Cancel(&nothing);
  MPI_Wait(&nothing, &cancelled);
  MPI_Test_cancelled(&cancelled, &flag);
  wrong += !flag;
}

/* Around the ring, in a separate communicator. Only one message can match a wildcard. */
static void shift(int number)
{
  static unsigned char out[300000], in[300000];
  const int by      = 1 + below(size);
  const int bytes   = draw_size();
  const int replace = below(2) && bytes > 0; /* SMPI sends nothing if there is no data */
  const int wild    = below(alone ? 3 : 2);  /* SMPI lets short messages overtake if any tag matches */
  const int to = (rank + by) % size, from = (rank + size - by % size) % size, tag = 30000 + number;
  if (from == rank)
    return; /* SMPI copies these messages, without a status */
  const int source   = wild == 1 ? MPI_ANY_SOURCE : from;
  const int received = wild == 2 ? MPI_ANY_TAG : tag;
  MPI_Status status;
  memset(out, rank + 1, (size_t)bytes);
  if (replace)
    MPI_Sendrecv_replace(out, bytes, MPI_CHAR, to, tag, source, received, ring, &status);
  else
    MPI_Sendrecv(out, bytes, MPI_CHAR, to, tag, in, bytes, MPI_CHAR, source, received, ring, &status);
  for (int i = 0; i < bytes; i++)
    wrong += (replace ? out : in)[i] != from + 1;
  wrong += status.MPI_SOURCE != from || status.MPI_TAG != tag;
}

static void run_round(int number)
{
  Message all[MOST];
  const int count        = draw_messages(all, number);
  const int ends         = below(ENDS);
  const int pause        = below(3) == 0 ? below(30) : 0;
  const int late         = below(3); /* receives are posted first, last, or alternately */
  const int loose        = below(4) == 0;
  const int ready        = below(3) == 0;
  static const int EXTRA = 8;
  unsigned char* buffers[2][MOST];
  MPI_Request requests[2 * MOST];
  MPI_Status statuses[2 * MOST];
  const Message* received[2 * MOST];
  int pending = 0;
  MPI_Datatype types[2][MOST];
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < count; i++) {
      buffers[side][i] = malloc((size_t)(2 * all[i].size + EXTRA));
      memset(buffers[side][i], 0xEE, (size_t)(2 * all[i].size + EXTRA));
      types[side][i] = type_of(all + i);
    }
  usleep((unsigned)((rank * 7 + number * 3) % 11 * pause));
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < count; i++) {
      const Message* m    = all + i;
      const MPI_Comm comm = comms[m->comm];
      const int units     = m->layout != PLAIN ? (m->size > 0) : m->size;
      const int posts     = (late == 0 || (late == 1 && m->tag % 2 == 0)) == (pass == 0);
      if (m->to == rank && posts && (m->receive == IRECV || m->receive == RECV_INIT)) {
        const int source = m->any_source ? MPI_ANY_SOURCE : members[m->comm][m->from];
        if (m->receive == IRECV) {
          MPI_Irecv(buffers[1][i], units, types[1][i], source, m->tag, comm, requests + pending);
        } else {
          MPI_Recv_init(buffers[1][i], units, types[1][i], source, m->tag, comm, requests + pending);
          MPI_Start(requests + pending);
        }
        received[pending++] = m;
      }
      if (m->from != rank || (pass == 0) != (m->send >= ISEND))
        continue;
      const int to = members[m->comm][m->to];
      fill(m, 0, buffers[0][i]);
      MPI_Request* request = requests + pending;
      switch (m->send) {
        case ISEND:
          MPI_Isend(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          break;
        case ISSEND:
          MPI_Issend(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          break;
        case IBSEND:
          MPI_Ibsend(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          break;
        case SEND_INIT:
          MPI_Send_init(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          MPI_Start(request);
          break;
        case SSEND_INIT:
          MPI_Ssend_init(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          MPI_Start(request);
          break;
        case BSEND_INIT:
          MPI_Bsend_init(buffers[0][i], units, types[0][i], to, m->tag, comm, request);
          MPI_Start(request);
          break;
        default:
          continue;
      }
      received[pending++] = NULL;
    }
  }
  if (ready)
    MPI_Barrier(MPI_COMM_WORLD);
  /* A blocking send to a rank that posts later must not wait for itself: such sends are last, after their receives. */
  for (int i = 0; i < count; i++) {
    const Message* m    = all + i;
    const int units     = m->layout != PLAIN ? (m->size > 0) : m->size;
    const MPI_Comm comm = comms[m->comm];
    if (m->from != rank || m->send >= ISEND)
      continue;
    const int to = members[m->comm][m->to];
    fill(m, 0, buffers[0][i]);
    if (m->send == RSEND && ready)
      MPI_Rsend(buffers[0][i], units, types[0][i], to, m->tag, comm);
    else if (m->send == SEND || m->send == RSEND)
      MPI_Send(buffers[0][i], units, types[0][i], to, m->tag, comm);
    else if (m->send == SSEND)
      MPI_Ssend(buffers[0][i], units, types[0][i], to, m->tag, comm);
    else
      MPI_Bsend(buffers[0][i], units, types[0][i], to, m->tag, comm);
    memset(buffers[0][i], 0x11, (size_t)(2 * m->size));
  }
  for (int i = 0; i < count; i++) {
    const Message* m    = all + i;
    const MPI_Comm comm = comms[m->comm];
    const int units     = m->layout != PLAIN ? (m->size > 0) : m->size;
    if (m->to != rank || m->receive < RECV)
      continue;
    int source = m->any_source ? MPI_ANY_SOURCE : members[m->comm][m->from];
    int flag   = 0;
    MPI_Status status;
    if (m->receive == PROBE)
      MPI_Probe(source, m->tag, comm, &status);
    while (m->receive == IPROBE && !flag)
      MPI_Iprobe(source, m->tag, comm, &flag, &status);
    if (m->receive != RECV) {
      int bytes;
      MPI_Get_count(&status, MPI_CHAR, &bytes);
      wrong += bytes != m->size;
      source = status.MPI_SOURCE;
    }
    MPI_Recv(buffers[1][i], units, types[1][i], source, m->tag, comm, &status);
    check(m, 0, buffers[1][i], &status);
  }
  int unused;
  if (alone)
    cancel_one(number);
  /* A send that is never waited for. */
  int one = number;
  if (loose && size > 1) {
    MPI_Request sent;
    MPI_Isend(&one, 1, MPI_INT, (rank + 1) % size, 20000, MPI_COMM_WORLD, &sent);
    MPI_Request_free(&sent);
    MPI_Recv(&unused, 1, MPI_INT, (rank + size - 1) % size, 20000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += unused != number;
  }
  MPI_Request persistent[2 * MOST];
  memcpy(persistent, requests, sizeof persistent);
  end_all(ends, pending, requests, statuses);
  for (int i = 0; i < pending; i++)
    if (received[i])
      check(received[i], 0, buffers[1][received[i] - all], statuses + i);
  /* Starts persistent requests again. */
  for (int use = 1; use < 2; use++) {
    MPI_Request again[2 * MOST];
    const Message* whose[2 * MOST];
    int started = 0;
    for (int i = 0; i < pending; i++)
      if (requests[i] != MPI_REQUEST_NULL) {
        const Message* m = received[i];
        if (m && m->send >= SEND_INIT && m->twice) {
          memset(buffers[1][m - all], 0xEE, (size_t)(2 * m->size));
          MPI_Start(requests + i);
          again[started]   = requests[i];
          whose[started++] = m;
        }
      }
    for (int i = 0; i < count; i++) {
      const Message* m = all + i;
      if (m->from != rank || m->send < SEND_INIT || !m->twice || m->receive != RECV_INIT)
        continue;
      fill(m, use, buffers[0][i]);
      for (int j = 0, k = -1; j < pending && k < 0; j++)
        if (requests[j] != MPI_REQUEST_NULL && !received[j]) {
          /* sends are in the order of messages */
          int before = 0;
          for (int l = 0; l < i; l++)
            before += all[l].from == rank && all[l].send >= SEND_INIT;
          for (int l = 0, n = 0; l < pending && k < 0; l++)
            if (requests[l] != MPI_REQUEST_NULL && !received[l] && n++ == before)
              k = l;
          if (k >= 0) {
            MPI_Start(requests + k);
            again[started]   = requests[k];
            whose[started++] = NULL;
          }
        }
    }
    MPI_Waitall(started, again, statuses);
    for (int i = 0; i < started; i++)
      if (whose[i])
        check(whose[i], use, buffers[1][whose[i] - all], statuses + i);
  }
  for (int i = 0; i < pending; i++)
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Request_free(requests + i);
  shift(number);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < count; i++) {
      if (all[i].layout != PLAIN)
        MPI_Type_free(types[side] + i);
      free(buffers[side][i]);
    }
}

static void make_communicators(void)
{
  MPI_Comm_dup(MPI_COMM_WORLD, &ring);
  MPI_Comm_dup(MPI_COMM_WORLD, comms + 1);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, comms + 2);
  MPI_Comm_split(MPI_COMM_WORLD, rank * 2 < size, rank, comms + 3);
  comms[0] = MPI_COMM_WORLD;
  for (int c = 0; c < COMMS; c++) {
    /* For communicators that are parts of the world, the part that contains rank 0. */
    int mine, first = rank == 0;
    MPI_Comm_rank(comms[c], &mine);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MAX, comms[c]);
    if (!first)
      mine = -1;
    MPI_Allgather(&mine, 1, MPI_INT, members[c], 1, MPI_INT, MPI_COMM_WORLD);
  }
}

static void run_programs(uint64_t seed, int rounds, int programs)
{
  double* times    = calloc((size_t)programs, sizeof *times);
  uint64_t* others = calloc(2 * (size_t)programs, sizeof *others);
  for (int program = 0; program < programs; program++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    state              = seed + (uint64_t)program;
    sum                = 0;
    wrong              = 0;
    for (int round = 0; round < rounds; round++) {
      run_round(round);
      times[program] += MPI_Wtime() - start;
    }
    others[2 * program]     = (uint64_t)wrong;
    others[2 * program + 1] = sum;
  }
  MPI_Allreduce(MPI_IN_PLACE, times, programs, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, others, 2 * programs, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int program = 0; rank == 0 && program < programs; program++)
    printf("%d: %llu wrong, sum %llu, clocks %.12f\n", (int)seed + program, (unsigned long long)others[2 * program],
           (unsigned long long)others[2 * program + 1], times[program] * 1e6);
  free(times);
  free(others);
}

static void run_program(uint64_t seed, int rounds)
{
  static double clocks[MOST_ROUNDS];
  state = seed;
  for (int round = 0; round < rounds; round++) {
    run_round(round);
    clocks[round] = MPI_Wtime();
  }
  for (int turn = 0; turn < size; turn++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != rank)
      continue;
    printf("%d: %d wrong, sum %llu, clocks", rank, wrong, (unsigned long long)sum);
    for (int round = 0; round < rounds; round++)
      printf(" %.12f", clocks[round] * 1e6);
    printf("\n");
    fflush(stdout);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uint64_t seed = (uint64_t)atoi(argv[1]);
  const int rounds    = argc > 2 ? atoi(argv[2]) : 10;
  alone               = argc == 4;
  static char space[1 << 24];
  MPI_Buffer_attach(space, sizeof space);
  make_communicators();
  if (argc > 4)
    run_programs(seed, rounds, atoi(argv[4]));
  else
    run_program(seed, rounds);
  int attached;
  void* address;
  MPI_Buffer_detach(&address, &attached);
  MPI_Finalize();
  return 0;
}
