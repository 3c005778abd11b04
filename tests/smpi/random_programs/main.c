/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random MPI programs; every rank checks every byte of every buffer against values that it computes itself.
 *
 *     random_programs SEED FIRST [LAST]
 *
 * runs the programs FIRST to LAST of SEED, or only FIRST. A program creates and frees communicators, and calls on them
 * collectives of all kinds, blocking and non-blocking, with derived datatypes that differ between ranks, at MPI_BOTTOM
 * and in place, and with user-defined operations; messages and one-sided communication take place in between.
 * Non-blocking calls stay in flight while others start, and each rank waits or tests for them in a random order of its
 * own; communicators and datatypes are freed while calls still use them. All ranks derive the same program from the
 * seed and its number. Errors are reported on standard error and make the program exit with status 1.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64 };

static int world_rank(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

uint64_t salt_of(const Program* program, MPI_Comm comm)
{
  MPI_Group group, world;
  const int first = 0;
  int leader;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &first, world, &leader);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return mixed(mixed(program->seed, (uint64_t)program->number), (uint64_t)(program->step * 1000 + leader));
}

Call* new_call(const char* name, MPI_Comm comm, int blocks)
{
  Call* call = calloc(1, sizeof *call);
  int size;
  MPI_Comm_size(comm, &size);
  snprintf(call->name, sizeof call->name, "%s%s of %d ranks", blocks ? "" : "i", name, size);
  call->leading = -1;
  return call;
}

static void free_types(Call* call)
{
  if (call->reduced.elements > 0) {
    free_layout(&call->reduced);
    return;
  }
  free_layout(&call->send.layout);
  free_layout(&call->receive.layout);
  free_layout(&call->send.inner);
  free_layout(&call->receive.inner);
}

void start_call(Program* program, Call* call, MPI_Request request)
{
  program->requests[program->in_flight] = request;
  program->calls[program->in_flight++]  = call;
  if (once_in(&program->mine, 2))
    free_types(call);
}

static void complain(Program* program, const Call* call, const char* what, long where)
{
  fprintf(stderr, "wrong: seed %llu program %d step %d rank %d: %s: %s at byte %ld\n",
          (unsigned long long)program->seed, program->number, program->step, world_rank(), call->name, what, where);
  program->wrong++;
}

static long leading_difference(const Call* call)
{
  for (int index = 0; index < call->leading; index++)
    if (memcmp(element(&call->receive, call->receive.storage, 0, index),
               element(&call->receive, call->receive.expected, 0, index), (size_t)call->receive.layout.size) != 0)
      return index;
  return -1;
}

void end_call(Program* program, Call* call)
{
  const long sent     = call->gives ? difference(&call->send) : -1;
  const long received = !call->gets ? -1 : call->leading >= 0 ? leading_difference(call) : difference(&call->receive);
  if (sent >= 0)
    complain(program, call, "what is sent has changed", sent);
  if (received >= 0)
    complain(program, call, "wrong result", received);
  free_types(call);
  free_buffer(&call->send);
  free_buffer(&call->receive);
  free(call);
}

static void forget(Program* program, int at)
{
  end_call(program, program->calls[at]);
  program->in_flight--;
  program->calls[at]    = program->calls[program->in_flight];
  program->requests[at] = program->requests[program->in_flight];
}

/** Completes the calls whose requests have become null. */
static void collect(Program* program)
{
  for (int at = program->in_flight; at-- > 0;)
    if (program->requests[at] == MPI_REQUEST_NULL)
      forget(program, at);
}

/** Waits or tests for some of the calls in flight, as this rank's random numbers select. */
static void complete_some(Program* program)
{
  const int n = program->in_flight;
  if (n == 0)
    return;
  int flag      = 0, index, count, indices[MOST_IN_FLIGHT];
  const int one = below(&program->mine, n);
  switch (below(&program->mine, 8)) {
    case 0:
      MPI_Wait(&program->requests[one], MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitany(n, program->requests, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Waitsome(n, program->requests, &count, indices, MPI_STATUSES_IGNORE);
      break;
    case 3:
      MPI_Waitall(one + 1, program->requests, MPI_STATUSES_IGNORE);
      break;
    case 4:
      MPI_Test(&program->requests[one], &flag, MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Testany(n, program->requests, &index, &flag, MPI_STATUS_IGNORE);
      break;
    case 6:
      MPI_Testsome(n, program->requests, &count, indices, MPI_STATUSES_IGNORE);
      break;
    default:
      while (!flag)
        MPI_Testall(one + 1, program->requests, &flag, MPI_STATUSES_IGNORE);
  }
  collect(program);
}

static void make_communicator(Program* program)
{
  const int from = below(&program->all, MOST_COMMUNICATORS);
  const int to   = 1 + below(&program->all, MOST_COMMUNICATORS - 1);
  const int way  = below(&program->all, 3);
  const int by   = 1 + below(&program->all, 3);
  if (program->communicators[to] != MPI_COMM_NULL && to != from)
    MPI_Comm_free(&program->communicators[to]);
  const MPI_Comm old = program->communicators[from];
  if (old == MPI_COMM_NULL || to == from)
    return;
  const int rank = world_rank();
  if (way == 0)
    MPI_Comm_dup(old, &program->communicators[to]);
  else
    MPI_Comm_split(old,
                   way == 1         ? rank % by
                   : rank / 3 == by ? MPI_UNDEFINED
                                    : rank / (by + 1),
                   way == 1 ? rank : -rank, &program->communicators[to]);
}

static void free_communicator(Program* program)
{
  MPI_Comm* comm = &program->communicators[1 + below(&program->all, MOST_COMMUNICATORS - 1)];
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

static void step(Program* program)
{
  const uint64_t drawn = mixed(mixed(program->seed, (uint64_t)program->number), (uint64_t)program->step);
  program->all.state   = drawn;
  program->mine.state  = mixed(drawn, (uint64_t)world_rank() + 1);
  const int what       = below(&program->all, 20);
  const int where      = below(&program->all, 2) * below(&program->all, MOST_COMMUNICATORS);
  const MPI_Comm comm  = program->communicators[where];
  if (what == 0 || what == 1)
    make_communicator(program);
  else if (what == 2)
    free_communicator(program);
  else if (comm == MPI_COMM_NULL)
    return;
  else if (what == 3)
    exchange_one_sided(program, comm);
  else if (what <= 5)
    shift(program, comm);
  else
    call_collective(program, comm);
  if (program->in_flight > MOST_IN_FLIGHT - 4 || once_in(&program->mine, 3))
    do
      complete_some(program);
    while (program->in_flight > MOST_IN_FLIGHT - 4);
}

static int run_program(uint64_t seed, int number)
{
  static Program program;
  program = (Program){.seed = seed, .number = number, .communicators = {MPI_COMM_WORLD}};
  for (int i = 1; i < MOST_COMMUNICATORS; i++)
    program.communicators[i] = MPI_COMM_NULL;
  Draw draw       = {mixed(mixed(seed, (uint64_t)number), 4711)};
  const int steps = 6 + below(&draw, 20);
  for (program.step = 1; program.step <= steps; program.step++)
    step(&program);
  while (program.in_flight > 0)
    complete_some(&program);
  for (int i = 1; i < MOST_COMMUNICATORS; i++)
    if (program.communicators[i] != MPI_COMM_NULL)
      MPI_Comm_free(&program.communicators[i]);
  forget_layouts();
  return program.wrong;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  if (argc < 3) {
    fprintf(stderr, "usage: random_programs SEED FIRST [LAST]\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  }
  const int first = atoi(argv[2]);
  const int last  = argc > 3 ? atoi(argv[3]) : first;
  int wrong       = 0;
  make_operations();
  for (int number = first; number <= last; number++) {
    wrong += run_program(strtoull(argv[1], NULL, 10), number);
    if (world_rank() == 0)
      printf("program %d\n", number);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int any;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return any ? EXIT_WRONG_RESULT : 0;
}
