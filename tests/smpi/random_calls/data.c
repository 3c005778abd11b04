/* SPDX-License-Identifier: LGPL-2.1-only */
#include "data.h"

#include <stdlib.h>
#include <string.h>

Base bases[BASES];
Operation operations[OPERATIONS];

enum { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, MAXLOC, MINLOC, ADD, MATRIX, AFFINE };

/* ---- Elements ---- */

typedef struct {
  int value, place;
} IntInt;
typedef struct {
  long value;
  int place;
} LongInt;
typedef struct {
  float value;
  int place;
} FloatInt;
typedef struct {
  double value;
  int place;
} DoubleInt;

/* The 80 bits of x86; other formats have no padding. */
enum { LONG_DOUBLE_BYTES = sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double) };

static void store_integer(const Base* base, void* element, uint64_t value)
{
  /* Little-endian: the first bytes are the value modulo 2^(8 size). */
  memcpy(element, &value, base->size);
}

static uint64_t load_integer(const Base* base, const void* element)
{
  uint64_t value = 0;
  memcpy(&value, element, base->size);
  const int unused = 64 - 8 * (int)base->size;
  return base->family == SIGNED_INTEGER ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Sums and products of a few dozen of these are exact in any order, and never -0. */
static double exact_value(uint64_t bits)
{
  static const double values[] = {-2, -1, -0.5, 0.5, 1, 2};
  return values[bits % 6];
}

static double inexact_value(uint64_t bits)
{
  return (double)(int64_t)bits / 3e18;
}

static void fill_real(const Base* base, void* element, double value)
{
  if (base->type == MPI_FLOAT)
    *(float*)element = (float)value;
  else if (base->type == MPI_DOUBLE)
    *(double*)element = value;
  else
    *(long double*)element = (long double)value;
}

/* Values often coincide, so that the index decides. */
static void fill_pair(const Base* base, void* element, int value, int place)
{
  if (base->type == MPI_2INT)
    *(IntInt*)element = (IntInt){value, place};
  else if (base->type == MPI_LONG_INT)
    *(LongInt*)element = (LongInt){value, place};
  else if (base->type == MPI_FLOAT_INT)
    *(FloatInt*)element = (FloatInt){(float)value, place};
  else
    *(DoubleInt*)element = (DoubleInt){value, place};
}

void fill(const Base* base, void* element, uint64_t bits, bool inexact)
{
  switch (base->family) {
    case SIGNED_INTEGER:
    case UNSIGNED_INTEGER:
      store_integer(base, element, bits);
      break;
    case REAL:
      fill_real(base, element, inexact ? inexact_value(bits) : exact_value(bits));
      break;
    case PAIR:
      fill_pair(base, element, (int)(bits % 5), (int)(bits / 5 % 100));
      break;
  }
}

/* ---- Reference reductions ---- */

static uint64_t combine_integers(int operation, bool is_signed, uint64_t in, uint64_t inout)
{
  const bool greater = is_signed ? (int64_t)in > (int64_t)inout : in > inout;
  switch (operation) {
    case SUM:
      return in + inout;
    case PROD:
      return in * inout;
    case MAX:
      return greater ? in : inout;
    case MIN:
      return greater ? inout : in;
    case LAND:
      return in && inout;
    case LOR:
      return in || inout;
    case LXOR:
      return !in != !inout;
    case BAND:
      return in & inout;
    case BOR:
      return in | inout;
    case BXOR:
      return in ^ inout;
    default:
      abort();
  }
}

#define COMBINE_REALS(name, type)                                                                                      \
  static void name(int operation, const void* in, void* inout)                                                         \
  {                                                                                                                    \
    const type left  = *(const type*)in;                                                                               \
    const type right = *(type*)inout;                                                                                  \
    *(type*)inout    = operation == SUM    ? left + right                                                              \
                       : operation == PROD ? left * right                                                              \
                                           : ((left > right) == (operation == MAX) ? left : right);                    \
  }
COMBINE_REALS(combine_floats, float)
COMBINE_REALS(combine_doubles, double)
COMBINE_REALS(combine_long_doubles, long double)

#define COMBINE_PAIRS(name, type)                                                                                      \
  static void name(int operation, const void* in, void* inout)                                                         \
  {                                                                                                                    \
    const type left  = *(const type*)in;                                                                               \
    const type right = *(type*)inout;                                                                                  \
    const bool first =                                                                                                 \
        left.value == right.value ? left.place < right.place : (left.value > right.value) == (operation == MAXLOC);    \
    *(type*)inout = first ? left : right;                                                                              \
  }
COMBINE_PAIRS(combine_int_ints, IntInt)
COMBINE_PAIRS(combine_long_ints, LongInt)
COMBINE_PAIRS(combine_float_ints, FloatInt)
COMBINE_PAIRS(combine_double_ints, DoubleInt)

/* Reduces items of four integers modulo 2^32. With AFFINE, an item holds two functions x -> a x + b, which are
 * composed. */
static void combine_items(int operation, const uint32_t* in, uint32_t* inout)
{
  uint32_t out[ITEM];
  for (int i = 0; i < ITEM; i++)
    switch (operation) {
      case MATRIX:
        out[i] = in[i & 2] * inout[i & 1] + in[(i & 2) + 1] * inout[2 + (i & 1)];
        break;
      case AFFINE:
        out[i] = i % 2 == 0 ? in[i] * inout[i] : in[i - 1] * inout[i] + in[i];
        break;
      default:
        out[i] = in[i] + inout[i];
    }
  memcpy(inout, out, sizeof(out));
}

static void combine_elements(int operation, const Base* base, const void* in, void* inout)
{
  if (base->family == SIGNED_INTEGER || base->family == UNSIGNED_INTEGER)
    store_integer(
        base, inout,
        combine_integers(operation, base->family == SIGNED_INTEGER, load_integer(base, in), load_integer(base, inout)));
  else if (base->type == MPI_FLOAT)
    combine_floats(operation, in, inout);
  else if (base->type == MPI_DOUBLE)
    combine_doubles(operation, in, inout);
  else if (base->type == MPI_LONG_DOUBLE)
    combine_long_doubles(operation, in, inout);
  else if (base->type == MPI_2INT)
    combine_int_ints(operation, in, inout);
  else if (base->type == MPI_LONG_INT)
    combine_long_ints(operation, in, inout);
  else if (base->type == MPI_FLOAT_INT)
    combine_float_ints(operation, in, inout);
  else
    combine_double_ints(operation, in, inout);
}

void apply(const Operation* operation, const Base* base, const void* in, void* inout, int elements)
{
  const int number = (int)(operation - operations);
  for (int i = 0; i < elements; i += operation->of_items ? ITEM : 1) {
    const void* left = (const char*)in + base->size * (size_t)i;
    void* right      = (char*)inout + base->size * (size_t)i;
    if (operation->of_items)
      combine_items(number, left, right);
    else
      combine_elements(number, base, left, right);
  }
}

/* ---- User-defined operations ---- */

static const Base* unsigned_base(void)
{
  for (const Base* base = bases;; base++)
    if (base->type == MPI_UNSIGNED)
      return base;
}

static const Layout* layout_of(MPI_Datatype type)
{
  for (const Layout* layout = unsigned_base()->layouts;; layout++)
    if (layout->type == type)
      return layout;
}

static void reduce_items(int operation, const void* in, void* inout, int count, MPI_Datatype type)
{
  const Layout* layout = layout_of(type);
  for (int item = 0; item < count; item++) {
    const uint32_t* left = (const uint32_t*)in + item * layout->extent;
    uint32_t* right      = (uint32_t*)inout + item * layout->extent;
    uint32_t packed_left[ITEM], packed_right[ITEM];
    for (int i = 0; i < ITEM; i++) {
      packed_left[i]  = left[layout->offsets[i]];
      packed_right[i] = right[layout->offsets[i]];
    }
    combine_items(operation, packed_left, packed_right);
    for (int i = 0; i < ITEM; i++)
      right[layout->offsets[i]] = packed_right[i];
  }
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type)
{
  reduce_items(ADD, in, inout, *count, *type);
}

static void multiply(void* in, void* inout, int* count, MPI_Datatype* type)
{
  reduce_items(MATRIX, in, inout, *count, *type);
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type)
{
  reduce_items(AFFINE, in, inout, *count, *type);
}

/* ---- Tables ---- */

static void make_layouts(Base* base)
{
  const MPI_Datatype type   = base->type;
  const MPI_Aint size       = (MPI_Aint)base->size;
  const Layout all[LAYOUTS] = {
      {"plain", type, 1, 1, {0}, 1},
      {"plain fours", type, ITEM, ITEM, {0, 1, 2, 3}, 4},
      {"contiguous", MPI_DATATYPE_NULL, 1, ITEM, {0, 1, 2, 3}, 4},
      {"vector", MPI_DATATYPE_NULL, 1, ITEM, {0, 1, 3, 4}, 5},
      {"indexed", MPI_DATATYPE_NULL, 1, ITEM, {0, 2, 3, 5}, 6},
      {"struct", MPI_DATATYPE_NULL, 1, ITEM, {0, 3, 4, 6}, 7},
      {"resized", MPI_DATATYPE_NULL, 1, ITEM, {0, 1, 3, 4}, 8},
      {"spread", MPI_DATATYPE_NULL, 1, ITEM, {0, 2, 4, 6}, 7},
  };
  memcpy(base->layouts, all, sizeof(all));
  Layout* layout = base->layouts + 2;
  MPI_Type_contiguous(ITEM, type, &layout++->type);
  MPI_Type_vector(2, 2, 3, type, &layout++->type);
  MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){0, 2, 5}, type, &layout++->type);
  MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 3 * size, 6 * size}, (MPI_Datatype[]){type, type, type},
                         &layout++->type);
  MPI_Type_create_resized(base->layouts[3].type, 0, 8 * size, &layout++->type);
  MPI_Type_create_hvector(ITEM, 1, 2 * size, type, &layout->type);
  for (layout = base->layouts + 2; layout < base->layouts + LAYOUTS; layout++)
    MPI_Type_commit(&layout->type);
}

static void make_bases(void)
{
  const Base all[BASES] = {
      {.name = "int8", MPI_INT8_T, SIGNED_INTEGER, 1, 1},
      {.name = "int16", MPI_INT16_T, SIGNED_INTEGER, 2, 2},
      {.name = "int32", MPI_INT32_T, SIGNED_INTEGER, 4, 4},
      {.name = "int64", MPI_INT64_T, SIGNED_INTEGER, 8, 8},
      {.name = "uint8", MPI_UINT8_T, UNSIGNED_INTEGER, 1, 1},
      {.name = "uint16", MPI_UINT16_T, UNSIGNED_INTEGER, 2, 2},
      {.name = "uint64", MPI_UINT64_T, UNSIGNED_INTEGER, 8, 8},
      {.name = "short", MPI_SHORT, SIGNED_INTEGER, sizeof(short), sizeof(short)},
      {.name = "int", MPI_INT, SIGNED_INTEGER, sizeof(int), sizeof(int)},
      {.name = "long", MPI_LONG, SIGNED_INTEGER, sizeof(long), sizeof(long)},
      {.name = "unsigned", MPI_UNSIGNED, UNSIGNED_INTEGER, sizeof(uint32_t), sizeof(uint32_t)},
      {.name = "float", MPI_FLOAT, REAL, sizeof(float), sizeof(float)},
      {.name = "double", MPI_DOUBLE, REAL, sizeof(double), sizeof(double)},
      {.name = "long double", MPI_LONG_DOUBLE, REAL, sizeof(long double), LONG_DOUBLE_BYTES},
      {.name = "2int", MPI_2INT, PAIR, sizeof(IntInt), sizeof(IntInt)},
      {.name = "long-int", MPI_LONG_INT, PAIR, sizeof(LongInt), sizeof(long) + sizeof(int)},
      {.name = "float-int", MPI_FLOAT_INT, PAIR, sizeof(FloatInt), sizeof(FloatInt)},
      {.name = "double-int", MPI_DOUBLE_INT, PAIR, sizeof(DoubleInt), sizeof(double) + sizeof(int)},
  };
  memcpy(bases, all, sizeof(all));
  for (int i = 0; i < BASES; i++)
    make_layouts(bases + i);
}

static void make_operations(void)
{
  const unsigned integers         = 1u << SIGNED_INTEGER | 1u << UNSIGNED_INTEGER;
  const unsigned numbers          = integers | 1u << REAL;
  const unsigned pairs            = 1u << PAIR;
  const Operation all[OPERATIONS] = {
      [SUM] = {"sum", MPI_SUM, numbers, true, false},          [PROD] = {"prod", MPI_PROD, numbers, true, false},
      [MAX] = {"max", MPI_MAX, numbers, true, false},          [MIN] = {"min", MPI_MIN, numbers, true, false},
      [LAND] = {"land", MPI_LAND, integers, true, false},      [LOR] = {"lor", MPI_LOR, integers, true, false},
      [LXOR] = {"lxor", MPI_LXOR, integers, true, false},      [BAND] = {"band", MPI_BAND, integers, true, false},
      [BOR] = {"bor", MPI_BOR, integers, true, false},         [BXOR] = {"bxor", MPI_BXOR, integers, true, false},
      [MAXLOC] = {"maxloc", MPI_MAXLOC, pairs, true, false},   [MINLOC] = {"minloc", MPI_MINLOC, pairs, true, false},
      [ADD] = {"user-add", MPI_OP_NULL, 0, true, true},        [MATRIX] = {"user-matrix", MPI_OP_NULL, 0, false, true},
      [AFFINE] = {"user-affine", MPI_OP_NULL, 0, false, true},
  };
  memcpy(operations, all, sizeof(all));
  MPI_Op_create(add, 1, &operations[ADD].op);
  MPI_Op_create(multiply, 0, &operations[MATRIX].op);
  MPI_Op_create(compose, 0, &operations[AFFINE].op);
}

void make_data(void)
{
  make_bases();
  make_operations();
}

void free_data(void)
{
  for (int i = 0; i < BASES; i++)
    for (int k = 0; k < LAYOUTS; k++)
      if (is_derived(&bases[i].layouts[k]))
        MPI_Type_free(&bases[i].layouts[k].type);
  for (int i = ADD; i <= AFFINE; i++)
    MPI_Op_free(&operations[i].op);
}

bool is_derived(const Layout* layout)
{
  return layout->per_item == 1 && layout->elements == ITEM;
}

bool fits(const Operation* operation, const Base* base, const Layout* layout)
{
  if (operation->of_items)
    return base->type == MPI_UNSIGNED && is_derived(layout);
  return !is_derived(layout) && operation->families >> base->family & 1;
}
