// SPDX-License-Identifier: LGPL-2.1-only
/* The numbers of communicators. SMPI agrees on one by a Bcast over the communicator that is being made, whatever a
 * Bcast costs; here its members agree in memory, in no time. They find each other by their group, where that is one
 * object of all, and else by the list of the members. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** SMPI's number of a communicator, the same at all members: -1 for the MPI_COMM_WORLD of each program, MPI_UNDEFINED
 * while SMPI is still making it. */
int number_of(MPI_Comm comm);

/** Whether SMPI is in the middle of making @p comm: its Bcast over it is the agreement on the number. */
bool is_being_made(MPI_Comm comm);

/** The number of the communicator that the members of @p comm are making; the same at all, new each time. */
int agreed_id(MPI_Comm comm);

/** The group of @p comm where it is one object of all members, as that of each MPI_COMM_WORLD; null where each member
 * has a copy of its own. */
MPI_Group common_group(MPI_Comm comm);

/** What the rank that runs makes next has a group in common with its other members, who all say so. The rank must not
 *  give way to others before that is made. */
class MakingInCommon {
public:
  /** @param group null where they have none */
  explicit MakingInCommon(MPI_Group group);
  MakingInCommon(const MakingInCommon&)            = delete;
  MakingInCommon& operator=(const MakingInCommon&) = delete;
  ~MakingInCommon();

  static MPI_Group group();
  static MPI_Group take(); ///< and leave null to what is made meanwhile: MPI_COMM_SELF, when it is first asked for
};

/** While it lives, agreed_id() is asked for communicators with a common group, or without one (null). */
class AgreeingInCommon {
  MPI_Group before_;

public:
  explicit AgreeingInCommon(MPI_Group group);
  AgreeingInCommon(const AgreeingInCommon&)            = delete;
  AgreeingInCommon& operator=(const AgreeingInCommon&) = delete;
  ~AgreeingInCommon();
};

} // namespace weft
