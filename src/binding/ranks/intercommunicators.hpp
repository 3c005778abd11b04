// SPDX-License-Identifier: LGPL-2.1-only
/* Intercommunicators (MPI 5.0, section 7.6), which SMPI lacks.
 *
 * An intercommunicator is an SMPI communicator whose group is the remote group, so that SMPI and weft find the peer of
 * each message and the rank in each status as in any communicator. Both groups' objects share one number, so that their
 * messages match. Queries about the local group use the table here; programs without intercommunicators never access
 * it. */
#pragma once

#include <smpi/smpi.h>

#include <simgrid/forward.h>

namespace weft {

/** Data about an intercommunicator on one rank, in addition to SMPI's object. */
struct Intercommunicator {
  MPI_Comm local; ///< intracommunicator of the local group
  MPI_Comm both;  ///< intracommunicator of both groups: the ranks of one group, then those of the other
  bool first;     ///< true if the local group's ranks come first in it
  aid_t owner;    ///< the rank's actor
};

/** Tag of weft's own messages between the first ranks of two groups, minus the program's tag in
 * MPI_Intercomm_create. */
constexpr int INTERCOMMUNICATOR_TAG = -1'000'000;

/** MPI_ROOT of weft_mpi.h, which the root of a collective passes. */
constexpr int OWN_ROOT = -3;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): read at each call that names a communicator
extern constinit bool intercommunicators_exist; ///< true if the run has created one

/** Returns the entry of @p comm, an address that intercommunicator_of() is allowed to look up. */
const Intercommunicator* find_intercommunicator(const simgrid::smpi::Comm* comm);

/** Returns the data about an intercommunicator; null for any other communicator. */
inline const Intercommunicator* intercommunicator_of(const simgrid::smpi::Comm* comm)
{
  return intercommunicators_exist ? find_intercommunicator(comm) : nullptr;
}

/** Adds an intercommunicator. */
void add_intercommunicator(MPI_Comm comm, const Intercommunicator& its);
/** Removes an intercommunicator that has been freed. */
void remove_intercommunicator(const simgrid::smpi::Comm* comm);

/** Scope in which the communicator that the current rank creates next gets the group @p remote and the number @p
 * number. The rank must not yield before creating it. */
class IntercommunicatorScope {
public:
  struct Wanted {
    MPI_Group remote = MPI_GROUP_NULL;
    int number       = 0;
  };

  IntercommunicatorScope(MPI_Group remote, int number);
  IntercommunicatorScope(const IntercommunicatorScope&)            = delete;
  IntercommunicatorScope& operator=(const IntercommunicatorScope&) = delete;
  ~IntercommunicatorScope();

  static Wanted take(); ///< returns the requested group and number once; a null group outside a scope
};

} // namespace weft
