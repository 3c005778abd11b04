/* SPDX-License-Identifier: LGPL-2.1-only */
#include "program.h"

#include <stdlib.h>
#include <string.h>

void shift(Program* program, MPI_Comm comm)
{
  int rank, size, received;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int far       = 1 + below(&program->all, 7);
  const int groups    = below(&program->all, 5) * below(&program->all, 4) * (once_in(&program->all, 6) ? 100 : 1);
  const Basic basic   = draw_basic(&program->all);
  const int any       = once_in(&program->all, 3);
  const int blocks    = once_in(&program->all, 3);
  const int to        = (rank + far) % size;
  const int from      = (rank + far * (size - 1)) % size;
  const uint64_t salt = salt_of(program, comm);
  Call* out           = new_call("send", comm, blocks);
  Call* in            = new_call("receive", comm, blocks);
  out->send           = make_buffer(&program->mine, basic, 1, &groups, 0);
  in->receive         = make_buffer(&program->mine, basic, 1, &groups, 0);
  out->gives = in->gets = 1;
  fill(&out->send, 0, mixed(salt, (uint64_t)rank));
  expect(&in->receive, 0, mixed(salt, (uint64_t)from));
  const int source = any ? MPI_ANY_SOURCE : from;
  MPI_Request sent, receiving;
  MPI_Irecv(in->receive.address, in->receive.counts[0], in->receive.layout.type, source, program->step, comm,
            &receiving);
  if (!blocks) {
    MPI_Isend(out->send.address, out->send.counts[0], out->send.layout.type, to, program->step, comm, &sent);
    start_call(program, in, receiving);
    start_call(program, out, sent);
    return;
  }
  MPI_Status status;
  MPI_Send(out->send.address, out->send.counts[0], out->send.layout.type, to, program->step, comm);
  MPI_Wait(&receiving, &status);
  MPI_Get_count(&status, in->receive.layout.type, &received);
  if (received != in->receive.counts[0])
    program->wrong++;
  end_call(program, out);
  end_call(program, in);
}

void exchange_one_sided(Program* program, MPI_Comm comm)
{
  int rank, size, window[MOST_RANKS + 2];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  memset(window, 0, sizeof window);
  window[MOST_RANKS] = rank * 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, comm, &win);
  MPI_Win_fence(0, win);
  const int mine = rank + 100, one = 1, next = (rank + 1) % size;
  int got = -1;
  MPI_Put(&mine, 1, MPI_INT, next, rank, 1, MPI_INT, win);
  MPI_Get(&got, 1, MPI_INT, next, MOST_RANKS, 1, MPI_INT, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, MOST_RANKS + 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  const int previous = (rank + size - 1) % size;
  if (window[previous] != previous + 100 || got != next * 7 || (rank == 0 && window[MOST_RANKS + 1] != size))
    program->wrong++;
  MPI_Win_free(&win);
}
