/* SPDX-License-Identifier: LGPL-2.1-only */
/* Shared by the programs of `weft bench`: options, memory, and output lines. */
#ifndef WEFT_EXAMPLES_BENCHMARK_H
#define WEFT_EXAMPLES_BENCHMARK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, ROOT = 0, MOST_SIZES = 128 };

typedef struct {
  const char* name;
  int rank;
  int ranks;
  long sizes[MOST_SIZES];
  int n_sizes;
  int iterations;
  int warm_up;
  int window;
  int each;
  int back_to_back;
  int in_place;
  MPI_Datatype type;
  int type_size;
  MPI_Op op;
} Options;

static inline int find_type(const char* name, MPI_Datatype* type)
{
  const struct {
    const char* name;
    MPI_Datatype type;
  } types[] = {{"char", MPI_CHAR}, {"short", MPI_SHORT}, {"int", MPI_INT},
               {"long", MPI_LONG}, {"float", MPI_FLOAT}, {"double", MPI_DOUBLE}};
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
    if (strcmp(types[i].name, name) == 0) {
      *type = types[i].type;
      return 1;
    }
  return 0;
}

static inline int find_op(const char* name, MPI_Op* op)
{
  const struct {
    const char* name;
    MPI_Op op;
  } ops[] = {{"sum", MPI_SUM}, {"prod", MPI_PROD}, {"max", MPI_MAX},   {"min", MPI_MIN}, {"band", MPI_BAND},
             {"bor", MPI_BOR}, {"bxor", MPI_BXOR}, {"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}};
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
    if (strcmp(ops[i].name, name) == 0) {
      *op = ops[i].op;
      return 1;
    }
  return 0;
}

static inline int parse_word(Options* options, const char* word)
{
  char text[16];
  return sscanf(word, "iterations=%d", &options->iterations) == 1 ||
         sscanf(word, "warm-up=%d", &options->warm_up) == 1 || sscanf(word, "window=%d", &options->window) == 1 ||
         (sscanf(word, "type=%15s", text) == 1 && find_type(text, &options->type)) ||
         (sscanf(word, "op=%15s", text) == 1 && find_op(text, &options->op)) ||
         (strcmp(word, "back-to-back") == 0 && (options->back_to_back = 1)) ||
         (strcmp(word, "in-place") == 0 && (options->in_place = 1)) ||
         (strcmp(word, "each") == 0 && (options->each = 1));
}

static inline int parse_sizes(Options* options, const char* text)
{
  for (const char* at = text;; at++) {
    char* end;
    const long bytes = strtol(at, &end, 10);
    if (end == at || bytes < 0 || options->n_sizes == MOST_SIZES)
      return 0;
    options->sizes[options->n_sizes++] = bytes;
    at                                 = end;
    if (*at != ',')
      return *at == '\0';
  }
}

/* Parses NAME SIZES [WORD...], as described in the programs. Returns whether it succeeded. */
static inline int parse(Options* options, int argc, char** argv)
{
  *options = (Options){.iterations = 10, .warm_up = 2, .window = 64, .type = MPI_CHAR, .op = MPI_SUM};
  MPI_Comm_rank(MPI_COMM_WORLD, &options->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &options->ranks);
  if (argc < 3 || !parse_sizes(options, argv[2]))
    return 0;
  options->name = argv[1];
  for (int i = 3; i < argc; i++)
    if (!parse_word(options, argv[i]))
      return 0;
  MPI_Type_size(options->type, &options->type_size);
  return options->iterations > 0 && options->warm_up >= 0 && options->window > 0;
}

static inline void* checked(void* memory, size_t bytes)
{
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

/* Returns memory for messages. It is neither filled nor read, so that a simulator may share it
 * among the ranks. */
static inline void* buffer(size_t bytes)
{
  return checked(malloc(bytes + 1), bytes);
}

/* Returns memory private to the rank: the parentheses prevent the expansion of a simulator's
 * `malloc` macro. */
static inline void* own(size_t bytes)
{
  return checked((malloc)(bytes + 1), bytes);
}

/* Prints the numbers of a size. */
static inline void print_row(long bytes, const double* numbers, int n)
{
  printf("%ld", bytes);
  for (int i = 0; i < n; i++)
    printf(" %.12g", numbers[i]);
  printf("\n");
}

/* With `each`: prints the times of a rank's calls, before the row of their size. */
static inline void print_each(const Options* options, long bytes, const double* seconds, double factor)
{
  if (!options->each)
    return;
  printf("each %ld %d", bytes, options->rank);
  for (int i = 0; i < options->iterations; i++)
    printf(" %.12g", seconds[i] * factor * 1e6);
  printf("\n");
  fflush(stdout);
}

#endif
