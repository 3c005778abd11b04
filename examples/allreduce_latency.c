/* SPDX-License-Identifier: LGPL-2.1-only */
/* Latency of MPI_Allreduce (MPI_INT, MPI_SUM) by message size. Plain MPI: any MPI compiler builds
 * it.
 *
 *     allreduce_latency [SIZES [ITERATIONS [each]]]
 *
 * SIZES in bytes, multiples of 4: `4:1048576` doubles from the first to the last, `4,1000,1024` is
 * a list.
 *
 * For each size all ranks meet in a barrier, make one warm-up call (so that all leave it as they
 * leave every other), then ITERATIONS calls back to back. Only the whole loop is timed. A line is
 * the size, the average over all ranks of the mean time of a call, and the mean time on the slowest
 * rank. Every rank checks its last result; a wrong one ends the program with exit status 1.
 *
 * With `each` every call is timed as well: before the line of a size each rank writes a line with
 * `each`, the size, the rank, and the times of its calls in order. All times are in microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZES 128

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 2 };

typedef struct {
  int rank;
  int ranks;
  int iterations;
  int each;
  int n_sizes;
  long sizes[MAX_SIZES];
} Options;

static const char* const usage = "usage: allreduce_latency [MIN:MAX | SIZE,SIZE,... [ITERATIONS [each]]]   (sizes in "
                                 "bytes, multiples of 4; at most 128 of them)\n";

static int add_size(Options* options, long bytes)
{
  if (bytes <= 0 || bytes % (long)sizeof(int) != 0 || options->n_sizes == MAX_SIZES)
    return 0;
  options->sizes[options->n_sizes++] = bytes;
  return 1;
}

static int parse_range(Options* options, long first, const char* text)
{
  char* end;
  long last = strtol(text, &end, 10);
  if (*end != '\0' || last < first)
    return 0;
  for (long bytes = first; bytes <= last; bytes *= 2)
    if (!add_size(options, bytes))
      return 0;
  return 1;
}

static int parse_sizes(Options* options, const char* text)
{
  char* end;
  long bytes = strtol(text, &end, 10);
  if (*end == ':')
    return parse_range(options, bytes, end + 1);
  while (add_size(options, bytes)) {
    if (*end == '\0')
      return 1;
    if (*end != ',')
      return 0;
    bytes = strtol(end + 1, &end, 10);
  }
  return 0;
}

static int parse_options(Options* options, int argc, char** argv)
{
  options->iterations = argc > 2 ? atoi(argv[2]) : 10;
  options->each       = argc > 3 && strcmp(argv[3], "each") == 0;
  options->n_sizes    = 0;
  return argc <= 3 + options->each && options->iterations > 0 && parse_sizes(options, argc > 1 ? argv[1] : "4:1048576");
}

/* Small numbers that differ by rank and index, so that a sum of wrong contributions is detected. */
static int contribution(int rank, int i)
{
  return rank % 7 + i % 11 + 1;
}

static int count_wrong(const int* result, int count, int ranks)
{
  int rest = ranks % 7, wrong = 0;
  int sum_of_ranks = ranks / 7 * 21 + rest * (rest - 1) / 2 + ranks; /* of rank % 7 + 1 */
  for (int i = 0; i < count; i++)
    wrong += result[i] != sum_of_ranks + ranks * (i % 11);
  return wrong;
}

/* Executes the timed loop. Stores the end time of each call in `ends`, in seconds from the start,
 * unless it is NULL. */
static double timed_calls(const int* send, int* receive, int count, int iterations, double* ends)
{
  const double start = MPI_Wtime();
  for (int i = 0; i < iterations; i++) {
    MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (ends != NULL)
      ends[i] = MPI_Wtime() - start;
  }
  return ends != NULL ? ends[iterations - 1] : MPI_Wtime() - start;
}

static double time_per_call(const int* send, int* receive, int count, int iterations, double* ends)
{
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++)
    receive[i] = -1;
  return timed_calls(send, receive, count, iterations, ends) / iterations;
}

static void print_each(const Options* options, long bytes, const double* ends)
{
  printf("each %ld %d", bytes, options->rank);
  for (int i = 0; i < options->iterations; i++)
    printf(" %.4f", (ends[i] - (i > 0 ? ends[i - 1] : 0)) * 1e6);
  printf("\n");
  fflush(stdout);
}

static void print_line(const Options* options, long bytes, double seconds)
{
  double sum = 0, max = 0;
  MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &max, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (options->rank != 0)
    return;
  printf("%10ld %14.4f %14.4f\n", bytes, sum / options->ranks * 1e6, max * 1e6);
  fflush(stdout);
}

static int measure(const Options* options, long bytes)
{
  int count    = (int)(bytes / (long)sizeof(int));
  int* send    = malloc((size_t)bytes);
  int* receive = malloc((size_t)bytes);
  double* ends = options->each ? malloc(sizeof(double) * (size_t)options->iterations) : NULL;
  if (send == NULL || receive == NULL || (options->each && ends == NULL)) {
    fprintf(stderr, "allreduce_latency: rank %d: no memory for 2 x %ld bytes\n", options->rank, bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  for (int i = 0; i < count; i++)
    send[i] = contribution(options->rank, i);

  const double seconds = time_per_call(send, receive, count, options->iterations, ends);
  if (ends != NULL)
    print_each(options, bytes, ends);
  print_line(options, bytes, seconds);
  int wrong = count_wrong(receive, count, options->ranks);
  if (wrong > 0)
    fprintf(stderr, "allreduce_latency: rank %d: %d of %d numbers are wrong at %ld bytes\n", options->rank, wrong,
            count, bytes);
  free(send);
  free(receive);
  free(ends);
  return wrong;
}

int main(int argc, char** argv)
{
  Options options;
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &options.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &options.ranks);
  if (!parse_options(&options, argc, argv)) {
    if (options.rank == 0)
      fputs(usage, stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  if (options.rank == 0)
    printf("# MPI_Allreduce, MPI_INT, MPI_SUM, %d ranks, %d calls per size\n#    bytes     latency_us         max_us\n",
           options.ranks, options.iterations);
  for (int i = 0; i < options.n_sizes; i++)
    wrong |= measure(&options, options.sizes[i]) > 0;
  MPI_Finalize();
  return wrong ? EXIT_WRONG_RESULT : 0;
}
