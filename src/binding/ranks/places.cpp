// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/places.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"

namespace weft {
namespace {

struct KnownRank {
  Place in_world{-1, 0};
  MPI_Group world = MPI_GROUP_NULL;
  bool in_mpi     = false;
};

/** Returns the entry of the current actor. */
KnownRank& known_rank()
{
  static ActorMap<KnownRank> known;
  return known[current_actor()];
}

} // namespace

Place place_in(MPI_Comm comm)
{
  if (comm != MPI_COMM_WORLD)
    return {comm->rank(), comm->size()};
  KnownRank& rank = known_rank();
  if (rank.in_world.rank < 0)
    rank.in_world = {comm->rank(), comm->size()};
  return rank.in_world;
}

MPI_Group group_of(MPI_Comm comm)
{
  if (comm != MPI_COMM_WORLD)
    return comm->group();
  KnownRank& rank = known_rank();
  if (rank.world == MPI_GROUP_NULL)
    rank.world = comm->group();
  return rank.world;
}

bool is_in_mpi()
{
  KnownRank& rank = known_rank();
  if (not rank.in_mpi) {
    int initialized = 0; // initialized but not finalized
    PMPI_Initialized(&initialized);
    rank.in_mpi = initialized != 0;
  }
  return rank.in_mpi;
}

void leaves_mpi()
{
  known_rank().in_mpi = false;
}

} // namespace weft
