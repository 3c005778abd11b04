/* SPDX-License-Identifier: LGPL-2.1-only */
/* Messages around a ring of ranks, by MPI's forms of point-to-point communication. */
#include "program.h"

#include <stdlib.h>

typedef enum {
  PLAIN,           /* MPI_Irecv with MPI_Isend or MPI_Send */
  LARGE_COUNTS,    /* as PLAIN, with large counts */
  SEND_RECEIVE,    /* MPI_Isendrecv: two messages, one request */
  REPLACE,         /* MPI_Isendrecv_replace: one buffer for the sent and the received message */
  MATCHED,         /* MPI_Mprobe or MPI_Improbe, then MPI_Mrecv or MPI_Imrecv: no other receive takes the message */
  PERSISTENT_PAIR, /* MPI_Send_init and MPI_Recv_init */
  PARTITIONED,     /* MPI_Psend_init and MPI_Precv_init, with different numbers of partitions */
  WAYS
} Way;

typedef struct {
  Program* program;
  MPI_Comm comm;
  int rank, to, from, source, tag, blocks;
  Call *out, *in;
} Messages;

static void check_count(const Messages* m, const MPI_Status* status)
{
  int received;
  MPI_Get_count(status, m->in->receive.layout.type, &received);
  if (received != m->in->receive.counts[0] || status->MPI_SOURCE != m->from || status->MPI_TAG != m->tag)
    note_wrong(m->program, "status of a message");
}

static void send_plainly(const Messages* m)
{
  MPI_Request sent, receiving;
  MPI_Status status;
  const Buffer *out = &m->out->send, *in = &m->in->receive;
  MPI_Irecv(in->address, in->counts[0], in->layout.type, m->source, m->tag, m->comm, &receiving);
  if (!m->blocks) {
    MPI_Isend(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm, &sent);
    start_call(m->program, m->in, receiving);
    start_call(m->program, m->out, sent);
    return;
  }
  MPI_Send(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm);
  MPI_Wait(&receiving, &status);
  check_count(m, &status);
  end_call(m->program, m->out);
  end_call(m->program, m->in);
}

static void send_with_large_counts(const Messages* m)
{
  MPI_Request sent, receiving;
  MPI_Status status;
  MPI_Count received = -1;
  const Buffer *out = &m->out->send, *in = &m->in->receive;
  MPI_Irecv_c(in->address, in->counts[0], in->layout.type, m->source, m->tag, m->comm, &receiving);
  if (m->blocks)
    MPI_Send_c(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm);
  else
    MPI_Isend_c(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm, &sent);
  MPI_Wait(&receiving, &status);
  MPI_Get_count_c(&status, in->layout.type, &received);
  if (received != in->counts[0])
    note_wrong(m->program, "large count of a status");
  end_call(m->program, m->in);
  if (m->blocks)
    end_call(m->program, m->out);
  else
    start_call(m->program, m->out, sent);
}

/** Registers one request, that of `in`, for both buffers. */
static void send_and_receive(const Messages* m)
{
  MPI_Request both;
  Call* call  = m->in;
  call->send  = m->out->send;
  call->gives = 1;
  MPI_Isendrecv(call->send.address, call->send.counts[0], call->send.layout.type, m->to, m->tag, call->receive.address,
                call->receive.counts[0], call->receive.layout.type, m->source, m->tag, m->comm, &both);
  free(m->out);
  start_call(m->program, call, both);
}

static void replace(const Messages* m, uint64_t own, uint64_t other)
{
  MPI_Request both;
  MPI_Status status;
  Buffer* buffer = &m->in->receive;
  fill(buffer, 0, own);
  expect(buffer, 0, other);
  free_layout(&m->out->send.layout);
  free_buffer(&m->out->send);
  free(m->out);
  if (m->program->old) {
    MPI_Sendrecv_replace(buffer->address, buffer->counts[0], buffer->layout.type, m->to, m->tag, m->source, m->tag,
                         m->comm, &status);
    check_count(m, &status);
    end_call(m->program, m->in);
    return;
  }
  MPI_Isendrecv_replace(buffer->address, buffer->counts[0], buffer->layout.type, m->to, m->tag, m->source, m->tag,
                        m->comm, &both);
  start_call(m->program, m->in, both);
}

static void receive_matched(const Messages* m)
{
  MPI_Request sent, receiving;
  MPI_Status probed, status;
  MPI_Message message;
  int matched       = 0;
  const Buffer *out = &m->out->send, *in = &m->in->receive;
  MPI_Isend(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm, &sent);
  start_call(m->program, m->out, sent);
  if (m->program->old) {
    MPI_Probe(m->source, m->tag, m->comm, &probed);
    check_count(m, &probed);
    MPI_Recv(in->address, in->counts[0], in->layout.type, probed.MPI_SOURCE, m->tag, m->comm, &status);
    end_call(m->program, m->in);
    return;
  }
  if (m->blocks)
    MPI_Mprobe(m->source, m->tag, m->comm, &message, &probed);
  while (!m->blocks && !matched)
    MPI_Improbe(m->source, m->tag, m->comm, &matched, &message, &probed);
  check_count(m, &probed);
  if (once_in(&m->program->mine, 2)) {
    MPI_Imrecv(in->address, in->counts[0], in->layout.type, &message, &receiving);
    start_call(m->program, m->in, receiving);
    return;
  }
  MPI_Mrecv(in->address, in->counts[0], in->layout.type, &message, &status);
  check_count(m, &status);
  end_call(m->program, m->in);
}

static void send_persistently(const Messages* m, int rounds)
{
  MPI_Request requests[2];
  const Buffer *out = &m->out->send, *in = &m->in->receive;
  m->out->persistent = m->in->persistent = 1;
  MPI_Recv_init(in->address, in->counts[0], in->layout.type, m->source, m->tag, m->comm, &requests[0]);
  MPI_Send_init(out->address, out->counts[0], out->layout.type, m->to, m->tag, m->comm, &requests[1]);
  garble(m->out);
  garble(m->in);
  for (int round = 0; round < rounds; round++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  restore(m->out);
  restore(m->in);
  MPI_Startall(2, requests);
  start_call(m->program, m->in, requests[0]);
  start_call(m->program, m->out, requests[1]);
}

/** Returns a random number of partitions of equal size. */
static int draw_partitions(Program* program, int count)
{
  int partitions;
  do
    partitions = 1 + below(&program->mine, 12);
  while (count % partitions != 0);
  return partitions;
}

static void mark_ready(Draw* mine, int partitions, MPI_Request request)
{
  int order[12];
  for (int i = 0; i < partitions; i++) {
    const int other = below(mine, i + 1);
    order[i]        = order[other];
    order[other]    = i;
  }
  switch (below(mine, 3)) {
    case 0:
      MPI_Pready_range(0, partitions - 1, request);
      break;
    case 1:
      MPI_Pready_list(partitions, order, request);
      break;
    default:
      for (int i = 0; i < partitions; i++)
        MPI_Pready(order[i], request);
  }
}

static void send_partitions(const Messages* m, int rounds)
{
  Program* program = m->program;
  MPI_Request requests[2];
  const Buffer *out = &m->out->send, *in = &m->in->receive;
  const int sent = draw_partitions(program, out->counts[0]), received = draw_partitions(program, in->counts[0]);
  m->out->persistent = m->in->persistent = 1;
  MPI_Psend_init(out->address, sent, out->counts[0] / sent, out->layout.type, m->to, m->tag, m->comm, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in->address, received, in->counts[0] / received, in->layout.type, m->from, m->tag, m->comm,
                 MPI_INFO_NULL, &requests[1]);
  garble(m->out);
  garble(m->in);
  for (int round = 0; round < rounds; round++) {
    MPI_Startall(2, requests);
    mark_ready(&program->mine, sent, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  restore(m->out);
  restore(m->in);
  MPI_Startall(2, requests);
  mark_ready(&program->mine, sent, requests[0]);
  if (once_in(&program->mine, 2)) {
    const int partition = below(&program->mine, received);
    for (int arrived = 0; !arrived;)
      MPI_Parrived(requests[1], partition, &arrived);
  }
  start_call(program, m->in, requests[1]);
  start_call(program, m->out, requests[0]);
}

/** Returns the old form of a way. The remaining two choose it themselves, since their buffers or order differ. */
static Way old_way(Way way)
{
  return way == REPLACE || way == MATCHED ? way : PLAIN;
}

void shift(Program* program, MPI_Comm comm)
{
  int size;
  Messages m = {.program = program, .comm = comm, .tag = program->step};
  MPI_Comm_rank(comm, &m.rank);
  MPI_Comm_size(comm, &size);
  const int far       = 1 + below(&program->all, 7);
  const int groups    = below(&program->all, 5) * below(&program->all, 4) * (once_in(&program->all, 6) ? 100 : 1);
  const Basic basic   = draw_basic(&program->all);
  const int any       = once_in(&program->all, 3);
  const Way drawn     = (Way)below(&program->all, WAYS);
  const Way way       = program->old ? old_way(drawn) : drawn;
  const int rounds    = below(&program->all, 3);
  const uint64_t salt = salt_of(program, comm);
  m.blocks            = once_in(&program->all, 3);
  m.to                = (m.rank + far) % size;
  m.from              = (m.rank + far * (size - 1)) % size;
  m.source            = any ? MPI_ANY_SOURCE : m.from;
  m.out               = new_call("send", comm, m.blocks ? BLOCKING : NONBLOCKING);
  m.in                = new_call("receive", comm, m.blocks ? BLOCKING : NONBLOCKING);
  m.out->send         = make_buffer(&program->mine, basic, 1, &groups, 0);
  m.in->receive       = make_buffer(&program->mine, basic, 1, &groups, 0);
  m.out->gives = m.in->gets = 1;
  const uint64_t own = mixed(salt, (uint64_t)m.rank), other = mixed(salt, (uint64_t)m.from);
  fill(&m.out->send, 0, own);
  expect(&m.in->receive, 0, other);
  switch (way) {
    case PLAIN:
      send_plainly(&m);
      break;
    case LARGE_COUNTS:
      send_with_large_counts(&m);
      break;
    case SEND_RECEIVE:
      send_and_receive(&m);
      break;
    case REPLACE:
      replace(&m, own, other);
      break;
    case MATCHED:
      receive_matched(&m);
      break;
    case PERSISTENT_PAIR:
      send_persistently(&m, rounds);
      break;
    default:
      send_partitions(&m, rounds);
  }
}
