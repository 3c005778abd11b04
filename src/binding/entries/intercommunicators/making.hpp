// SPDX-License-Identifier: LGPL-2.1-only
/* Creation of intercommunicators: agreement of both groups in memory, charged as the messages of MPI libraries. */
#pragma once

#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/own_groups.hpp"

#include <array>
#include <functional>

namespace weft {

/** Intercommunicator being created: the state that its ranks share. */
class NewIntercommunicator {
  std::array<OwnGroup, 2> sides_;
  OwnGroup both_;
  int number_;

public:
  /** Takes the two groups, which must be disjoint. */
  NewIntercommunicator(OwnGroup first, OwnGroup second);

  int size() const;
  /** Creates the current rank's object. @p first: the rank is in the first group */
  MPI_Comm make(bool first) const;
  /** As make(), by @p create, an SMPI function that creates one communicator. @return its result */
  int make(bool first, const std::function<int()>& create, MPI_Comm* made) const;
};

/** Returns a communicator of the members of @p group, which all share this object and create it at the same time. */
MPI_Comm communicator_of(MPI_Group group);
/** Returns a group with the ranks of both. */
OwnGroup union_of(MPI_Group first, MPI_Group second);
/** Returns a new group with the ranks of @p group. */
OwnGroup copy_of(MPI_Group group);
/** Returns whether two groups have a common rank. */
bool overlap(MPI_Group one, MPI_Group other);

/** Charges the messages by which MPI libraries agree on the context id of a communicator that is created on an
 * intracommunicator or intercommunicator. Call it in a CollectiveScope, like the next three functions. */
void charge_context_id(MPI_Comm comm);
void charge_context_id(MPI_Comm comm, const Intercommunicator& its);

/** Charges an exchange between the first ranks of both groups, then a Bcast in each group. The local group contributes
 * @p own bytes, the remote group @p others. */
void charge_exchange(MPI_Comm comm, const Intercommunicator& its, int own, int others);

// MPI's functions of these names for an intercommunicator, without the agreement on a context id.
MPI_Comm split_intercommunicator(MPI_Comm comm, const Intercommunicator& its, int colour, int key);
/** Returns the intercommunicator of @p group, a part of the local group, and the group that the remote ranks name. */
MPI_Comm create_intercommunicator(MPI_Comm comm, const Intercommunicator& its, MPI_Group group);
/** @param copy SMPI's function, which sets *@p made */
int copy_intercommunicator(MPI_Comm comm, const Intercommunicator& its, const std::function<int()>& copy,
                           MPI_Comm* made);
/** Frees the data of an intercommunicator whose object has been freed. */
void free_intercommunicator(const simgrid::smpi::Comm* comm);
MPI_Comm merge_intercommunicator(MPI_Comm comm, const Intercommunicator& its, bool high);

} // namespace weft
