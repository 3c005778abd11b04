// SPDX-License-Identifier: LGPL-2.1-only
/* Intercommunicators (MPI 5.0, section 7.6), which SMPI lacks.
 *
 * An intercommunicator is an SMPI communicator whose group is the remote group, so that SMPI and weft find
 * the other rank of each message and the rank in each status as in any communicator. Both groups' objects have one
 * number, so that their messages match. What MPI says about the local group is answered from the table here; programs
 * that make no intercommunicator never look into it. */
#pragma once

#include <smpi/smpi.h>

#include <simgrid/forward.h>

namespace weft {

/** Knowledge of a rank of an intercommunicator beyond SMPI's object. */
struct Intercommunicator {
  MPI_Comm local; ///< intracommunicator of the local group
  MPI_Comm both;  ///< intracommunicator of both groups: the ranks of one group, then those of the other
  bool first;     ///< whether the local group's ranks come first in it
  aid_t owner;    ///< the rank's actor
};

/** Tag of weft's own messages between the first ranks of two groups; less another tag in MPI_Intercomm_create. */
constexpr int INTERCOMMUNICATOR_TAG = -1'000'000;

/** MPI_ROOT of weft_mpi.h, by which the root of a collective names itself. */
constexpr int OWN_ROOT = -3;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): read at each call that names a communicator
extern constinit bool intercommunicators_exist; ///< whether the run has made one

/** Returns the entry of @p comm, which must be an address that intercommunicator_of() may look up. */
const Intercommunicator* find_intercommunicator(const simgrid::smpi::Comm* comm);

/** Returns what is known of an intercommunicator; null for any other communicator. */
inline const Intercommunicator* intercommunicator_of(const simgrid::smpi::Comm* comm)
{
  return intercommunicators_exist ? find_intercommunicator(comm) : nullptr;
}

/** Adds an intercommunicator. */
void add_intercommunicator(MPI_Comm comm, const Intercommunicator& its);
/** Removes an intercommunicator that has been freed. */
void remove_intercommunicator(const simgrid::smpi::Comm* comm);

/** Scope in which the communicator that the current rank creates next gets @p remote as its group and @p number as its
 * number. The rank must not yield before it has been created. */
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

  static Wanted take(); ///< returns what the scope wants, once; a null group outside a scope
};

} // namespace weft
