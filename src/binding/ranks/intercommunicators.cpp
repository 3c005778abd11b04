// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/intercommunicators.hpp"

#include <unordered_map>
#include <utility>

namespace weft {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see the declaration
constinit bool intercommunicators_exist = false;

namespace {

using Intercommunicators = std::unordered_map<const simgrid::smpi::Comm*, Intercommunicator>;

Intercommunicators& intercommunicators()
{
  static auto* const ALL = new Intercommunicators; // leaked, since ranks may end during static destruction
  return *ALL;
}

IntercommunicatorScope::Wanted& wanted_intercommunicator()
{
  static IntercommunicatorScope::Wanted wanted;
  return wanted;
}

} // namespace

const Intercommunicator* find_intercommunicator(const simgrid::smpi::Comm* comm)
{
  const auto found = intercommunicators().find(comm);
  return found == intercommunicators().end() ? nullptr : &found->second;
}

void add_intercommunicator(MPI_Comm comm, const Intercommunicator& its)
{
  intercommunicators_exist = true;
  intercommunicators().insert_or_assign(comm, its);
}

void remove_intercommunicator(const simgrid::smpi::Comm* comm)
{
  intercommunicators().erase(comm);
}

IntercommunicatorScope::IntercommunicatorScope(MPI_Group remote, int number)
{
  wanted_intercommunicator() = {remote, number};
}

IntercommunicatorScope::~IntercommunicatorScope()
{
  wanted_intercommunicator() = {};
}

IntercommunicatorScope::Wanted IntercommunicatorScope::take()
{
  return std::exchange(wanted_intercommunicator(), {});
}

} // namespace weft
