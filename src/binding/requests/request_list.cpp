// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/request_list.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/requests/composed_waits.hpp"
#include "binding/requests/message_waits.hpp"
#include "binding/requests/poller.hpp"
#include "binding/settings/tunings.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <algorithm>
#include <array>
#include <utility>

using simgrid::smpi::fields_of;
using simgrid::smpi::is_active;
using simgrid::smpi::is_own;
using simgrid::smpi::is_own_and_pending;
using simgrid::smpi::layout_of;

namespace weft {
namespace {

/** Long lists of a rank, and the arrays that it passed recently. */
struct ListsOfRank {
  static constexpr std::size_t MOST = 4; // receives and sends may use separate arrays
  std::vector<std::unique_ptr<RequestList>> lists;
  std::array<const MPI_Request*, MOST> arrays{};
  std::size_t next = 0;
};

ActorMap<std::unique_ptr<ListsOfRank>>& all_lists()
{
  static auto* const ALL =
      new ActorMap<std::unique_ptr<ListsOfRank>>; // leaked, since ranks may end during static destruction
  return *ALL;
}

bool are_kept()
{
  static const bool KEPT = MessageWaits::get() && is_on(TuningId::waits) && calls_are_direct();
  return KEPT;
}

/** Returns whether a list may contain a request. */
bool can_hold(MPI_Request request)
{
  return not is_active(request) ||
         (is_own(request) && not is_composed(request) && owner_of(request) == current_actor());
}

/** Returns whether the rank has passed the array before, and records it. */
bool note_array(ListsOfRank& its, const MPI_Request* array)
{
  if (std::ranges::find(its.arrays, array) != its.arrays.end())
    return true;
  its.arrays[its.next++ % ListsOfRank::MOST] = array;
  return false;
}

} // namespace

// ---- What the requests are ---------------------------------------------------------------------------------------

/** Returns whether the request at an index is still the one that was complete. */
bool RequestList::is_valid(std::size_t position) const
{
  MPI_Request const request = requests_[position];
  return request == known_[position] && is_active(request) && not is_own_and_pending(request);
}

/** Clears the request at an index. */
void RequestList::clear(std::size_t position)
{
  if (states_[position] == State::pending)
    --pending_;
  if (states_[position] == State::ended) {
    ended_.erase(position);
    detached_.erase(position);
  }
  states_[position] = State::inactive;
  if (const auto its = reporting_.find(known_[position]); its != reporting_.end() && its->second == position)
    reporting_.erase(its);
  known_[position] = MPI_REQUEST_NULL;
}

/** Records the current state of the request at an index. @return false if the list cannot hold it */
bool RequestList::examine(std::size_t position)
{
  clear(position);
  MPI_Request const request = requests_[position];
  known_[position]          = request;
  if (request == MPI_REQUEST_NULL)
    return true;
  auto& fields      = fields_of(request);
  const bool active = is_active(request);
  if (not can_hold(request))
    return false;
  const bool pending = active && is_own_and_pending(request);
  if (pending || (fields.flags & simgrid::smpi::PERSISTENT_FLAG) != 0) {
    fields.flags |= simgrid::smpi::LISTED_FLAG;
    reporting_[request] = position;
  }
  if (pending) {
    states_[position] = State::pending;
    ++pending_;
  } else if (active) {
    states_[position] = State::ended;
    ended_.insert(ended_.end(), position);
    if (fields.detached)
      detached_.insert(detached_.end(), position);
  }
  return true;
}

bool RequestList::examine_changed(std::size_t first, std::size_t last)
{
  for (std::size_t position = first; position < last; ++position)
    if (requests_[position] != known_[position] && not examine(position))
      return false;
  return true;
}

/** Re-examines the first of @p positions until it belongs to a complete request. */
bool RequestList::drop_finished(const std::set<std::size_t>& positions)
{
  while (not positions.empty() && not is_valid(*positions.begin()))
    if (not examine(*positions.begin()))
      return false;
  return true;
}

/** Compares the requests with those of the previous call. @return false if the list cannot hold them */
bool RequestList::update(std::span<MPI_Request> requests)
{
  constexpr std::size_t BLOCK = 64; // handles compared at once; std::equal on pointers to handles is memcmp
  for (std::size_t position = requests.size(); position < known_.size(); ++position)
    clear(position);
  requests_ = requests;
  known_.resize(requests.size(), MPI_REQUEST_NULL);
  states_.resize(requests.size(), State::inactive);
  for (std::size_t first = 0; first < requests.size(); first += BLOCK) {
    const std::size_t last = std::min(first + BLOCK, requests.size());
    if (not std::equal(requests.data() + first, requests.data() + last, known_.data() + first) &&
        not examine_changed(first, last))
      return false;
  }
  for (const std::size_t position : std::exchange(restarted_, {}))
    if (position < requests.size() && not examine(position))
      return false;
  return drop_finished(detached_) && drop_finished(ended_);
}

RequestList* RequestList::find(std::span<MPI_Request> requests)
{
  if (requests.size() < LONG || not are_kept() || not threads_of_rank(current_actor()).empty())
    return nullptr;
  std::unique_ptr<ListsOfRank>& its = all_lists()[current_actor()];
  if (not its)
    its = std::make_unique<ListsOfRank>();
  auto found = std::ranges::find_if(its->lists, [&](const auto& list) { return list->starts_at(requests.data()); });
  if (found == its->lists.end()) {
    if (not note_array(*its, requests.data()) || not std::ranges::all_of(requests, can_hold))
      return nullptr;
    if (its->lists.size() == ListsOfRank::MOST)
      its->lists.erase(its->lists.begin());
    its->lists.push_back(std::make_unique<RequestList>());
    found = its->lists.end() - 1;
  }
  if ((*found)->update(requests) && ((*found)->any_pending() || (*found)->any_ended()))
    return found->get();
  its->lists.erase(found);
  return nullptr;
}

// ---- Reports -----------------------------------------------------------------------------------------------------

bool RequestList::note_end(MPI_Request request, aid_t owner)
{
  const auto* const its = all_lists().find(owner);
  if (not its || not *its)
    return false;
  bool awaited = false;
  for (const auto& list : (*its)->lists) {
    const auto found = list->reporting_.find(request);
    if (found == list->reporting_.end() || list->states_[found->second] != State::pending)
      continue;
    const std::size_t position = found->second;
    if ((layout_of(request).flags & simgrid::smpi::PERSISTENT_FLAG) == 0)
      list->reporting_.erase(found);
    --list->pending_;
    list->states_[position] = State::ended;
    list->ended_.insert(position);
    awaited = std::exchange(list->awaited_, false) || awaited;
    wake_watchers(list.get());
  }
  return awaited;
}

void RequestList::note_start(MPI_Request request, aid_t owner)
{
  const auto* const its = all_lists().find(owner);
  if (not its || not *its)
    return;
  for (const auto& list : (*its)->lists)
    if (const auto found = list->reporting_.find(request); found != list->reporting_.end())
      list->restarted_.push_back(found->second);
}

bool RequestList::awaits(MPI_Request request, aid_t owner)
{
  const auto* const its = all_lists().find(owner);
  return its && *its && std::ranges::any_of((*its)->lists, [request](const auto& list) {
           return list->awaited_ && list->reporting_.contains(request);
         });
}

// ---- Waiting -----------------------------------------------------------------------------------------------------

std::optional<std::size_t> RequestList::first_for_wait() const
{
  const std::set<std::size_t>& first = detached_.empty() ? ended_ : detached_;
  return first.empty() ? std::nullopt : std::optional(*first.begin());
}

std::optional<std::size_t> RequestList::next_ended(std::size_t from) const
{
  auto next = ended_.lower_bound(from);
  while (next != ended_.end() && not is_valid(*next))
    ++next;
  return next == ended_.end() ? std::nullopt : std::optional(*next);
}

int RequestList::test(std::size_t position, MPI_Status* status, int* flag)
{
  clear(position);
  return simgrid::smpi::Request::test(&requests_[position], status, flag);
}

void RequestList::sleep()
{
  awaited_ = true;
  MessageWaits::get()->sleep_for_any();
  awaited_ = false;
}

int RequestList::wait(MPI_Status* status)
{
  while (true) {
    if (const auto first = first_for_wait()) {
      clear(*first);
      const int result = simgrid::smpi::Request::waitany(1, &requests_[*first], status);
      return result == MPI_UNDEFINED ? MPI_UNDEFINED : static_cast<int>(*first);
    }
    const Attendance attendance;
    if (not any_ended())
      sleep();
  }
}

} // namespace weft
