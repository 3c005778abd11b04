/* SPDX-License-Identifier: LGPL-2.1-only */
/* One training step of Fully Sharded Data Parallel (FSDP): every rank owns a shard of each layer's
 * parameters, gathers a layer's parameters before computing with them, and reduce-scatters the
 * gradients afterwards. Plain MPI.
 *
 *     fsdp_step LAYERS BYTES MICROSECONDS [mpi|ring [checked|unchecked [THREADS]]]
 *
 * BYTES is the size of a layer's parameters, and of its gradients; MICROSECONDS is the time of a
 * layer's forward pass. The backward pass takes twice that, since it computes two matrix products
 * where the forward pass computes one. While a layer is computed, the next one's parameters and the
 * previous one's gradients are transferred:
 *
 *     forward    Allgather of layer l + 1 | compute l
 *     backward   Allgather of layer l - 1, Reduce-Scatter of layer l + 1 | compute l, twice as long
 *
 * `mpi` calls MPI_Iallgather and MPI_Ireduce_scatter_block; `ring` implements both in rings (ring.h)
 * that progress by MPI_Testsome after each 1 % of a layer. `unchecked` neither fills nor reads the
 * buffers, so that a simulator may share their memory. With THREADS, as many threads of each rank compute
 * a layer in MICROSECONDS if each has a core to itself; in a simulation they share the cores of the host.
 *
 * Every rank checks all parameters and gradients; wrong ones end the program with exit status 1.
 * Rank 0 prints the step's time, the time of computation alone, and the time that it waited for
 * Allgathers and for Reduce-Scatters, in microseconds.
 */
#include "ring.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 2 };
enum { SLOTS = 2, SLICES = 100, BACKWARD = 2, MOST_THREADS = 1024 };
enum { GATHER = 0, SCATTER = SLOTS, RINGS = 2 * SLOTS };

/* Slot: memory of a layer. Layer l has slot l % SLOTS, so that one layer can be transferred while
 * another is computed. */
typedef struct {
  int rank;
  int ranks;
  int layers;
  int count; /* numbers in a shard */
  double seconds;
  int threads;
  int rings;
  int checked;
  int wrong;
  double waited[2]; /* for Allgathers, for Reduce-Scatters */
  int* shard[SLOTS];
  int* parameters[SLOTS];
  int* gradients[SLOTS];
  int* reduced[SLOTS];
  int loaded[SLOTS];               /* the layer whose gradients are in flight in a slot; -1: none */
  MPI_Request requests[2 * RINGS]; /* two per ring; `mpi` uses only the first */
  Ring ring[RINGS];                /* Allgathers of the slots, then Reduce-Scatters */
} Step;

static int parameter(int layer, int owner, int i)
{
  return layer * 1009 + owner * 31 + i % 13;
}

static int gradient(int layer, int rank, int owner, int i)
{
  return layer % 17 + rank % 7 + owner % 5 + i % 11;
}

/* ---- Moving
 * ---------------------------------------------------------------------------------------------------------- */

static void start_gather(Step* step, int layer)
{
  const int slot = layer % SLOTS;
  if (step->checked)
    for (int i = 0; i < step->count; i++)
      step->shard[slot][i] = parameter(layer, step->rank, i);
  if (!step->rings) {
    MPI_Iallgather(step->shard[slot], step->count, MPI_INT, step->parameters[slot], step->count, MPI_INT,
                   MPI_COMM_WORLD, &step->requests[2 * (GATHER + slot)]);
    return;
  }
  Ring* ring = &step->ring[GATHER + slot];
  if (step->checked)
    memcpy(part_behind(ring, 0), step->shard[slot], sizeof(int) * (size_t)step->count);
  ring_start(ring);
}

static void start_scatter(Step* step, int layer)
{
  const int slot     = layer % SLOTS;
  step->loaded[slot] = layer;
  if (step->checked)
    for (int owner = 0; owner < step->ranks; owner++)
      for (int i = 0; i < step->count; i++)
        step->gradients[slot][(size_t)owner * step->count + i] = gradient(layer, step->rank, owner, i);
  if (step->rings)
    ring_start(&step->ring[SCATTER + slot]);
  else
    MPI_Ireduce_scatter_block(step->gradients[slot], step->reduced[slot], step->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                              &step->requests[2 * (SCATTER + slot)]);
}

static int moving(const Step* step, int place)
{
  return step->requests[2 * place] != MPI_REQUEST_NULL || step->requests[2 * place + 1] != MPI_REQUEST_NULL;
}

static void wait_for(Step* step, int place)
{
  const double start = MPI_Wtime();
  if (!step->rings)
    MPI_Wait(&step->requests[2 * place], MPI_STATUS_IGNORE);
  while (moving(step, place))
    rings_wait_any(step->ring, RINGS, step->requests);
  step->waited[place >= SCATTER] += MPI_Wtime() - start;
}

static void advance_rings(Step* step)
{
  int completed, which[2 * RINGS];
  MPI_Testsome(2 * RINGS, step->requests, &completed, which, MPI_STATUSES_IGNORE);
  for (int k = 0; k < completed && completed != MPI_UNDEFINED; k++)
    ring_advance(&step->ring[which[k] / 2]);
}

/* ---- Computing
 * ------------------------------------------------------------------------------------------------------- */

static void spend(double seconds, int threads)
{
#ifdef SMPI_H
  if (threads == 1) {
    smpi_execute_benched(seconds); /* simulated, at the host's speed */
    return;
  }
  sg_exec_t part[MOST_THREADS];
  for (int thread = 0; thread < threads; thread++)
    part[thread] = sg_actor_exec_async(seconds * sg_host_get_speed(sg_host_self()));
  for (int thread = 0; thread < threads; thread++)
    sg_exec_wait(part[thread]);
#else
  (void)threads; /* their computation is not carried out */
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    ;
#endif
}

static void compute(Step* step, double seconds)
{
  if (!step->rings) {
    spend(seconds, step->threads);
    return;
  }
  for (int slice = 0; slice < SLICES; slice++) {
    spend(seconds / SLICES, step->threads);
    advance_rings(step);
  }
}

static void check_parameters(Step* step, int layer)
{
  for (int owner = 0; owner < step->ranks && step->checked; owner++)
    for (int i = 0; i < step->count; i++)
      step->wrong += step->parameters[layer % SLOTS][(size_t)owner * step->count + i] != parameter(layer, owner, i);
}

/* Waits for the gradients of a slot, and checks this rank's part of their sum. */
static void finish_scatter(Step* step, int slot)
{
  if (step->loaded[slot] < 0)
    return;
  wait_for(step, SCATTER + slot);
  for (int i = 0; i < step->count && step->checked; i++) {
    int sum = 0;
    for (int rank = 0; rank < step->ranks; rank++)
      sum += gradient(step->loaded[slot], rank, step->rank, i);
    step->wrong += step->reduced[slot][i] != sum;
  }
  step->loaded[slot] = -1;
}

static void forward(Step* step)
{
  start_gather(step, 0);
  for (int layer = 0; layer < step->layers; layer++) {
    wait_for(step, GATHER + layer % SLOTS);
    check_parameters(step, layer);
    if (layer + 1 < step->layers)
      start_gather(step, layer + 1);
    compute(step, step->seconds);
  }
}

static void backward(Step* step)
{
  start_gather(step, step->layers - 1);
  for (int layer = step->layers - 1; layer >= 0; layer--) {
    wait_for(step, GATHER + layer % SLOTS);
    check_parameters(step, layer);
    if (layer > 0)
      start_gather(step, layer - 1);
    compute(step, BACKWARD * step->seconds);
    finish_scatter(step, layer % SLOTS);
    start_scatter(step, layer);
  }
  for (int slot = 0; slot < SLOTS; slot++)
    finish_scatter(step, slot);
}

/* ---- The program
 * ----------------------------------------------------------------------------------------------------- */

static int* numbers(size_t count)
{
  int* memory = malloc(count * sizeof(int)); /* not calloc, which would touch memory that may be shared */
  if (memory == NULL) {
    fprintf(stderr, "fsdp_step: no memory for %zu bytes\n", count * sizeof(int));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

static void prepare(Step* step)
{
  const size_t part = (size_t)step->count, all = part * (size_t)step->ranks;
  for (int k = 0; k < 2 * RINGS; k++)
    step->requests[k] = MPI_REQUEST_NULL;
  for (int slot = 0; slot < SLOTS; slot++) {
    step->loaded[slot]         = -1;
    step->shard[slot]          = numbers(part);
    step->parameters[slot]     = numbers(all);
    step->gradients[slot]      = numbers(all);
    step->reduced[slot]        = numbers(part);
    const Ring gathers         = {step->rank,
                                  step->ranks,
                                  step->count,
                                  slot,
                                  0,
                                  step->checked,
                                  step->parameters[slot],
                                  NULL,
                                  {NULL, NULL},
                                  step->requests + 2 * (GATHER + slot),
                                  0};
    step->ring[GATHER + slot]  = gathers;
    const Ring scatters        = {step->rank,
                                  step->ranks,
                                  step->count,
                                  SCATTER + slot,
                                  1,
                                  step->checked,
                                  step->gradients[slot],
                                  step->reduced[slot],
                                  {numbers(part), numbers(part)},
                                  step->requests + 2 * (SCATTER + slot),
                                  0};
    step->ring[SCATTER + slot] = scatters;
  }
}

static void release(Step* step)
{
  for (int slot = 0; slot < SLOTS; slot++) {
    free(step->shard[slot]);
    free(step->parameters[slot]);
    free(step->gradients[slot]);
    free(step->reduced[slot]);
    free(step->ring[SCATTER + slot].partial[0]);
    free(step->ring[SCATTER + slot].partial[1]);
  }
}

static int parse(Step* step, int argc, char** argv)
{
  if (argc < 4 || argc > 7)
    return 0;
  const char* mode  = argc > 4 ? argv[4] : "mpi";
  const long bytes  = atol(argv[2]);
  const long shard  = (long)sizeof(int) * step->ranks;
  step->layers      = atoi(argv[1]);
  step->count       = (int)(bytes / shard);
  step->seconds     = atof(argv[3]) * 1e-6;
  step->rings       = strcmp(mode, "ring") == 0;
  step->checked     = argc < 6 || strcmp(argv[5], "checked") == 0;
  step->threads     = argc > 6 ? atoi(argv[6]) : 1;
  const int is_mode = step->rings || strcmp(mode, "mpi") == 0;
  return is_mode && step->layers > 0 && bytes > 0 && bytes % shard == 0 && step->seconds > 0 &&
         (step->checked || strcmp(argv[5], "unchecked") == 0) && step->threads > 0 && step->threads <= MOST_THREADS;
}

static int train(Step* step)
{
  prepare(step);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  forward(step);
  backward(step);
  const double seconds = MPI_Wtime() - start;
  if (step->rank == 0)
    printf("step %.1f us, of which computation %.1f us, waiting for Allgathers %.1f us, for Reduce-Scatters %.1f us\n",
           seconds * 1e6, (1 + BACKWARD) * step->layers * step->seconds * 1e6, step->waited[0] * 1e6,
           step->waited[1] * 1e6);
  release(step);
  return step->wrong;
}

int main(int argc, char** argv)
{
  Step step = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &step.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &step.ranks);
  if (!parse(&step, argc, argv)) {
    if (step.rank == 0)
      fputs("usage: fsdp_step LAYERS BYTES MICROSECONDS [mpi|ring [checked|unchecked [THREADS]]]   (BYTES a multiple "
            "of 4 "
            "times the number of ranks)\n",
            stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  const int wrong = train(&step);
  if (wrong > 0)
    fprintf(stderr, "fsdp_step: rank %d: %d numbers are wrong\n", step.rank, wrong);
  MPI_Finalize();
  return wrong > 0 ? EXIT_WRONG_RESULT : 0;
}
