/* SPDX-License-Identifier: LGPL-2.1-only */
#include "places.h"

#include <stdlib.h>
#include <string.h>

Place places[PLACES] = {{.name = "world"},  {.name = "duplicate"}, {.name = "reversed"}, {.name = "colours"},
                        {.name = "halves"}, {.name = "subset"},    {.name = "self"},     {.name = "fresh"}};

static int world_rank(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static int world_size(void)
{
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/* Every rank draws for all ranks up to its own number, and keeps its own values. */
static MPI_Comm split_at_random(Random random, int colours)
{
  int color = 0, key = 0;
  for (int rank = 0; rank <= world_rank(); rank++) {
    color = draw(&random, colours);
    key   = draw(&random, 100);
  }
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  return comm;
}

static void shuffle(Random* random, int* values, int count)
{
  for (int last = count - 1; last > 0; last--) {
    const int other = draw(random, last + 1);
    const int value = values[last];
    values[last]    = values[other];
    values[other]   = value;
  }
}

/* Selects just over half of the ranks, in random order. */
static MPI_Comm choose_at_random(Random random)
{
  const int size = world_size();
  int* ranks     = malloc(sizeof(int) * (size_t)size);
  for (int rank = 0; rank < size; rank++)
    ranks[rank] = rank;
  shuffle(&random, ranks, size);
  MPI_Group all, some;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, size / 2 + 1, ranks, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  free(ranks);
  return comm;
}

static bool is_on_several_hosts(MPI_Comm comm)
{
  enum { LONGEST = MPI_MAX_PROCESSOR_NAME };
  if (comm == MPI_COMM_NULL)
    return false;
  int size, length;
  char name[LONGEST] = {0};
  MPI_Comm_size(comm, &size);
  MPI_Get_processor_name(name, &length);
  char* names = malloc(LONGEST * (size_t)size);
  MPI_Allgather(name, LONGEST, MPI_CHAR, names, LONGEST, MPI_CHAR, comm);
  bool several = false;
  for (int rank = 0; rank < size; rank++)
    several |= strncmp(name, names + LONGEST * rank, LONGEST) != 0;
  free(names);
  return several;
}

void make_places(uint64_t seed)
{
  places[0].comm = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &places[1].comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &places[2].comm);
  places[3].comm = split_at_random(sequence(seed, 3), 3);
  MPI_Comm_split(MPI_COMM_WORLD, 2 * world_rank() < world_size(), 0, &places[4].comm);
  places[5].comm     = choose_at_random(sequence(seed, 5));
  places[6].comm     = MPI_COMM_SELF;
  places[FRESH].comm = MPI_COMM_NULL;
  for (Place* place = places; place < places + FRESH; place++)
    place->several_hosts = is_on_several_hosts(place->comm);
}

static void free_place(Place* place)
{
  if (place->comm != MPI_COMM_NULL)
    MPI_Comm_free(&place->comm);
}

void free_places(void)
{
  for (Place* place = places + 1; place < places + FRESH; place++)
    if (place->comm != MPI_COMM_SELF)
      free_place(place);
}

void make_fresh_place(Random random)
{
  places[FRESH].comm          = split_at_random(random, 2);
  places[FRESH].several_hosts = is_on_several_hosts(places[FRESH].comm);
}

void free_fresh_place(void)
{
  free_place(&places[FRESH]);
}
