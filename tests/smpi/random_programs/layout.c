/* SPDX-License-Identifier: LGPL-2.1-only */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

Basic draw_basic(Draw* draw)
{
  static const Basic BASICS[] = {{MPI_INT, 4},   {MPI_CHAR, 1}, {MPI_DOUBLE, 8},
                                 {MPI_SHORT, 2}, {MPI_LONG, 8}, {MPI_BYTE, 1}};
  return BASICS[below(draw, sizeof BASICS / sizeof *BASICS)];
}

Layout basic_layout(Basic basic)
{
  return (Layout){.type = basic.type, .basic = basic.type, .size = basic.size, .elements = 1, .extent = basic.size};
}

void bounds(const Layout* layout, int count, MPI_Aint* low, MPI_Aint* high)
{
  *low  = 0;
  *high = layout->extent;
  for (int i = 0; i < layout->elements; i++) {
    if (layout->at[i] < *low)
      *low = layout->at[i];
    if (layout->at[i] + layout->size > *high)
      *high = layout->at[i] + layout->size;
  }
  if (count > 1 && layout->extent > 0)
    *high += (count - 1) * layout->extent;
}

/** Returns the layout of @p blocks elements of type @p old at @p offsets. */
static Layout repeat(const Layout* old, int blocks, const MPI_Aint* offsets)
{
  Layout layout   = *old;
  layout.derived  = 1;
  layout.elements = 0;
  layout.whole    = 0;
  for (int block = 0; block < blocks; block++)
    for (int i = 0; i < old->elements; i++)
      layout.at[layout.elements++] = offsets[block] + old->at[i];
  return layout;
}

/** Splits @p all into lengths of at least one, and returns the number of lengths. */
static int cut(Draw* draw, int all, int* lengths)
{
  int pieces = 0;
  while (all > 0) {
    lengths[pieces] = 1 + below(draw, all);
    all -= lengths[pieces++];
  }
  return pieces;
}

/** Returns a vector type: blocks of one or two elements with a constant stride. */
static Layout draw_vector(Draw* draw, const Layout* old, int all)
{
  const int length = all % 2 == 0 && once_in(draw, 2) ? 2 : 1;
  const int stride = length + below(draw, 3);
  MPI_Aint offsets[GROUP];
  for (int i = 0; i < all; i++)
    offsets[i] = (i / length * stride + i % length) * old->extent;
  Layout layout = repeat(old, all, offsets);
  if (once_in(draw, 2))
    MPI_Type_vector(all / length, length, stride, old->type, &layout.type);
  else
    MPI_Type_create_hvector(all / length, length, stride * old->extent, old->type, &layout.type);
  return layout;
}

/** Returns an indexed type or structure: blocks of any length at increasing displacements, which may be negative. */
static Layout draw_indexed(Draw* draw, const Layout* old, int all)
{
  int lengths[GROUP], places[GROUP];
  MPI_Aint bytes[GROUP], offsets[GROUP];
  MPI_Datatype types[GROUP];
  const int same   = once_in(draw, 3);
  const int blocks = same ? all : cut(draw, all, lengths);
  int next         = once_in(draw, 3) ? -below(draw, 5) : below(draw, 3);
  for (int b = 0, i = 0; b < blocks; b++) {
    if (same)
      lengths[b] = 1;
    places[b] = next;
    bytes[b]  = next * old->extent;
    types[b]  = old->type;
    next += lengths[b] + below(draw, 3);
    for (int k = 0; k < lengths[b]; k++)
      offsets[i++] = (places[b] + k) * old->extent;
  }
  Layout layout = repeat(old, all, offsets);
  switch (same ? 4 : below(draw, 4)) {
    case 0:
      MPI_Type_indexed(blocks, lengths, places, old->type, &layout.type);
      break;
    case 1:
      MPI_Type_create_hindexed(blocks, lengths, bytes, old->type, &layout.type);
      break;
    case 2:
    case 3:
      MPI_Type_create_struct(blocks, lengths, bytes, types, &layout.type);
      break;
    default:
      MPI_Type_create_indexed_block(blocks, 1, places, old->type, &layout.type);
  }
  return layout;
}

/** Returns a part of a matrix, with the extent of the whole matrix. */
static Layout draw_subarray(Draw* draw, const Layout* old, int all)
{
  const int columns   = all % 3 == 0 ? 3 : 1;
  const int part[2]   = {all / columns, columns};
  const int start[2]  = {below(draw, 3), below(draw, 3)};
  const int matrix[2] = {part[0] + start[0] + below(draw, 2), part[1] + start[1] + below(draw, 2)};
  MPI_Aint offsets[GROUP];
  for (int i = 0; i < all; i++)
    offsets[i] = ((start[0] + i / columns) * matrix[1] + start[1] + i % columns) * old->extent;
  Layout layout = repeat(old, all, offsets);
  layout.whole  = matrix[0] * matrix[1] * old->extent;
  MPI_Type_create_subarray(2, matrix, part, start, MPI_ORDER_C, old->type, &layout.type);
  return layout;
}

static Layout draw_contiguous(const Layout* old, int all)
{
  MPI_Aint offsets[GROUP];
  for (int i = 0; i < all; i++)
    offsets[i] = i * old->extent;
  Layout layout = repeat(old, all, offsets);
  MPI_Type_contiguous(all, old->type, &layout.type);
  return layout;
}

static Layout draw_resized(Draw* draw, const Layout* old)
{
  MPI_Aint low, high;
  bounds(old, 1, &low, &high);
  Layout layout        = *old;
  const MPI_Aint lower = low - below(draw, 3) * old->size;
  layout.derived       = 1;
  layout.whole         = 0;
  MPI_Type_create_resized(old->type, lower, high - lower + below(draw, 3) * old->size, &layout.type);
  return layout;
}

static Layout draw_around(Draw* draw, const Layout* old, int all)
{
  switch (below(draw, 6)) {
    case 0:
      return draw_contiguous(old, all);
    case 1:
    case 2:
      return draw_vector(draw, old, all);
    case 3:
      return draw_subarray(draw, old, all);
    default:
      return draw_indexed(draw, old, all);
  }
}

static void close_layout(Layout* layout, const Layout* old)
{
  MPI_Aint lower;
  MPI_Type_get_extent(layout->type, &lower, &layout->extent);
  MPI_Type_commit(&layout->type);
  if (old->derived) {
    MPI_Datatype inner = old->type;
    MPI_Type_free(&inner);
  }
}

static Layout draw_derived(Draw* draw, Basic basic)
{
  static const int ELEMENTS[] = {1, 2, 3, 4, 6, 12};
  const int all               = ELEMENTS[below(draw, 6)];
  const Layout single         = basic_layout(basic);
  const int inner             = all % 2 == 0 && once_in(draw, 3) ? 2 : 1;
  Layout old                  = single;
  if (inner > 1) {
    old = draw_around(draw, &single, inner);
    close_layout(&old, &single);
  }
  Layout layout = draw_around(draw, &old, all / inner);
  close_layout(&layout, &old);
  if (once_in(draw, 3)) {
    old    = layout;
    layout = draw_resized(draw, &old);
    close_layout(&layout, &old);
  }
  return layout;
}

int packs_rightly(const Layout* layout, int count)
{
  MPI_Aint low, high;
  bounds(layout, count, &low, &high);
  const size_t room = (size_t)(high - low);
  // If SMPI packs incorrectly, it goes out of bounds by at most a few elements, which fit into this margin.
  const size_t reach = 8 * room + 65536;
  const int packed   = count * layout->elements * layout->size;
  unsigned char* raw = calloc(2, reach);
  unsigned char* out = calloc(2, (size_t)packed + 1);
  int position       = 0;
  int right          = layout->extent > 0 && (layout->whole == 0 || layout->whole == layout->extent);
  for (size_t i = 0; i < 2 * reach; i++)
    raw[i] = (unsigned char)mix(i);
  unsigned char* origin = raw + reach / 2 - low;
  if (right && count > 0)
    MPI_Pack(origin, count, layout->type, out, packed, &position, MPI_COMM_SELF);
  unsigned char* to = calloc(2, reach);
  position          = 0;
  if (right && count > 0)
    MPI_Unpack(out, packed, &position, to + reach / 2 - low, count, layout->type, MPI_COMM_SELF);
  for (int c = 0, at = 0; right && c < count; c++)
    for (int i = 0; i < layout->elements; i++, at += layout->size) {
      unsigned char* element = origin + c * layout->extent + layout->at[i];
      right &= memcmp(out + at, element, (size_t)layout->size) == 0;
      right &= memcmp(to + (element - raw), element, (size_t)layout->size) == 0;
      memset(to + (element - raw), 0, (size_t)layout->size);
    }
  for (size_t i = 0; right && i < 2 * reach; i++)
    right = to[i] == 0;
  free(raw);
  free(out);
  free(to);
  return right;
}

Layout draw_layout(Draw* draw, Basic basic, int count_of_groups)
{
  for (int attempt = 0; attempt < 4 && !(attempt == 0 && once_in(draw, 3)); attempt++) {
    Layout layout = draw_derived(draw, basic);
    if (packs_rightly(&layout, count_of_groups * GROUP / layout.elements))
      return layout;
    free_layout(&layout);
  }
  return basic_layout(basic);
}

Layout absolute_layout(const Layout* layout, const void* address, int count)
{
  Layout absolute = *layout;
  MPI_Aint at;
  MPI_Get_address(address, &at);
  MPI_Type_create_hindexed(1, &count, &at, layout->type, &absolute.type);
  MPI_Type_commit(&absolute.type);
  absolute.derived = 1;
  return absolute;
}

void free_layout(Layout* layout)
{
  if (layout->derived && layout->type != MPI_DATATYPE_NULL)
    MPI_Type_free(&layout->type);
}
