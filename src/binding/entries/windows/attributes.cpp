// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/windows/attributes.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/windows.hpp"
#include "binding/entries/frame/hints.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/ranks/places.hpp"

#include <array>
#include <simgrid/s4u/Actor.hpp>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

struct WindowAttributes {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  // Wide enough for MPI_Aint; programs and Fortran read integers at the same addresses.
  MPI_Aint size       = 0;
  MPI_Aint unit       = 0;
  MPI_Aint its_flavor = 0;
  MPI_Aint model      = MPI_WIN_UNIFIED;
};

/** Attributes by window; each rank has its own window. References stay valid until it is freed. */
std::unordered_map<MPI_Win, WindowAttributes>& window_attributes()
{
  static auto& all = *new std::unordered_map<MPI_Win, WindowAttributes>; // leaked, since ranks may end late
  return all;
}

/** Copies an attribute found by SMPI to memory that no other call overwrites. */
void keep(MPI_Aint& kept, void* found)
{
  MPI_Aint*& attribute = *static_cast<MPI_Aint**>(found);
  kept                 = *attribute;
  attribute            = &kept;
}

/** Hints that apply unless the program sets others. */
constexpr std::array<std::pair<const char*, const char*>, 7> DEFAULT_HINTS{{{"no_locks", "false"},
                                                                            {"accumulate_ordering", "rar,raw,war,waw"},
                                                                            {"accumulate_ops", "same_op_no_op"},
                                                                            {"same_size", "false"},
                                                                            {"same_disp_unit", "false"},
                                                                            {"mpi_accumulate_granularity", "0"},
                                                                            {MEMORY_KINDS_KEY, MEMORY_KINDS}}};

/** Returns whether a rank of a window is on the current rank's host, so that both can access its memory. */
bool is_on_this_host(MPI_Win win, int rank)
{
  const aid_t its                       = group_of(win->comm())->actor(rank);
  const simgrid::s4u::ActorPtr the_rank = its < 0 ? nullptr : simgrid::s4u::Actor::by_pid(its);
  return the_rank && the_rank->get_host() == simgrid::s4u::this_actor::get_host();
}

/** Returns the flavour of a window. */
int flavor_of(MPI_Win win)
{
  const auto found = window_attributes().find(win);
  return found == window_attributes().end() ? static_cast<int>(MPI_WIN_FLAVOR_CREATE) : found->second.flavor;
}

} // namespace

int note_flavor(int result, const MPI_Win* win, int flavor)
{
  if (result == MPI_SUCCESS)
    window_attributes()[*win].flavor = flavor;
  return result;
}

void forget_attributes(MPI_Win win)
{
  window_attributes().erase(win);
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_get_attr)>(__func__);
  if (win == MPI_WIN_NULL || not value || not flag || keyval >= 0 || keyval == MPI_WIN_BASE)
    return THEIRS(win, keyval, value, flag);
  WindowAttributes& its = window_attributes()[win];
  if (keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL) {
    its.its_flavor                  = its.flavor;
    *static_cast<MPI_Aint**>(value) = keyval == MPI_WIN_MODEL ? &its.model : &its.its_flavor;
    *flag                           = 1;
    return MPI_SUCCESS;
  }
  const int result = THEIRS(win, keyval, value, flag);
  if (result == MPI_SUCCESS && *flag != 0)
    keep(keyval == MPI_WIN_SIZE ? its.size : its.unit, value);
  return result;
}

/** SMPI also returns addresses in the memory of other hosts, since all ranks are one process. */
WEFT_INTERPOSED int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_shared_query)>(__func__);
  if (win == MPI_WIN_NULL || not size || not disp_unit || not baseptr)
    return THEIRS(win, rank, size, disp_unit, baseptr);
  const int flavor = flavor_of(win);
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return wrong(MPI_ERR_RMA_FLAVOR, "the window is dynamic");
  if (flavor != MPI_WIN_FLAVOR_SHARED && rank == MPI_PROC_NULL) {
    const int ranks = win->comm()->size();
    for (rank = 0; rank + 1 < ranks && not is_on_this_host(win, rank);)
      ++rank;
  }
  if (flavor == MPI_WIN_FLAVOR_SHARED || is_on_this_host(win, rank))
    return THEIRS(win, rank, size, disp_unit, baseptr);
  *size                         = 0;
  *static_cast<void**>(baseptr) = nullptr;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Win_get_info(MPI_Win win, MPI_Info* info)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_get_info)>(__func__);
  const int result         = THEIRS(win, info);
  if (result != MPI_SUCCESS)
    return result;
  for (const auto& [key, value] : DEFAULT_HINTS) {
    int length = 0;
    int flag   = 0;
    PMPI_Info_get_valuelen(*info, key, &length, &flag);
    if (flag == 0)
      PMPI_Info_set(*info, key, value);
  }
  return result;
}

WEFT_INTERPOSED int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_set_info)>(__func__);
  MPI_Info all             = MPI_INFO_NULL;
  if (info == MPI_INFO_NULL || PMPI_Win_get_info(win, &all) != MPI_SUCCESS)
    return THEIRS(win, info);
  add_hints(info, all);
  const int result = THEIRS(win, all);
  PMPI_Info_free(&all);
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
