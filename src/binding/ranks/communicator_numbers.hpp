// SPDX-License-Identifier: LGPL-2.1-only
/* Numbers of communicators. SMPI agrees on a number by a Bcast over the communicator that is being created, at the full
 * cost of a Bcast; here its members agree in memory, in no simulated time. They are matched by their group if all share
 * one object, otherwise by the list of members; copies also by their originals, since ranks may create several in
 * different orders (MPI_Comm_idup). */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Returns SMPI's number of a communicator, the same on all members: -1 for the MPI_COMM_WORLD of each program,
 * MPI_UNDEFINED while SMPI is still creating it. */
int number_of(MPI_Comm comm);

/** Returns whether SMPI is creating @p comm: its Bcast over @p comm is the agreement on the number. */
bool is_being_made(MPI_Comm comm);

/** Returns the number of the communicator that the members of @p comm are creating: the same on all members, and
 * unique. */
int agreed_id(MPI_Comm comm);

/** Returns a number that no communicator of the current rank's program has or, once programs share numbers, of any
 * program. */
int new_communicator_number();

/** Makes the numbers of all further communicators unique across programs, which begin to communicate. */
void share_communicator_numbers();
/** Returns whether a communicator with this number was created after that. */
bool is_shared_number(int number);

/** Returns the group of @p comm if all members share one object, as for each MPI_COMM_WORLD; null if each member has
 * its own copy. */
MPI_Group common_group(MPI_Comm comm);

/** Scope in which the communicator that the current rank creates next shares a group object with its other members,
 * which all open the same scope. The rank must not yield before creating it. */
class CommonCreationScope {
public:
  /** @param group null if they share none */
  explicit CommonCreationScope(MPI_Group group);
  CommonCreationScope(const CommonCreationScope&)            = delete;
  CommonCreationScope& operator=(const CommonCreationScope&) = delete;
  ~CommonCreationScope();

  static MPI_Group group();
  static MPI_Group
  take(); ///< returns group() and resets it to null, for communicators created in between: MPI_COMM_SELF, on first use
};

/** Scope in which the communicator that the current rank creates next is a copy. */
class CopyScope {
public:
  explicit CopyScope(MPI_Comm original);
  CopyScope(const CopyScope&)            = delete;
  CopyScope& operator=(const CopyScope&) = delete;
  ~CopyScope();

  static int take(); ///< returns the number of the original, or MPI_UNDEFINED, and resets it
};

/** Scope in which agreed_id() numbers communicators with the given common group (or null), and copies of the
 * communicator with the given number (or MPI_UNDEFINED). */
class CommonAgreementScope {
  MPI_Group group_before_;
  int original_before_;

public:
  CommonAgreementScope(MPI_Group group, int original);
  CommonAgreementScope(const CommonAgreementScope&)            = delete;
  CommonAgreementScope& operator=(const CommonAgreementScope&) = delete;
  ~CommonAgreementScope();
};

} // namespace weft
