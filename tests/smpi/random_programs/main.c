/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random MPI programs; every rank checks every byte of every buffer against values that it computes itself.
 *
 *     random_programs [--old] [--files] [--spoil] SEED FIRST [LAST]
 *
 * runs the programs FIRST to LAST of SEED, or only FIRST. --old writes the same programs with old forms of calls only,
 * --files adds files, for fabrics with storage, and --spoil changes some results, which the checks must detect. A
 * program creates and frees communicators. On them it calls collectives of all kinds, blocking, non-blocking and
 * persistent, with derived datatypes that differ between ranks, at MPI_BOTTOM and in place, and with user-defined
 * operations; messages and one-sided communication take place in between. Non-blocking calls stay in flight while
 * others start, and each rank waits or tests for them in its own random order; communicators and datatypes are freed
 * while calls still use them. All ranks derive the same program from the seed and its number. Errors are reported on
 * standard error and make the program exit with status 1.
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

Form draw_form(Program* program)
{
  const Form form = (Form)below(&program->all, FORMS);
  if (!program->old)
    return form;
  return is_blocking(form) ? BLOCKING : NONBLOCKING;
}

int is_blocking(Form form)
{
  return form == BLOCKING || form == LARGE;
}

Call* new_call(const char* name, MPI_Comm comm, Form form)
{
  static const char* const FORM_NAMES[] = {"", "i", "large ", "large i", "persistent ", "persistent large "};
  Call* call                            = calloc(1, sizeof *call);
  int size;
  MPI_Comm_size(comm, &size);
  snprintf(call->name, sizeof call->name, "%s%s of %d ranks", FORM_NAMES[form], name, size);
  call->leading = -1;
  return call;
}

static unsigned char* inverted(const Buffer* buffer)
{
  if (!buffer->storage)
    return NULL;
  unsigned char* kept = malloc(buffer->size);
  memcpy(kept, buffer->storage, buffer->size);
  for (size_t i = 0; i < buffer->size; i++)
    buffer->storage[i] = (unsigned char)~kept[i];
  return kept;
}

static void put_back(const Buffer* buffer, unsigned char* kept)
{
  if (kept)
    memcpy(buffer->storage, kept, buffer->size);
  free(kept);
}

void garble(Call* call)
{
  call->kept_send    = inverted(&call->send);
  call->kept_receive = inverted(&call->receive);
}

void restore(Call* call)
{
  put_back(&call->send, call->kept_send);
  put_back(&call->receive, call->kept_receive);
}

void carry_on(Program* program, Call* call, Form form, MPI_Request request)
{
  if (is_blocking(form)) {
    end_call(program, call);
    return;
  }
  if (form >= PERSISTENT) {
    call->persistent = 1;
    garble(call);
    for (int round = below(&program->all, 3); round-- > 0;) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    restore(call);
    MPI_Start(&request);
  }
  start_call(program, call, request);
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

void note_wrong(Program* program, const char* what)
{
  fprintf(stderr, "wrong: seed %llu program %d step %d rank %d: %s\n", (unsigned long long)program->seed,
          program->number, program->step, world_rank(), what);
  program->wrong++;
}

/** Changes the last element of every tenth result. */
static void spoil(Program* program, const Call* call)
{
  const int defined = call->leading >= 0 ? call->leading : elements_of(&call->receive, 0);
  if (program->spoil && call->gets && defined > 0 && program->spoil++ % 10 == 1)
    *element(&call->receive, call->receive.storage, 0, defined - 1) ^= 1;
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
  spoil(program, call);
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

/** Frees a persistent request that has completed. */
static void end_persistent(MPI_Request* request)
{
  int ended = 0;
  MPI_Request_get_status(*request, &ended, MPI_STATUS_IGNORE);
  if (!ended)
    return;
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
}

/** Ends the calls whose requests have become null or inactive. */
static void collect(Program* program)
{
  for (int at = program->in_flight; at-- > 0;) {
    if (program->calls[at]->persistent)
      end_persistent(&program->requests[at]);
    if (program->requests[at] == MPI_REQUEST_NULL)
      forget(program, at);
  }
}

/** Waits for some of the calls in flight without completing their requests, then completes the finished ones. */
static void await_states(Program* program, int n)
{
  int flag = 0, index, count = 0, indices[MOST_IN_FLIGHT];
  switch (below(&program->mine, 3)) {
    case 0:
      while (!flag)
        MPI_Request_get_status_any(n, program->requests, &index, &flag, MPI_STATUS_IGNORE);
      MPI_Wait(&program->requests[index], MPI_STATUS_IGNORE);
      break;
    case 1:
      while (count == 0)
        MPI_Request_get_status_some(n, program->requests, &count, indices, MPI_STATUSES_IGNORE);
      for (int i = 0; i < count; i++)
        MPI_Wait(&program->requests[indices[i]], MPI_STATUS_IGNORE);
      break;
    default:
      while (!flag)
        MPI_Request_get_status_all(n, program->requests, &flag, MPI_STATUSES_IGNORE);
      MPI_Waitall(n, program->requests, MPI_STATUSES_IGNORE);
  }
}

/** Waits or tests for some of the calls in flight, selected by this rank's random numbers. */
static void complete_some(Program* program)
{
  const int n = program->in_flight;
  if (n == 0)
    return;
  int flag      = 0, index, count, indices[MOST_IN_FLIGHT];
  const int one = below(&program->mine, n);
  switch (below(&program->mine, 9)) {
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
    case 7:
      if (!program->old) {
        await_states(program, one + 1);
        break;
      }
      // fall through: an old form
    default:
      while (!flag)
        MPI_Testall(one + 1, program->requests, &flag, MPI_STATUSES_IGNORE);
  }
  collect(program);
}

static void use_across(Program* program, const Across* across)
{
  const int sends = once_in(&program->all, 3);
  if (across->comm == MPI_COMM_NULL)
    return;
  if (sends)
    send_across(program, across);
  else
    call_across(program, across);
}

static void step(Program* program)
{
  const uint64_t drawn = mixed(mixed(program->seed, (uint64_t)program->number), (uint64_t)program->step);
  program->all.state   = drawn;
  program->mine.state  = mixed(drawn, (uint64_t)world_rank() + 1);
  const int what       = below(&program->all, 30);
  const int where      = below(&program->all, 2) * below(&program->all, MOST_COMMUNICATORS);
  const MPI_Comm comm  = program->communicators[where];
  if (what == 0 || what == 1)
    make_communicator(program);
  else if (what == 2)
    free_communicator(program);
  else if (what <= 5)
    use_across(program, &program->across[below(&program->all, MOST_ACROSS)]);
  else if (comm == MPI_COMM_NULL)
    return;
  else if (what == 6)
    make_across(program, comm);
  else if (what == 7)
    exchange_one_sided(program, comm);
  else if (what == 8)
    share_window(program, comm);
  else if (what <= 10)
    call_neighbors(program, comm);
  else if (what == 11) {
    if (program->files)
      use_file(program, comm);
  } else if (what <= 15)
    shift(program, comm);
  else
    call_collective(program, comm);
  if (program->in_flight > MOST_IN_FLIGHT - 4 || once_in(&program->mine, 3))
    do
      complete_some(program);
    while (program->in_flight > MOST_IN_FLIGHT - 4);
}

static int run_program(const Program* options, int number)
{
  static Program program;
  const uint64_t seed      = options->seed;
  program                  = *options;
  program.number           = number;
  program.communicators[0] = MPI_COMM_WORLD;
  for (int i = 1; i < MOST_COMMUNICATORS; i++)
    program.communicators[i] = MPI_COMM_NULL;
  for (int i = 0; i < MOST_ACROSS; i++)
    program.across[i].comm = MPI_COMM_NULL;
  if (!program.old)
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &program.session);
  Draw draw       = {mixed(mixed(seed, (uint64_t)number), 4711)};
  const int steps = 6 + below(&draw, 20);
  for (program.step = 1; program.step <= steps; program.step++)
    step(&program);
  while (program.in_flight > 0)
    complete_some(&program);
  for (int i = 1; i < MOST_COMMUNICATORS; i++)
    if (program.communicators[i] != MPI_COMM_NULL)
      MPI_Comm_free(&program.communicators[i]);
  for (int i = 0; i < MOST_ACROSS; i++)
    free_across(&program.across[i]);
  if (!program.old)
    MPI_Session_finalize(&program.session);
  forget_layouts();
  return program.wrong;
}

static Program read_options(int* argc, char*** argv)
{
  Program options = {.old = 0};
  for (; *argc > 1 && (*argv)[1][0] == '-'; --*argc, ++*argv) {
    options.old |= strcmp((*argv)[1], "--old") == 0;
    options.files |= strcmp((*argv)[1], "--files") == 0;
    options.spoil |= strcmp((*argv)[1], "--spoil") == 0;
  }
  if (*argc < 3) {
    fprintf(stderr, "usage: random_programs [--old] [--files] [--spoil] SEED FIRST [LAST]\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  }
  options.seed = strtoull((*argv)[1], NULL, 10);
  return options;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const Program options = read_options(&argc, &argv);
  const int first       = atoi(argv[2]);
  const int last        = argc > 3 ? atoi(argv[3]) : first;
  int wrong             = 0;
  make_operations();
  for (int number = first; number <= last; number++) {
    wrong += run_program(&options, number);
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
