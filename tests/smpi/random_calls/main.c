/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random collective calls; every rank checks every result against its own computation.
 *
 *     random_calls [--offloaded | --inexact] SEED FIRST [LAST]
 *
 * runs the cases FIRST to LAST of SEED, or only FIRST. A case consists of up to four calls on one or several
 * communicators, blocking and non-blocking, which are all in flight before the first wait. All ranks derive the same
 * calls from the seed and the number of the case, so that cases are independent. Each rank prints one line per case
 * with a hash over all bytes of its results, so that runs can be compared. Errors are reported on standard error and
 * make the program exit with status 1.
 */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 4, EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64 };

typedef struct {
  uint64_t seed;
  int number;
  Selection selection;
} Case;

static int world_rank(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static void report(const Case* which, const Call* call, const char* wrong)
{
  fprintf(stderr,
          "WRONG: seed %llu case %d, rank %d of the world: MPI_%s%s%s on %s, %d items of %s, %s and %s, op %s, "
          "root %d: %s\n",
          (unsigned long long)which->seed, which->number, world_rank(), call->nonblocking ? "I, " : "",
          collective_name(call->collective), call->in_place ? " in place" : "", places[call->place].name, call->items,
          call->base->name, call->layouts[0]->name, call->layouts[1]->name,
          call->operation ? call->operation->name : "none", call->root, wrong);
}

/* Returns whether all results were correct. */
static bool make_case(const Case* which)
{
  const Random seed = sequence(which->seed, (uint64_t)which->number);
  Random random     = seed;
  Call calls[MOST_CALLS];
  Exchange* exchanges[MOST_CALLS];
  MPI_Request requests[MOST_CALLS];
  uint64_t hash   = 0;
  bool right      = true;
  const int count = 1 + draw(&random, MOST_CALLS);
  int where[MOST_CALLS];
  bool fresh = false, offloaded = which->selection == OFFLOADED;
  for (int i = 0; i < count; i++) {
    where[i] = draw(&random, PLACES);
    fresh |= where[i] == FRESH;
  }
  if (fresh)
    make_fresh_place(sequence(seed, 1));
  for (int i = 0; i < count; i++) {
    calls[i]     = choose_call(sequence(seed, 2 + (uint64_t)i), which->selection, where[i]);
    exchanges[i] = start_exchange(&calls[i], &requests[i]);
    offloaded &= may_be_offloaded(&calls[i]);
  }
  complete(sequence(seed, 100 + (uint64_t)world_rank()), offloaded, requests, count);
  for (int i = 0; i < count; i++) {
    const char* wrong = NULL;
    if (exchanges[i])
      hash = hash * 31 + finish_exchange(exchanges[i], &wrong);
    if (wrong)
      report(which, &calls[i], wrong);
    right &= !wrong;
  }
  if (fresh)
    free_fresh_place();
  printf("case %d rank %d: %016llx\n", which->number, world_rank(), (unsigned long long)hash);
  return right;
}

static Selection read_selection(int* argc, char*** argv)
{
  Selection selection = COMPARABLE;
  if (*argc > 1 && strcmp((*argv)[1], "--offloaded") == 0)
    selection = OFFLOADED;
  else if (*argc > 1 && strcmp((*argv)[1], "--inexact") == 0)
    selection = INEXACT;
  *argc -= selection != COMPARABLE;
  *argv += selection != COMPARABLE;
  return selection;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const Selection selection = read_selection(&argc, &argv);
  if (argc < 3 || argc > 4) {
    fputs("usage: random_calls [--offloaded | --inexact] SEED FIRST [LAST]\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const int first     = atoi(argv[2]);
  const int last      = atoi(argv[argc - 1]);
  bool right          = true;
  make_data();
  make_places(seed);
  for (int number = first; number <= (argc == 4 ? last : first); number++)
    right &= make_case(&(Case){seed, number, selection});
  free_places();
  free_data();
  MPI_Finalize();
  return right ? 0 : EXIT_WRONG_RESULT;
}
