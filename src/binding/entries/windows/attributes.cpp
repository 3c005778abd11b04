// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/windows/attributes.hpp"

#include "binding/abi/original.hpp"
#include "binding/entries/frame/mpi_errors.hpp"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

struct WindowAttributes {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  // Wide enough for MPI_Aint; programs and Fortran read integers from the same places.
  MPI_Aint size       = 0;
  MPI_Aint unit       = 0;
  MPI_Aint its_flavor = 0;
  MPI_Aint model      = MPI_WIN_UNIFIED;
};

/** Attributes by window, of which each rank has its own. References stay valid until it is freed. */
std::unordered_map<MPI_Win, WindowAttributes>& window_attributes()
{
  static auto& all = *new std::unordered_map<MPI_Win, WindowAttributes>; // leaked: ranks may end late
  return all;
}

/** Copies an attribute that SMPI has found to where no other call overwrites it. */
void keep(MPI_Aint& kept, void* found)
{
  MPI_Aint*& attribute = *static_cast<MPI_Aint**>(found);
  kept                 = *attribute;
  attribute            = &kept;
}

/** Hints that apply unless the program sets others. */
constexpr std::array<std::pair<const char*, const char*>, 5> DEFAULT_HINTS{{{"no_locks", "false"},
                                                                            {"accumulate_ordering", "rar,raw,war,waw"},
                                                                            {"accumulate_ops", "same_op_no_op"},
                                                                            {"same_size", "false"},
                                                                            {"same_disp_unit", "false"}}};

/** Copies all hints. */
void add_hints(MPI_Info from, MPI_Info target)
{
  int keys = 0;
  PMPI_Info_get_nkeys(from, &keys);
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    int length = 0;
    int flag   = 0;
    PMPI_Info_get_nthkey(from, i, key.data());
    PMPI_Info_get_valuelen(from, key.data(), &length, &flag);
    std::vector<char> value(static_cast<std::size_t>(length) + 1);
    PMPI_Info_get(from, key.data(), length + 1, value.data(), &flag);
    PMPI_Info_set(target, key.data(), value.data());
  }
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
