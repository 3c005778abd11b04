// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's groups (src/smpi/include/smpi_group.hpp). */
#pragma once

#include <simgrid/forward.h>
#include <smpi/smpi.h>

namespace simgrid::smpi {

class Group {
public:
  aid_t actor(int rank) const;                                  ///< negative if there is no such rank
  int rank(aid_t actor) const;                                  ///< MPI_UNDEFINED if the actor is not a member
  int incl(int count, const int* ranks, MPI_Group* made) const; ///< PMPI_Group_incl first compares all pairs of ranks
  void set_mapping(aid_t actor, int rank);
  void ref();
  static void unref(MPI_Group group);
};

} // namespace simgrid::smpi
