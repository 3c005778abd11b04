// SPDX-License-Identifier: LGPL-2.1-only
/* Locks of windows (MPI_Win_lock, MPI_Win_lock_all): an exclusive lock excludes all others.
 *
 * SMPI grants an exclusive lock next to shared ones, and forgets the holders of a window when any of them releases it,
 * so that its mutex may stay locked forever (Win::lock and Win::unlock in src/smpi/mpi/smpi_win.cpp). Here a rank
 * requests a lock from SMPI only once no conflicting lock is held. Shared locks are granted next to others even if a
 * rank waits for an exclusive one, as in MPICH.
 *
 * SMPI's MPI_Compare_and_swap releases the target while its Put is in flight, so that another rank reads the old value
 * (Win::compare_and_swap). Here the Put completes first. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/windows.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/sleep.hpp"

#include <map>
#include <set>
#include <smpi/smpi.h>
#include <utility>

namespace weft {
namespace {

/** Key of a communicator, the same on all members: its number and its first member, since several programs use the same
 * numbers. */
using WindowComm = std::pair<int, aid_t>;
/** Key of a communicator's window: its index in the order of creation. */
using WindowKey = std::pair<WindowComm, int>;

/** Lock of one rank's part of a window. */
class WindowLock {
  int shared_     = 0;
  bool exclusive_ = false;
  int waiting_    = 0;
  Gate gate_;

  bool excludes(int type) const { return exclusive_ || (type == MPI_LOCK_EXCLUSIVE && shared_ > 0); }

public:
  void acquire(int type)
  {
    ++waiting_;
    while (excludes(type))
      gate_.pass();
    --waiting_;
    if (type == MPI_LOCK_EXCLUSIVE)
      exclusive_ = true;
    else
      ++shared_;
  }

  /** Waiting ranks check again; those still excluded keep waiting. */
  void release()
  {
    if (exclusive_)
      exclusive_ = false;
    else
      --shared_;
    for (int rank = 0; rank < waiting_; ++rank)
      gate_.open();
  }

  bool is_idle() const { return shared_ == 0 && not exclusive_ && waiting_ == 0; }
};

struct Windows {
  std::map<std::pair<aid_t, WindowComm>, int> created; // number of windows created, by rank
  std::map<MPI_Win, WindowKey> keys;
  std::map<std::pair<WindowKey, int>, WindowLock> locks; // by target; references stay valid
  std::set<MPI_Win> swapping;                            // windows whose ranks are in MPI_Compare_and_swap

  static Windows& get()
  {
    static auto* const ALL = new Windows; // leaked, since ranks may end late
    return *ALL;
  }
};

} // namespace
} // namespace weft

void weft_make_window(void* self, void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, bool allocated,
                      bool dynamic) WEFT_REPLACES("_ZN7simgrid4smpi3WinC1EPvliPNS0_4InfoEPNS0_4CommEbb");
void weft_make_window(void* self, void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, bool allocated,
                      bool dynamic)
{
  using namespace weft;
  static const auto THEIRS =
      original<decltype(&weft_make_window)>("_ZN7simgrid4smpi3WinC1EPvliPNS0_4InfoEPNS0_4CommEbb");
  const WindowComm key(number_of(comm), group_of(comm)->actor(0));
  Windows& all     = Windows::get();
  const int number = all.created[std::pair(current_actor(), key)]++;
  all.keys.insert_or_assign(static_cast<MPI_Win>(self), WindowKey(key, number));
  THEIRS(self, base, size, unit, info, comm, allocated, dynamic);
}

namespace simgrid::smpi {

WEFT_INTERPOSED int Win::lock(int type, int target, int assertion)
{
  using Lock               = int (*)(Win*, int, int, int);
  static const auto THEIRS = weft::original<Lock>("_ZN7simgrid4smpi3Win4lockEiii");
  auto& all                = weft::Windows::get();
  all.locks[std::pair(all.keys[this], target)].acquire(type);
  return THEIRS(this, type, target, assertion);
}

WEFT_INTERPOSED int Win::unlock(int target)
{
  using Unlock             = int (*)(Win*, int);
  static const auto THEIRS = weft::original<Unlock>("_ZN7simgrid4smpi3Win6unlockEi");
  const int result         = THEIRS(this, target);
  auto& all                = weft::Windows::get();
  const auto lock          = all.locks.find(std::pair(all.keys[this], target));
  if (lock == all.locks.end())
    return result;
  lock->second.release();
  if (lock->second.is_idle())
    all.locks.erase(lock);
  return result;
}

WEFT_INTERPOSED int Win::compare_and_swap(const void* value, const void* compared, void* result, MPI_Datatype type,
                                          int target, MPI_Aint displacement)
{
  using Swap               = int (*)(Win*, const void*, const void*, void*, MPI_Datatype, int, MPI_Aint);
  static const auto THEIRS = weft::original<Swap>("_ZN7simgrid4smpi3Win16compare_and_swapEPKvS3_PvPNS0_8DatatypeEil");
  weft::Windows::get().swapping.insert(this);
  const int error = THEIRS(this, value, compared, result, type, target, displacement);
  weft::Windows::get().swapping.erase(this);
  return error;
}

WEFT_INTERPOSED int Win::put(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
                             MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Request* request)
{
  using Put = int (*)(Win*, const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Request*);
  static const auto THEIRS = weft::original<Put>("_ZN7simgrid4smpi3Win3putEPKviPNS0_8DatatypeEiliS5_PPNS0_7RequestE");
  const int error =
      THEIRS(this, origin, origin_count, origin_type, target, displacement, target_count, target_type, request);
  if (error == MPI_SUCCESS && weft::Windows::get().swapping.contains(this))
    flush(target);
  return error;
}

} // namespace simgrid::smpi
