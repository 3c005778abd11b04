/* SPDX-License-Identifier: LGPL-2.1-only */
/* Messages between two ranks or between pairs of ranks, and one-sided calls, as the OSU
 * micro-benchmarks (7.4) time them. Plain MPI: any MPI compiler builds it.
 *
 *     benchmark_messages NAME SIZES [iterations=N] [warm-up=N] [window=N] [type=TYPE] [op=OP] [each]
 *
 *   latency     ping-pong between rank 0 and rank 1; half of the round trip
 *   multi_lat   the same between ranks i and i + n/2 at once, a barrier before each; mean of the pairs
 *   bw          rank 0 starts a window of sends, waits for all, then for a reply; MB/s
 *   bibw        the same in both directions at once; sum of both in MB/s
 *   mbw_mr      bw by n/2 pairs at once, a barrier before each window; MB/s and messages/s of all pairs
 *   put_latency, get_latency, acc_latency, get_acc_latency, fop_latency, cas_latency
 *               rank 0 makes the one-sided call and flushes it, under one shared lock of rank 1's window
 *   put_bw, get_bw
 *               a window of calls before each flush; MB/s
 *   put_bibw    both ranks put a window of messages between post/start and complete/wait; sum in MB/s
 *
 * SIZES are comma-separated message sizes in bytes. A line is the size and the figures listed above;
 * latencies are in microseconds, and MB are 10^6 bytes.
 */
#include "benchmark.h"

#define WORLD MPI_COMM_WORLD
enum { TAG = 100, ANSWER = 101 };

/* Arguments of a rank's messages; `count` elements make `bytes`. */
typedef struct {
  const Options* options;
  long bytes;
  int count;
  int partner;
  char* out;
  char* in;
  char* compared; /* buffer of compare-and-swap */
  MPI_Request* requests;
  MPI_Win window;
} Job;

/* Timed round of a benchmark. Ranks without a time of their own return 0. */
typedef double (*Round)(Job*);

static double ping(Job* job)
{
  const MPI_Datatype type = job->options->type;
  if (job->options->rank >= job->options->ranks / 2) {
    MPI_Recv(job->in, job->count, type, job->partner, TAG, WORLD, MPI_STATUS_IGNORE);
    MPI_Send(job->out, job->count, type, job->partner, TAG, WORLD);
    return 0;
  }
  const double start = MPI_Wtime();
  MPI_Send(job->out, job->count, type, job->partner, TAG, WORLD);
  MPI_Recv(job->in, job->count, type, job->partner, TAG, WORLD, MPI_STATUS_IGNORE);
  return MPI_Wtime() - start;
}

static double many_pings(Job* job)
{
  MPI_Barrier(WORLD);
  return ping(job);
}

static double stream(Job* job)
{
  const Options* o = job->options;
  if (o->rank >= o->ranks / 2) {
    for (int i = 0; i < o->window; i++)
      MPI_Irecv(job->in, job->count, o->type, job->partner, TAG, WORLD, &job->requests[i]);
    MPI_Waitall(o->window, job->requests, MPI_STATUSES_IGNORE);
    MPI_Send(job->out, 1, MPI_CHAR, job->partner, ANSWER, WORLD);
    return 0;
  }
  const double start = MPI_Wtime();
  for (int i = 0; i < o->window; i++)
    MPI_Isend(job->out, job->count, o->type, job->partner, TAG, WORLD, &job->requests[i]);
  MPI_Waitall(o->window, job->requests, MPI_STATUSES_IGNORE);
  MPI_Recv(job->in, 1, MPI_CHAR, job->partner, ANSWER, WORLD, MPI_STATUS_IGNORE);
  return MPI_Wtime() - start;
}

static double many_streams(Job* job)
{
  MPI_Barrier(WORLD);
  return stream(job);
}

static double both_ways(Job* job)
{
  const Options* o   = job->options;
  const double start = MPI_Wtime();
  for (int i = 0; i < o->window; i++)
    MPI_Irecv(job->in, job->count, o->type, job->partner, TAG, WORLD, &job->requests[i]);
  MPI_Request* sends = job->requests + o->window;
  for (int i = 0; i < o->window; i++)
    MPI_Isend(job->out, job->count, o->type, job->partner, TAG, WORLD, &sends[i]);
  MPI_Waitall(o->window, o->rank == 0 ? sends : job->requests, MPI_STATUSES_IGNORE);
  MPI_Waitall(o->window, o->rank == 0 ? job->requests : sends, MPI_STATUSES_IGNORE);
  return o->rank == 0 ? MPI_Wtime() - start : 0;
}

/* ---- One-sided ----------------------------------------------------------------------------------------------------
 */

typedef void (*OneSided)(Job*, int at);

static void put(Job* job, int at)
{
  MPI_Put(job->out, job->count, job->options->type, 1 - job->options->rank, at * job->bytes, job->count,
          job->options->type, job->window);
}

static void get(Job* job, int at)
{
  MPI_Get(job->in, job->count, job->options->type, 1, at * job->bytes, job->count, job->options->type, job->window);
}

static void accumulate(Job* job, int at)
{
  (void)at;
  MPI_Accumulate(job->out, job->count, job->options->type, 1, 0, job->count, job->options->type, job->options->op,
                 job->window);
}

static void get_accumulate(Job* job, int at)
{
  (void)at;
  MPI_Get_accumulate(job->out, job->count, job->options->type, job->in, job->count, job->options->type, 1, 0,
                     job->count, job->options->type, job->options->op, job->window);
}

static void fetch_and_op(Job* job, int at)
{
  (void)at;
  MPI_Fetch_and_op(job->out, job->in, job->options->type, 1, 0, job->options->op, job->window);
}

static void compare_and_swap(Job* job, int at)
{
  (void)at;
  MPI_Compare_and_swap(job->out, job->compared, job->in, job->options->type, 1, 0, job->window);
}

static double flushed(Job* job, OneSided call, int calls)
{
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; i++)
    call(job, i);
  MPI_Win_flush(1, job->window);
  return MPI_Wtime() - start;
}

#define FLUSHED(name, call, calls)                                                                                     \
  static double name(Job* job)                                                                                         \
  {                                                                                                                    \
    return job->options->rank == 0 ? flushed(job, call, calls) : 0;                                                    \
  }
FLUSHED(one_put, put, 1)
FLUSHED(one_get, get, 1)
FLUSHED(one_accumulate, accumulate, 1)
FLUSHED(one_get_accumulate, get_accumulate, 1)
FLUSHED(one_fetch_and_op, fetch_and_op, 1)
FLUSHED(one_compare_and_swap, compare_and_swap, 1)
FLUSHED(many_puts, put, job->options->window)
FLUSHED(many_gets, get, job->options->window)

static double puts_both_ways(Job* job)
{
  const int other    = 1 - job->options->rank;
  const double start = MPI_Wtime();
  MPI_Group all, group;
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 1, &other, &group);
  MPI_Win_post(group, 0, job->window);
  MPI_Win_start(group, 0, job->window);
  for (int i = 0; i < job->options->window; i++)
    put(job, i);
  MPI_Win_complete(job->window);
  MPI_Win_wait(job->window);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  return job->options->rank == 0 ? MPI_Wtime() - start : 0;
}

/* ---- The table ----------------------------------------------------------------------------------------------------
 */

typedef enum { HALF_LATENCY, LATENCY, RATE, RATE_BOTH, RATES } Figure;
typedef enum { MESSAGES, LOCKED, POSTED } Access;

typedef struct {
  const char* name;
  Round round;
  Figure figure;
  Access access;
  int one_element; /* whatever the size */
} Benchmark;

static const Benchmark benchmarks[] = {
    {"latency", ping, HALF_LATENCY, MESSAGES, 0},
    {"multi_lat", many_pings, HALF_LATENCY, MESSAGES, 0},
    {"bw", stream, RATE, MESSAGES, 0},
    {"bibw", both_ways, RATE_BOTH, MESSAGES, 0},
    {"mbw_mr", many_streams, RATES, MESSAGES, 0},
    {"put_latency", one_put, LATENCY, LOCKED, 0},
    {"get_latency", one_get, LATENCY, LOCKED, 0},
    {"acc_latency", one_accumulate, LATENCY, LOCKED, 0},
    {"get_acc_latency", one_get_accumulate, LATENCY, LOCKED, 0},
    {"fop_latency", one_fetch_and_op, LATENCY, LOCKED, 1},
    {"cas_latency", one_compare_and_swap, LATENCY, LOCKED, 1},
    {"put_bw", many_puts, RATE, LOCKED, 0},
    {"get_bw", many_gets, RATE, LOCKED, 0},
    {"put_bibw", puts_both_ways, RATE_BOTH, POSTED, 0},
};

static const Benchmark* find(const char* name)
{
  for (size_t i = 0; i < sizeof(benchmarks) / sizeof(benchmarks[0]); i++)
    if (strcmp(benchmarks[i].name, name) == 0)
      return &benchmarks[i];
  return NULL;
}

/* ---- Times --------------------------------------------------------------------------------------------------------
 */

static int pairs_of(const Options* options)
{
  return options->ranks / 2;
}

/* Runs all rounds, and returns this rank's mean: of the rounds' own times, or of the whole loop. */
static double rounds(Job* job, const Benchmark* benchmark, double* each, int together)
{
  const Options* o = job->options;
  double time = 0, start = 0;
  for (int i = -o->warm_up; i < o->iterations; i++) {
    if (i == 0)
      start = MPI_Wtime();
    const double took = benchmark->round(job);
    if (i >= 0) {
      time += took;
      each[i] = took;
    }
  }
  return (together ? MPI_Wtime() - start : time) / o->iterations;
}

/* One-sided calls are timed together, as in OSU, whose programs also read the clock before and
 * after each. */
static double measured(Job* job, const Benchmark* benchmark, double* each)
{
  const Options* o = job->options;
  MPI_Barrier(WORLD);
  if (benchmark->access == MESSAGES)
    return rounds(job, benchmark, each, 0);
  double mean = 0;
  if (benchmark->access == POSTED)
    mean = rounds(job, benchmark, each, 1);
  else if (o->rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, job->window);
    mean = rounds(job, benchmark, each, 1);
    MPI_Win_unlock(1, job->window);
  }
  MPI_Barrier(WORLD);
  return o->rank == 0 ? mean : 0;
}

/* Fills the row of a size; returns its number of figures. */
static int figures(const Job* job, Figure figure, double seconds, double* row)
{
  const double window = job->options->window;
  const double rate   = (double)job->bytes / 1e6 * window / seconds;
  switch (figure) {
    case HALF_LATENCY:
      row[0] = seconds / 2 * 1e6;
      return 1;
    case LATENCY:
      row[0] = seconds * 1e6;
      return 1;
    case RATE:
      row[0] = rate;
      return 1;
    case RATE_BOTH:
      row[0] = 2 * rate;
      return 1;
    default:
      row[0] = rate * pairs_of(job->options);
      row[1] = window * pairs_of(job->options) / seconds;
      return 2;
  }
}

static void measure(const Options* options, const Benchmark* benchmark, long bytes, double* each)
{
  const int pairs   = pairs_of(options);
  const size_t room = (size_t)bytes * (size_t)(benchmark->access == MESSAGES ? 1 : options->window);
  Job job           = {.options = options, .bytes = bytes, .count = (int)(bytes / options->type_size)};
  job.partner       = options->rank < pairs ? options->rank + pairs : options->rank - pairs;
  job.out           = buffer((size_t)bytes + sizeof(double));
  job.in            = buffer((size_t)bytes + sizeof(double));
  job.compared      = buffer(sizeof(double));
  job.requests      = own(2 * (size_t)options->window * sizeof(MPI_Request));
  char* base        = NULL;
  if (benchmark->access != MESSAGES)
    MPI_Win_allocate((MPI_Aint)(room + sizeof(double)), 1, MPI_INFO_NULL, WORLD, &base, &job.window);

  const double mean = measured(&job, benchmark, each);
  double sum, row[2];
  MPI_Reduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, ROOT, WORLD);
  if (options->rank < pairs)
    print_each(options, bytes, each, benchmark->figure == HALF_LATENCY ? 0.5 : 1);
  MPI_Barrier(WORLD);
  if (options->rank == ROOT) {
    const int n = figures(&job, benchmark->figure, sum / pairs, row);
    print_row(benchmark->one_element ? options->type_size : bytes, row, n);
    fflush(stdout);
  }
  if (benchmark->access != MESSAGES)
    MPI_Win_free(&job.window);
  free(job.out);
  free(job.in);
  free(job.compared);
  (free)(job.requests);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Options options;
  const int understood       = parse(&options, argc, argv);
  const Benchmark* benchmark = understood ? find(options.name) : NULL;
  if (benchmark == NULL || options.ranks % 2 != 0) {
    if (options.rank == ROOT)
      fputs("usage: benchmark_messages NAME BYTES,... [iterations=N] [warm-up=N] [window=N] [type=TYPE] [op=OP] [each]"
            "   (an even number of ranks)\n",
            stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  double* each = own((size_t)options.iterations * sizeof(double));
  for (int i = 0; i < options.n_sizes; i++)
    measure(&options, benchmark, options.sizes[i], each);
  (free)(each);
  MPI_Finalize();
  return 0;
}
