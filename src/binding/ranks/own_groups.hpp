// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI groups that weft creates and frees. */
#pragma once

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"

#include <memory>
#include <vector>

namespace weft {

struct GroupLeft {
  void operator()(MPI_Group group) const { simgrid::smpi::Group::unref(group); }
};
using OwnGroup = std::unique_ptr<simgrid::smpi::Group, GroupLeft>;

/** Returns the group of @p ranks of @p group. */
inline OwnGroup make_group(MPI_Group group, const std::vector<int>& ranks)
{
  MPI_Group made = MPI_GROUP_NULL;
  group->incl(static_cast<int>(ranks.size()), ranks.data(), &made);
  return OwnGroup(made);
}

/** Returns the group of @p ranks of @p comm. */
inline OwnGroup make_group(MPI_Comm comm, const std::vector<int>& ranks)
{
  return make_group(comm->group(), ranks);
}

} // namespace weft
