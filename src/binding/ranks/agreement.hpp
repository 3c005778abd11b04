// SPDX-License-Identifier: LGPL-2.1-only
/* Agreement of ranks in memory, in no simulated time, where SMPI would send messages. */
#pragma once

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"

#include <algorithm>
#include <list>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

namespace weft {

/** Returns the members of a communicator, which need not have a number yet. */
inline std::vector<aid_t> members_of(MPI_Comm comm)
{
  std::vector<aid_t> members;
  members.reserve(static_cast<std::size_t>(comm->size()));
  for (int rank = 0; rank < comm->size(); ++rank)
    members.push_back(comm->group()->actor(rank));
  return members;
}

/** Objects that the ranks of a communicator share, one per meeting. A rank joins the first meeting in which it has not
 * been. */
template <class Shared> class AgreementSlots {
  struct Slot {
    Shared shared;
    std::vector<bool> joined; // by rank
    int left = 0;
  };
  std::list<Slot> slots_;

public:
  using Place = typename std::list<Slot>::iterator;

  template <class Open> Place join(int rank, int size, Open&& open)
  {
    auto place = std::ranges::find_if(
        slots_, [rank](const Slot& meeting) { return not meeting.joined[static_cast<std::size_t>(rank)]; });
    if (place == slots_.end())
      place = slots_.insert(place, Slot{open(), std::vector<bool>(static_cast<std::size_t>(size))});
    place->joined[static_cast<std::size_t>(rank)] = true;
    return place;
  }
  void leave(Place place)
  {
    if (std::cmp_equal(++place->left, place->joined.size()))
      slots_.erase(place);
  }
  bool empty() const { return slots_.empty(); }
};

/** Allgather in memory: one value from each rank, read by all. */
template <class Value> class Agreement {
  int missing_;
  int waiting_ = 0;
  simgrid::s4u::SemaphorePtr complete_;

public:
  std::vector<Value> said; ///< by rank

  explicit Agreement(int size)
      : missing_(size), complete_(simgrid::s4u::Semaphore::create(0)), said(static_cast<std::size_t>(size))
  {
  }

  void say(int rank, const Value& value)
  {
    said[static_cast<std::size_t>(rank)] = value;
    if (--missing_ == 0)
      for (; waiting_ > 0; --waiting_)
        complete_->release();
  }

  /** Waits until all ranks have contributed. */
  void wait()
  {
    if (missing_ == 0)
      return;
    ++waiting_;
    complete_->acquire();
  }
};

} // namespace weft
