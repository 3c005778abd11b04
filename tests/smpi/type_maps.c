// SPDX-License-Identifier: LGPL-2.1-only
/* Random derived types, compared with type maps that the program computes itself by the rules of MPI 4.1, section 5.1:
 * sizes, bounds, packing, unpacking, and messages, including those that end inside an element. Arguments: first seed,
 * number of types. Prints the number of types, or the first error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, MOST_BLOCKS = 5, ROOM = 1 << 17, COPIES = 3 };

typedef struct {
  MPI_Datatype type;
  int entries; /* bytes of data, in type-map order */
  int place[MOST];
  int low, high, alignment, sets_low, sets_high;
} Map;

static unsigned long long state;
static unsigned long seed;

static int chosen(int from, int to)
{
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return from + (int)((state >> 33) % (unsigned long)(to - from + 1));
}

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("seed %lu: %s\n", seed, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void begin(Map* map)
{
  memset(map, 0, sizeof *map);
  map->alignment = 1;
  map->low       = 1 << 30;
  map->high      = -(1 << 30);
}

static void set_low(Map* to, int low, int by_mark)
{
  if (by_mark && !to->sets_low)
    to->low = low;
  else if (by_mark == to->sets_low && low < to->low)
    to->low = low;
  to->sets_low |= by_mark;
}

static void set_high(Map* to, int high, int by_mark)
{
  if (by_mark && !to->sets_high)
    to->high = high;
  else if (by_mark == to->sets_high && high > to->high)
    to->high = high;
  to->sets_high |= by_mark;
}

/* Adds an element at a displacement. */
static void add(Map* to, const Map* element, int at)
{
  for (int i = 0; i < element->entries && to->entries < MOST; ++i)
    to->place[to->entries++] = at + element->place[i];
  if (element->entries == 0 && !element->sets_low && !element->sets_high)
    return;
  set_low(to, at + element->low, element->sets_low);
  set_high(to, at + element->high, element->sets_high);
  if (element->alignment > to->alignment)
    to->alignment = element->alignment;
}

static void add_block(Map* to, const Map* element, int at, int length)
{
  for (int i = 0; i < length; ++i)
    add(to, element, at + i * (element->high - element->low));
}

static void end(Map* map)
{
  if (map->low == 1 << 30)
    map->low = map->high = 0;
}

static void basic(Map* map)
{
  static const struct {
    MPI_Datatype* type;
    int size;
  } ALL[4]       = {{NULL, 1}, {NULL, 2}, {NULL, 4}, {NULL, 8}};
  const int kind = chosen(0, 3);
  begin(map);
  map->type    = kind == 0 ? MPI_CHAR : kind == 1 ? MPI_SHORT : kind == 2 ? MPI_INT : MPI_DOUBLE;
  map->entries = ALL[kind].size;
  for (int i = 0; i < map->entries; ++i)
    map->place[i] = i;
  map->low       = 0;
  map->high      = map->entries;
  map->alignment = map->entries;
}

static void make(Map* map, int depth);

static void make_structure(Map* map, int depth)
{
  Map* members[MOST_BLOCKS];
  int lengths[MOST_BLOCKS];
  MPI_Aint places[MOST_BLOCKS];
  MPI_Datatype types[MOST_BLOCKS];
  const int count = chosen(1, 4);
  for (int i = 0; i < count; ++i) {
    members[i] = malloc(sizeof(Map));
    make(members[i], depth - 1);
    lengths[i] = chosen(0, 2);
    places[i]  = chosen(-40, 80);
    types[i]   = members[i]->type;
    add_block(map, members[i], (int)places[i], lengths[i]);
  }
  MPI_Type_create_struct(count, lengths, places, types, &map->type);
  end(map);
  const int over = (map->high - map->low) % map->alignment;
  if (!map->sets_high && over != 0)
    map->high += map->alignment - over;
  for (int i = 0; i < count; ++i) {
    if (members[i]->type != MPI_CHAR && members[i]->type != MPI_SHORT && members[i]->type != MPI_INT &&
        members[i]->type != MPI_DOUBLE)
      MPI_Type_free(&members[i]->type);
    free(members[i]);
  }
}

/* Creates a type from elements of another one. */
static void make_of(Map* map, const Map* of)
{
  int lengths[MOST_BLOCKS], places[MOST_BLOCKS];
  MPI_Aint distant[MOST_BLOCKS];
  const int count = chosen(0, 4), length = chosen(0, 3), extent = of->high - of->low;
  for (int i = 0; i < MOST_BLOCKS; ++i) {
    lengths[i] = chosen(0, 3);
    places[i]  = chosen(-4, 6);
    distant[i] = chosen(-60, 90);
  }
  switch (chosen(0, 7)) {
    case 0:
      add_block(map, of, 0, count);
      MPI_Type_contiguous(count, of->type, &map->type);
      break;
    case 1: {
      const int stride = chosen(-3, 5);
      for (int i = 0; i < count; ++i)
        add_block(map, of, i * stride * extent, length);
      MPI_Type_vector(count, length, stride, of->type, &map->type);
      break;
    }
    case 2: {
      const int stride = chosen(-70, 90);
      for (int i = 0; i < count; ++i)
        add_block(map, of, i * stride, length);
      MPI_Type_create_hvector(count, length, stride, of->type, &map->type);
      break;
    }
    case 3:
      for (int i = 0; i < count; ++i)
        add_block(map, of, places[i] * extent, lengths[i]);
      MPI_Type_indexed(count, lengths, places, of->type, &map->type);
      break;
    case 4:
      for (int i = 0; i < count; ++i)
        add_block(map, of, (int)distant[i], lengths[i]);
      MPI_Type_create_hindexed(count, lengths, distant, of->type, &map->type);
      break;
    case 5:
      for (int i = 0; i < count; ++i)
        add_block(map, of, places[i] * extent, length);
      MPI_Type_create_indexed_block(count, length, places, of->type, &map->type);
      break;
    case 6:
      add(map, of, 0);
      map->low      = chosen(-8, 8);
      map->high     = map->low + chosen(1, 90);
      map->sets_low = map->sets_high = 1;
      MPI_Type_create_resized(of->type, map->low, map->high - map->low, &map->type);
      return;
    default:
      *map = *of;
      MPI_Type_dup(of->type, &map->type);
      return;
  }
  end(map);
}

static void make(Map* map, int depth)
{
  if (depth == 0) {
    basic(map);
    return;
  }
  begin(map);
  if (chosen(0, 3) == 0) {
    make_structure(map, depth);
    return;
  }
  Map* of = malloc(sizeof *of);
  make(of, depth - 1);
  make_of(map, of);
  if (depth > 1)
    MPI_Type_free(&of->type);
  free(of);
}

static char memory[ROOM], copy[ROOM], reference[ROOM], packed[COPIES * MOST], wanted[COPIES * MOST];

static void fill(char* bytes, int from)
{
  for (int i = 0; i < ROOM; ++i)
    bytes[i] = (char)(from + i * 7);
}

/* Copies data between memory and its packed form. */
static void move(const Map* map, char* base, char* dense, int bytes, int to_memory)
{
  const int extent = map->high - map->low;
  for (int i = 0; i < bytes; ++i) {
    char* const one = base + i / map->entries * extent + map->place[i % map->entries];
    if (to_memory)
      *one = dense[i];
    else
      dense[i] = *one;
  }
}

static void check(const Map* map, int rank)
{
  int size;
  MPI_Aint low, extent;
  MPI_Type_size(map->type, &size);
  expect(size == map->entries, "size");
  MPI_Type_get_extent(map->type, &low, &extent);
  expect(low == map->low && extent == map->high - map->low, "bounds");
  int first = 1 << 30, last = -(1 << 30);
  for (int i = 0; i < map->entries; ++i) {
    first = map->place[i] < first ? map->place[i] : first;
    last  = map->place[i] >= last ? map->place[i] + 1 : last;
  }
  MPI_Type_get_true_extent(map->type, &low, &extent);
  if (map->entries > 0)
    expect(low == first && extent == last - first, "true bounds");
  MPI_Type_commit((MPI_Datatype*)&map->type);
  const int reach = COPIES * abs(map->high - map->low) + (abs(first) > abs(last) ? abs(first) : abs(last));
  if (map->entries == 0 || reach >= ROOM / 2)
    return;

  char *const from = memory + ROOM / 2, *const to = copy + ROOM / 2;
  const int count = chosen(1, COPIES), bytes = count * size;
  fill(memory, 1);
  move(map, from, wanted, bytes, 0);
  int position = 0;
  MPI_Pack(from, count, map->type, packed, sizeof packed, &position, MPI_COMM_WORLD);
  expect(position == bytes && memcmp(packed, wanted, (size_t)bytes) == 0, "packed data");
  fill(copy, 3);
  fill(reference, 3);
  move(map, reference + ROOM / 2, wanted, bytes, 1);
  position = 0;
  MPI_Unpack(packed, bytes, &position, to, count, map->type, MPI_COMM_WORLD);
  expect(memcmp(copy, reference, sizeof copy) == 0, "unpacked data");

  /* As a message, whole and in part; overlapping receive buffers are not allowed. */
  for (int i = 0; i < bytes; ++i)
    for (int j = 0; j < i; ++j)
      if (i / map->entries * (map->high - map->low) + map->place[i % map->entries] ==
          j / map->entries * (map->high - map->low) + map->place[j % map->entries])
        return;
  MPI_Status status;
  const int part = chosen(1, bytes), other = rank ^ 1;
  fill(copy, 5);
  fill(reference, 5);
  move(map, reference + ROOM / 2, wanted, bytes, 1);
  MPI_Sendrecv(from, count, map->type, other, 1, to, count, map->type, other, 1, MPI_COMM_WORLD, &status);
  expect(memcmp(copy, reference, sizeof copy) == 0, "message");
  fill(copy, 7);
  fill(reference, 7);
  move(map, reference + ROOM / 2, wanted, part, 1);
  MPI_Sendrecv(wanted, part, MPI_BYTE, other, 2, to, count, map->type, other, 2, MPI_COMM_WORLD, &status);
  expect(memcmp(copy, reference, sizeof copy) == 0, "message that ends inside an element");
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const unsigned long first = strtoul(argv[1], NULL, 10), number = strtoul(argv[2], NULL, 10);
  for (seed = first; seed < first + number; ++seed) {
    state          = seed * 0x9e3779b97f4a7c15ULL;
    Map* const map = malloc(sizeof *map);
    make(map, chosen(1, 3));
    if (map->entries < MOST)
      check(map, rank);
    MPI_Type_free(&map->type);
    free(map);
  }
  if (rank == 0)
    printf("%lu types\n", number);
  MPI_Finalize();
}
