// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/windows/epochs.hpp"

#include "binding/abi/smpi/windows.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <malloc.h>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {
namespace {

enum class AccessEpoch { none, fence, start, lock, lock_all };

/** Epochs of a rank's window. */
struct Epochs {
  AccessEpoch access = AccessEpoch::none;
  std::set<int> locked; ///< targets
  bool exposed = false; ///< true after MPI_Win_post
};

/** Epochs by window; each rank has its own window. Absent windows have none. */
std::unordered_map<MPI_Win, Epochs>& epochs()
{
  static auto& all = *new std::unordered_map<MPI_Win, Epochs>; // leaked, since ranks may end late
  return all;
}

Epochs& epochs_of(MPI_Win win)
{
  return epochs()[win];
}

/** Records an error unless a call is in the epoch that it requires. */
int need(bool fulfilled, const char* reason)
{
  return fulfilled ? static_cast<int>(MPI_SUCCESS) : wrong(MPI_ERR_RMA_SYNC, reason);
}

const char* name_of_access(AccessEpoch access)
{
  switch (access) {
    case AccessEpoch::start:
      return "the window is in an access epoch that MPI_Win_start has begun";
    case AccessEpoch::lock:
      return "the window is locked by MPI_Win_lock";
    case AccessEpoch::lock_all:
      return "the window is locked by MPI_Win_lock_all";
    default:
      return "the window is in no access epoch";
  }
}

/** Checks a call that begins an epoch, which ends a fence epoch. */
int need_no_access(MPI_Win win)
{
  if (win == MPI_WIN_NULL)
    return MPI_SUCCESS;
  const AccessEpoch access = epochs_of(win).access;
  return need(access == AccessEpoch::none || access == AccessEpoch::fence, name_of_access(access));
}

/** Returns the place of smpi_fences() in a window, as an index of ints. No header declares it: it is the only number
 * that an epoch with no target lowers by one. */
std::size_t find_fences(MPI_Win win)
{
  auto* const numbers = reinterpret_cast<int*>(win);
  const std::span<int> now(numbers, malloc_usable_size(win) / sizeof(int));
  const std::vector<int> before(now.begin(), now.end());
  win->start(MPI_GROUP_EMPTY, 0);
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < before.size(); ++at)
    if (now[at] == before[at] - 1)
      found.push_back(at);
  if (found.size() != 1)
    throw std::logic_error("the layout of MPI windows in this SimGrid is unknown to weft; use SimGrid 4.1");
  now[found.front()] = before[found.front()]; // ends the epoch; SMPI's own function would yield to other ranks
  return found.front();
}

/** Returns SMPI's number of a window's fences less that of its epochs begun by MPI_Win_post and MPI_Win_start. */
int& smpi_fences(MPI_Win win)
{
  static const std::size_t PLACE = find_fences(win);
  return reinterpret_cast<int*>(win)[PLACE];
}

bool can_be_swapped(MPI_Datatype type)
{
  if (not is_predefined(type))
    return false;
  const std::string& name = datatype_name(type);
  const std::array<const char*, 10> others{"COMPLEX",   "REAL",       "MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE",
                                           "FLOAT_INT", "DOUBLE_INT", "LONG_INT",  "SHORT_INT",  "MPI_2"};
  return std::ranges::none_of(others, [&](const char* part) { return name.find(part) != std::string::npos; });
}

} // namespace

int check_access(MPI_Win win, int target)
{
  if (win == MPI_WIN_NULL || target < 0)
    return MPI_SUCCESS;
  const Epochs& its = epochs_of(win);
  if (its.access == AccessEpoch::lock)
    return need(its.locked.contains(target), "the target is not locked");
  return need(its.access != AccessEpoch::none, name_of_access(its.access));
}

int check_swap(MPI_Win win, int target, MPI_Datatype type)
{
  if (type != MPI_DATATYPE_NULL && not can_be_swapped(type))
    return wrong(MPI_ERR_TYPE, "the datatype is not a predefined integer, logical or byte");
  return check_access(win, target);
}

int check_fence(MPI_Win win)
{
  if (const int result = need_no_access(win); result != MPI_SUCCESS || win == MPI_WIN_NULL)
    return result;
  return need(not epochs_of(win).exposed, "the window is exposed by MPI_Win_post");
}

int check_post(MPI_Win win)
{
  return need(win == MPI_WIN_NULL || not epochs_of(win).exposed, "the window is exposed by MPI_Win_post");
}

int check_wait(MPI_Win win)
{
  return need(win == MPI_WIN_NULL || epochs_of(win).exposed, "MPI_Win_post has not been called");
}

int check_start(MPI_Win win)
{
  return need_no_access(win);
}

int check_complete(MPI_Win win)
{
  return need(win == MPI_WIN_NULL || epochs_of(win).access == AccessEpoch::start, "MPI_Win_start has not been called");
}

int check_lock(MPI_Win win, int target)
{
  if (win != MPI_WIN_NULL && epochs_of(win).access == AccessEpoch::lock)
    return need(not epochs_of(win).locked.contains(target), "the target is locked already");
  return need_no_access(win);
}

int check_unlock(MPI_Win win, int target)
{
  return need(win == MPI_WIN_NULL || target < 0 || epochs_of(win).locked.contains(target), "the target is not locked");
}

int check_lock_all(MPI_Win win)
{
  return need_no_access(win);
}

int check_unlock_all(MPI_Win win)
{
  return need(win == MPI_WIN_NULL || epochs_of(win).access == AccessEpoch::lock_all,
              "MPI_Win_lock_all has not been called");
}

int check_flush(MPI_Win win)
{
  if (win == MPI_WIN_NULL)
    return MPI_SUCCESS;
  const AccessEpoch access = epochs_of(win).access;
  return need(access == AccessEpoch::lock || access == AccessEpoch::lock_all, "the window is not locked");
}

int check_flush(MPI_Win win, int target)
{
  if (win != MPI_WIN_NULL && target >= 0 && epochs_of(win).access == AccessEpoch::lock)
    return need(epochs_of(win).locked.contains(target), "the target is not locked");
  return check_flush(win);
}

int check_free(const MPI_Win* win)
{
  if (not win || *win == MPI_WIN_NULL)
    return MPI_SUCCESS;
  if (const int result = need_no_access(*win); result != MPI_SUCCESS)
    return result;
  return need(not epochs_of(*win).exposed, "the window is exposed by MPI_Win_post");
}

// SMPI refuses accesses while its number is 0, which it is after MPI_Win_start if there was one fence before, or after
// MPI_Win_post and MPI_Win_start if there were two. Epochs are checked above.
void note_fence(MPI_Win win, int assertion)
{
  constexpr int BEYOND_EPOCHS = 4;
  if (int& fences = smpi_fences(win); fences > 0)
    fences = BEYOND_EPOCHS;
  epochs_of(win).access =
      (static_cast<unsigned>(assertion) & MPI_MODE_NOSUCCEED) != 0 ? AccessEpoch::none : AccessEpoch::fence;
}

void note_post(MPI_Win win)
{
  epochs_of(win).exposed = true;
}

void note_wait(MPI_Win win)
{
  epochs_of(win).exposed = false;
}

void note_start(MPI_Win win)
{
  epochs_of(win).access = AccessEpoch::start;
}

void note_complete(MPI_Win win)
{
  epochs_of(win).access = AccessEpoch::none;
}

void note_lock(MPI_Win win, int target)
{
  if (target < 0)
    return;
  epochs_of(win).access = AccessEpoch::lock;
  epochs_of(win).locked.insert(target);
}

void note_unlock(MPI_Win win, int target)
{
  Epochs& its = epochs_of(win);
  its.locked.erase(target);
  if (its.access == AccessEpoch::lock && its.locked.empty())
    its.access = AccessEpoch::none;
}

void note_lock_all(MPI_Win win)
{
  epochs_of(win).access = AccessEpoch::lock_all;
}

void note_unlock_all(MPI_Win win)
{
  epochs_of(win).access = AccessEpoch::none;
}

void note_free(MPI_Win win)
{
  epochs().erase(win);
}

} // namespace weft
