/* SPDX-License-Identifier: LGPL-2.1-only */
#include "reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYOUTS = 512 };

static Layout layouts[MOST_LAYOUTS];
static int layout_count;
static MPI_Op composition, sum;

void remember_layout(const Layout* layout)
{
  if (layout_count == MOST_LAYOUTS) {
    fprintf(stderr, "too many layouts\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  layouts[layout_count++] = *layout;
}

void forget_layouts(void)
{
  layout_count = 0;
}

static const Layout* find_layout(MPI_Datatype type)
{
  static Layout plain = {.elements = 1, .size = 4, .extent = 4};
  for (int i = layout_count; i-- > 0;)
    if (layouts[i].type == type)
      return &layouts[i];
  if (type != MPI_UNSIGNED) {
    fprintf(stderr, "an operation was given a datatype that the program did not give\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return &plain;
}

/** Composes functions x -> ax + b, which is associative but not commutative. a and b have 16 bits each. */
static uint32_t compose(uint32_t f, uint32_t g)
{
  const uint32_t a = (f >> 16) * (g >> 16) & 0xffff;
  const uint32_t b = ((f >> 16) * (g & 0xffff) + (f & 0xffff)) & 0xffff;
  return a << 16 | b;
}

static uint32_t add(uint32_t f, uint32_t g)
{
  return f + g;
}

static void apply(void* in, void* inout, int count, MPI_Datatype type, uint32_t (*function)(uint32_t, uint32_t))
{
  const Layout* layout = find_layout(type);
  for (int c = 0; c < count; c++)
    for (int i = 0; i < layout->elements; i++) {
      const MPI_Aint at = c * layout->extent + layout->at[i];
      uint32_t f, g;
      memcpy(&f, (char*)in + at, 4);
      memcpy(&g, (char*)inout + at, 4);
      g = function(f, g);
      memcpy((char*)inout + at, &g, 4);
    }
}

static void apply_composition(void* in, void* inout, int* count, MPI_Datatype* type)
{
  apply(in, inout, *count, *type, &compose);
}

static void apply_sum(void* in, void* inout, int* count, MPI_Datatype* type)
{
  apply(in, inout, *count, *type, &add);
}

void make_operations(void)
{
  MPI_Op_create(&apply_composition, 0, &composition);
  MPI_Op_create(&apply_sum, 1, &sum);
}

Reduction draw_reduction(Draw* draw)
{
  static const Basic BASICS[] = {{MPI_INT, 4},      {MPI_LONG, 8},   {MPI_SHORT, 2},
                                 {MPI_UNSIGNED, 4}, {MPI_DOUBLE, 8}, {MPI_FLOAT, 4}};
  const Basic basic           = BASICS[below(draw, 6)];
  const MPI_Op operations[]   = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR};
  if (once_in(draw, 3))
    return (Reduction){composition, {MPI_UNSIGNED, 4}, 1, 0};
  if (once_in(draw, 4))
    return (Reduction){sum, {MPI_UNSIGNED, 4}, 1, 1};
  const int floating = basic.type == MPI_DOUBLE || basic.type == MPI_FLOAT;
  return (Reduction){operations[below(draw, floating ? 3 : 4)], basic, 0, 1};
}

static int64_t contribution(const Reduction* reduction, uint64_t tag, int index)
{
  const uint64_t value = mixed(tag, (uint64_t)index);
  return reduction->own ? (int64_t)(uint32_t)value : (int64_t)(value % 7);
}

static int64_t together(const Reduction* reduction, int64_t f, int64_t g)
{
  if (reduction->own)
    return reduction->commutes ? add((uint32_t)f, (uint32_t)g) : compose((uint32_t)f, (uint32_t)g);
  if (reduction->op == MPI_SUM)
    return f + g;
  if (reduction->op == MPI_MAX)
    return f > g ? f : g;
  if (reduction->op == MPI_MIN)
    return f < g ? f : g;
  return f ^ g;
}

static void store(const Reduction* reduction, unsigned char* to, int64_t value)
{
  const double real  = (double)value;
  const float single = (float)value;
  const void* what   = &value; // the low-order bytes, on a little-endian machine
  if (reduction->basic.type == MPI_DOUBLE)
    what = &real;
  if (reduction->basic.type == MPI_FLOAT)
    what = &single;
  memcpy(to, what, (size_t)reduction->basic.size);
}

void contribute(const Reduction* reduction, Buffer* buffer, int block, int first, uint64_t tag)
{
  for (int index = 0; index < elements_of(buffer, block); index++) {
    const int64_t value = contribution(reduction, tag, first + index);
    store(reduction, element(buffer, buffer->storage, block, index), value);
    store(reduction, element(buffer, buffer->expected, block, index), value);
  }
}

void expect_reduction(const Reduction* reduction, Buffer* buffer, int block, int first, const uint64_t* tags, int ranks)
{
  for (int index = 0; index < elements_of(buffer, block); index++) {
    int64_t value = contribution(reduction, tags[0], first + index);
    for (int rank = 1; rank < ranks; rank++)
      value = together(reduction, value, contribution(reduction, tags[rank], first + index));
    store(reduction, element(buffer, buffer->expected, block, index), value);
  }
}
