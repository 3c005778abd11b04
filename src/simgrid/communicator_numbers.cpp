// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/communicator_numbers.hpp"

#include "simgrid/meeting.hpp"
#include "simgrid/private_abi.hpp"

#include <map>
#include <vector>

namespace weft {

int number_of(MPI_Comm comm)
{
  // Where several programs run, SMPI's MPI_COMM_WORLD is one object that stands for all of theirs.
  return comm == MPI_COMM_WORLD ? -1 : comm->id();
}

bool is_being_made(MPI_Comm comm)
{
  // MPI_COMM_SELF never gets a number.
  return number_of(comm) == MPI_UNDEFINED && not comm->is_smp_comm() && not(comm->size() == 1 && comm == MPI_COMM_SELF);
}

int agreed_id(MPI_Comm comm)
{
  static int next_id = 0;
  static std::map<std::vector<aid_t>, Meetings<int>> makings; // by the members
  const std::vector<aid_t> members = members_of(comm);
  auto& meetings                   = makings[members];
  const auto here                  = meetings.join(comm->rank(), comm->size(), [] { return next_id++; });
  const int id                     = here->shared;
  meetings.leave(here);
  if (meetings.empty())
    makings.erase(members);
  return id;
}

} // namespace weft
