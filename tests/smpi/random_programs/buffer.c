/* SPDX-License-Identifier: LGPL-2.1-only */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 32 };

static void place_blocks(Draw* mine, Buffer* buffer, int ragged)
{
  int order[MOST_RANKS];
  for (int b = 0; b < buffer->blocks; b++) {
    const int other = ragged ? below(mine, b + 1) : b;
    order[b]        = order[other];
    order[other]    = b;
  }
  int next = ragged ? below(mine, 3) : 0;
  for (int b = 0; b < buffer->blocks; b++) {
    buffer->displacements[order[b]] = next;
    next += buffer->counts[order[b]] + (ragged && once_in(mine, 2) ? below(mine, 3) : 0);
  }
}

static void allocate(Buffer* buffer)
{
  int span = 1;
  for (int b = 0; b < buffer->blocks; b++)
    if (buffer->displacements[b] + buffer->counts[b] > span)
      span = buffer->displacements[b] + buffer->counts[b];
  MPI_Aint low, high;
  bounds(&buffer->layout, span, &low, &high);
  buffer->size     = (size_t)(high - low) + 2 * MARGIN;
  buffer->storage  = malloc(buffer->size);
  buffer->expected = malloc(buffer->size);
  buffer->origin   = buffer->storage + MARGIN - low;
  buffer->address  = buffer->origin;
  memset(buffer->storage, 0xa5, buffer->size);
  memset(buffer->expected, 0xa5, buffer->size);
}

Buffer make_buffer(Draw* mine, Basic basic, int blocks, const int* groups, int ragged)
{
  int all = 0;
  for (int b = 0; b < blocks; b++)
    all += groups[b];
  Buffer buffer = {.layout = draw_layout(mine, basic, all), .blocks = blocks};
  for (int b = 0; b < blocks; b++)
    buffer.counts[b] = groups[b] * GROUP / buffer.layout.elements;
  place_blocks(mine, &buffer, ragged);
  allocate(&buffer);
  return buffer;
}

Buffer make_shared_buffer(Layout layout, int blocks, const int* groups)
{
  Buffer buffer = {.layout = layout, .blocks = blocks};
  for (int b = 0; b < blocks; b++)
    buffer.counts[b] = groups[b] * GROUP / layout.elements;
  place_blocks(NULL, &buffer, 0);
  allocate(&buffer);
  return buffer;
}

void make_absolute(Buffer* buffer)
{
  if (buffer->counts[0] == 0)
    return;
  buffer->inner          = buffer->layout;
  const Layout absolute  = absolute_layout(&buffer->layout, buffer->origin, buffer->counts[0]);
  buffer->layout.type    = absolute.type;
  buffer->layout.derived = 1;
  buffer->address        = MPI_BOTTOM;
}

int elements_of(const Buffer* buffer, int block)
{
  return buffer->counts[block] * buffer->layout.elements;
}

unsigned char* element(const Buffer* buffer, unsigned char* base, int block, int index)
{
  const Layout* layout = &buffer->layout;
  const MPI_Aint item  = buffer->displacements[block] + index / layout->elements;
  return base + (buffer->origin - buffer->storage) + item * layout->extent + layout->at[index % layout->elements];
}

static void write_block(Buffer* buffer, unsigned char* base, int block, uint64_t tag)
{
  for (int index = 0; index < elements_of(buffer, block); index++) {
    const uint64_t value = mixed(tag, (uint64_t)index);
    memcpy(element(buffer, base, block, index), &value, (size_t)buffer->layout.size);
  }
}

void fill(Buffer* buffer, int block, uint64_t tag)
{
  write_block(buffer, buffer->storage, block, tag);
  write_block(buffer, buffer->expected, block, tag);
}

void expect(Buffer* buffer, int block, uint64_t tag)
{
  write_block(buffer, buffer->expected, block, tag);
}

long difference(const Buffer* buffer)
{
  for (size_t i = 0; i < buffer->size; i++)
    if (buffer->storage[i] != buffer->expected[i])
      return (long)i;
  return -1;
}

void free_buffer(Buffer* buffer)
{
  free(buffer->storage);
  free(buffer->expected);
  buffer->storage = buffer->expected = NULL;
}
