/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allreduces of many kinds; every rank checks every result against its own reduction of all
 * contributions.
 *
 *     reductions SEED CALLS
 *
 * First each count, each communicator and each kind of data once, then CALLS random calls. All ranks draw the same
 * calls from SEED; each rank enters a call with its own delay. All values are chosen such that every order of reduction
 * that MPI allows gives the same bits. Each rank
 * prints one line per call, with a checksum over all bytes of the result, so that two runs can be
 * compared; a wrong result ends the program with status 1.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64, LONGEST_DELAY_US = 20, CONTRIBUTED = 17, UNTOUCHED = 34 };

/* ---- Random numbers, identical on every machine ---- */

typedef uint64_t Random;

static uint32_t draw(Random* state, uint32_t below)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

/* ---- Kinds of data ---- */

typedef struct {
  uint32_t at[2][2];
} Matrix;

/* As an MPI type, this struct has a hole, which no call may modify. */
typedef struct {
  int first;
  int hole;
  int last;
} Holed;

typedef struct {
  int value;
  int place;
} IntInt;

typedef struct {
  double value;
  int place;
} DoubleInt;

/* Products of matrices depend on the order; sums of pairs with holes do not. */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type)
{
  (void)type;
  const Matrix* left = in;
  Matrix* right      = inout;
  for (int k = 0; k < *count; k++) {
    Matrix product = {{{0, 0}, {0, 0}}};
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        for (int m = 0; m < 2; m++)
          product.at[i][j] += left[k].at[i][m] * right[k].at[m][j];
    right[k] = product;
  }
}

static void add_holed(void* in, void* inout, int* count, MPI_Datatype* type)
{
  (void)type;
  const Holed* left = in;
  Holed* right      = inout;
  for (int k = 0; k < *count; k++) {
    right[k].first += left[k].first;
    right[k].last += left[k].last;
  }
}

static void fill_int(void* element, uint32_t value)
{
  *(int*)element = (int)value;
}

static void fill_long(void* element, uint32_t value)
{
  *(long*)element = (long)value << 20;
}

static void fill_short(void* element, uint32_t value)
{
  *(short*)element = (short)(value % 1000);
}

static void fill_byte(void* element, uint32_t value)
{
  *(unsigned char*)element = (unsigned char)value;
}

/* Small multiples of 1/4: sums of a few dozen are exact in any order. */
static void fill_float(void* element, uint32_t value)
{
  *(float*)element = (float)(value % 4096) / 4;
}

static void fill_double(void* element, uint32_t value)
{
  *(double*)element = (double)value / 4;
}

/* Powers of two: products are exact in any order. */
static void fill_factor(void* element, uint32_t value)
{
  *(double*)element = value % 2 ? 2.0 : 0.5;
}

/* Values repeat, so that the index decides. */
static void fill_int_int(void* element, uint32_t value)
{
  *(IntInt*)element = (IntInt){(int)(value % 5), (int)(value / 5 % 100)};
}

static void fill_double_int(void* element, uint32_t value)
{
  memset(element, 0, sizeof(DoubleInt)); /* including the padding, since the checksum covers all bytes */
  ((DoubleInt*)element)->value = value % 5;
  ((DoubleInt*)element)->place = (int)(value / 5 % 100);
}

static void fill_matrix(void* element, uint32_t value)
{
  *(Matrix*)element = (Matrix){{{value, value >> 3 | 1}, {value >> 5, value >> 7}}};
}

static void fill_holed(void* element, uint32_t value)
{
  ((Holed*)element)->first = (int)(value & 0xffff);
  ((Holed*)element)->last  = (int)(value >> 16);
}

typedef struct {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t size;
  void (*fill)(void* element, uint32_t value);
} Kind;

enum { KINDS = 15 };

static void make_kinds(Kind* kinds)
{
  MPI_Datatype matrix, pair, holed;
  MPI_Op product, sum;
  MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(Holed), &holed);
  MPI_Type_commit(&holed);
  MPI_Type_free(&pair);
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(add_holed, 1, &sum);
  const Kind all[KINDS] = {
      {"int-sum", MPI_INT, MPI_SUM, sizeof(int), fill_int},
      {"int-max", MPI_INT, MPI_MAX, sizeof(int), fill_int},
      {"int-min", MPI_INT, MPI_MIN, sizeof(int), fill_int},
      {"int-bxor", MPI_INT, MPI_BXOR, sizeof(int), fill_int},
      {"int-land", MPI_INT, MPI_LAND, sizeof(int), fill_int},
      {"long-sum", MPI_LONG, MPI_SUM, sizeof(long), fill_long},
      {"short-max", MPI_SHORT, MPI_MAX, sizeof(short), fill_short},
      {"byte-bor", MPI_BYTE, MPI_BOR, 1, fill_byte},
      {"float-sum", MPI_FLOAT, MPI_SUM, sizeof(float), fill_float},
      {"double-sum", MPI_DOUBLE, MPI_SUM, sizeof(double), fill_double},
      {"double-prod", MPI_DOUBLE, MPI_PROD, sizeof(double), fill_factor},
      {"2int-maxloc", MPI_2INT, MPI_MAXLOC, sizeof(IntInt), fill_int_int},
      {"double-int-minloc", MPI_DOUBLE_INT, MPI_MINLOC, sizeof(DoubleInt), fill_double_int},
      {"matrix-product", matrix, product, sizeof(Matrix), fill_matrix},
      {"holed-sum", holed, sum, sizeof(Holed), fill_holed},
  };
  memcpy(kinds, all, sizeof(all));
}

static void free_kinds(Kind* kinds)
{
  for (int i = KINDS - 2; i < KINDS; i++) {
    MPI_Type_free(&kinds[i].type);
    MPI_Op_free(&kinds[i].op);
  }
}

/* ---- Communicators ---- */

static MPI_Comm split(int color, int key)
{
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  return comm;
}

static MPI_Comm make_world(int rank, int ranks)
{
  (void)rank, (void)ranks;
  return MPI_COMM_WORLD;
}

static MPI_Comm make_duplicate(int rank, int ranks)
{
  (void)rank, (void)ranks;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

static MPI_Comm make_reversed(int rank, int ranks)
{
  return split(0, ranks - rank);
}

static MPI_Comm make_halves(int rank, int ranks)
{
  return split(2 * rank < ranks, rank);
}

static MPI_Comm make_interleaved(int rank, int ranks)
{
  (void)ranks;
  return split(rank % 2, rank);
}

static MPI_Comm make_alone(int rank, int ranks)
{
  (void)ranks;
  return split(rank, 0);
}

static MPI_Comm make_all_but_first(int rank, int ranks)
{
  (void)rank, (void)ranks;
  MPI_Group all, some;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, (int[]){0}, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  return comm;
}

static const struct {
  const char* name;
  MPI_Comm (*make)(int rank, int ranks);
} PLACES[] = {
    {"world", make_world},
    {"duplicate", make_duplicate},
    {"reversed", make_reversed},
    {"halves", make_halves},
    {"interleaved", make_interleaved},
    {"alone", make_alone},
    {"self", NULL /* no call creates it */},
    {"all-but-first", make_all_but_first},
};

static MPI_Comm make_place(int place)
{
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return PLACES[place].make ? PLACES[place].make(rank, ranks) : MPI_COMM_SELF;
}

static void free_place(MPI_Comm* comm)
{
  if (*comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF && *comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

/* ---- One call ---- */

static const int SIZES[] = {1, 7, 63, 64, 65, 256, 4096, 100000};

typedef struct {
  int number;
  const Kind* kind;
  int place;
  int count;
  int in_place;
} Call;

static void fill(const Call* call, int rank, char* data)
{
  Random state = (Random)call->number * 1000 + (Random)rank;
  for (int i = 0; i < call->count; i++)
    call->kind->fill(data + call->kind->size * (size_t)i, draw(&state, 1u << 31));
}

/* Computes the result as MPI defines it: rank 0 op (rank 1 op (... op rank P-1)). */
static void expect(const Call* call, int ranks, char* expected, char* scratch)
{
  fill(call, ranks - 1, expected);
  for (int rank = ranks - 2; rank >= 0; rank--) {
    fill(call, rank, scratch);
    MPI_Reduce_local(scratch, expected, call->count, call->kind->type, call->kind->op);
  }
}

static uint64_t checksum(const char* data, size_t size)
{
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
  return hash;
}

static int report(const Call* call, int rank, const char* result, const char* expected, size_t size)
{
  int wrong = memcmp(result, expected, size) != 0;
  printf("call %d, %s, %s, %d elements%s, rank %d: %016llx%s\n", call->number, PLACES[call->place].name,
         call->kind->name, call->count, call->in_place ? " in place" : "", rank,
         (unsigned long long)checksum(result, size), wrong ? " WRONG" : "");
  return wrong;
}

/* Allocates one extra byte, to detect writes beyond the end. */
static char* buffer(size_t size, int value)
{
  return memset(malloc(size + 1), value, size + 1);
}

static int reduce_and_check(const Call* call, MPI_Comm comm)
{
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  size_t size    = call->kind->size * (size_t)call->count;
  char* send     = buffer(size, CONTRIBUTED);
  char* receive  = buffer(size, UNTOUCHED);
  char* expected = buffer(size, UNTOUCHED);
  fill(call, rank, call->in_place ? receive : send);
  MPI_Allreduce(call->in_place ? MPI_IN_PLACE : send, receive, call->count, call->kind->type, call->kind->op, comm);
  expect(call, ranks, expected, send);
  int wrong = report(call, rank, receive, expected, size) || receive[size] != UNTOUCHED;
  free(send);
  free(receive);
  free(expected);
  return wrong;
}

static int make_call(const Call* call, Random* own)
{
  MPI_Comm comm = make_place(call->place);
  usleep(draw(own, LONGEST_DELAY_US));
  int wrong = comm == MPI_COMM_NULL ? 0 : reduce_and_check(call, comm);
  free_place(&comm);
  return wrong;
}

/* ---- All calls ---- */

enum { FIXED = COUNT_OF(SIZES) + COUNT_OF(PLACES) + KINDS };

static Call choose_call(int number, const Kind* kinds, Random* common)
{
  int k = number;
  if (k < COUNT_OF(SIZES))
    return (Call){number, kinds, 0, SIZES[k], 0};
  if ((k -= COUNT_OF(SIZES)) < COUNT_OF(PLACES))
    return (Call){number, kinds, k, 65, 0};
  if ((k -= COUNT_OF(PLACES)) < KINDS)
    return (Call){number, kinds + k, 0, 7, k % 2};
  int kind     = draw(common, 2) ? 0 : (int)draw(common, KINDS);
  int place    = (int)draw(common, COUNT_OF(PLACES));
  int size     = (int)draw(common, COUNT_OF(SIZES));
  int in_place = (int)draw(common, 2);
  return (Call){number, kinds + kind, place, SIZES[size], in_place};
}

int main(int argc, char** argv)
{
  int rank, wrong = 0;
  Kind kinds[KINDS];
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    fputs("usage: reductions SEED CALLS\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Random common = strtoull(argv[1], NULL, 10);
  Random own    = common + (Random)rank + 1;
  make_kinds(kinds);
  for (int number = 0; number < FIXED + atoi(argv[2]); number++) {
    Call call = choose_call(number, kinds, &common);
    wrong |= make_call(&call, &own);
  }
  free_kinds(kinds);
  MPI_Finalize();
  return wrong ? EXIT_WRONG_RESULT : 0;
}
