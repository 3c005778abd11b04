// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for and testing of requests.
 *
 * A rank that waits for requests of weft's transport sleeps until they are complete. They have no activity, so SMPI
 * then treats them as complete and finishes them. If a list also contains requests with activities, weft's requests get
 * activities too, and SMPI waits.
 *
 * SMPI's MPI_Waitall calls waitany() once per request, and each call builds tables of all requests (Request::waitany in
 * src/smpi/mpi/smpi_request.cpp). It selects the first request without an activity, such as a detached send; otherwise
 * the first whose activity has ended (ActivityImpl::wait_any_for). If there is one, SMPI gets that request alone, which
 * has the same effect at the same simulated time and in the same scheduling round. */
#include "binding/point_to_point/waits.hpp"

#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/requests/composed_waits.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <optional>
#include <xbt/config.hpp>

namespace weft {
namespace {

using simgrid::smpi::is_active;
using simgrid::smpi::is_own;
using simgrid::smpi::is_own_and_pending;
using simgrid::smpi::layout_of;
using Requests = std::span<MPI_Request>;

/** States of the requests of a list. */
struct Mixture {
  std::optional<int> ended; ///< index of the request that is selected
  int own       = 0;        ///< number of pending requests of weft's transport
  bool others   = false;    ///< true if some activity has not ended
  bool composed = false;    ///< true if some parts of composed requests have not been finished
};

// Out of line, to keep the stack frames of waiting ranks within the first page.
[[gnu::noinline]] Mixture look_at_all(std::span<const MPI_Request> requests)
{
  Mixture found;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (not is_active(requests[i]))
      continue;
    const auto& layout = layout_of(requests[i]);
    const bool own     = is_own(requests[i]);
    if (has_active_parts(requests[i])) {
      found.composed = true;
      continue;
    }
    if (own ? layout.detached : not layout.action) {
      found.ended = static_cast<int>(i);
      return found;
    }
    if (own ? not is_own_and_pending(requests[i]) : has_ended(*layout.action))
      found.ended = found.ended.value_or(static_cast<int>(i));
    else if (own)
      ++found.own;
    else
      found.others = true;
  }
  return found;
}

bool waits_for_own(MPI_Request request)
{
  return is_active(request) && is_own_and_pending(request);
}

/** Returns whether an active request is complete. */
bool is_there(MPI_Request request)
{
  return is_active(request) && not waits_for_own(request);
}

/** Sleeps until a request of weft's transport is complete. */
void sleep_for_one(Requests requests)
{
  const Attendance attendance;
  if (std::ranges::any_of(requests, is_there))
    return;
  MessageWaits& waits = *MessageWaits::get();
  for (MPI_Request request : requests)
    if (waits_for_own(request))
      waits.await(request);
  waits.sleep_for_any();
  for (MPI_Request request : requests)
    if (waits_for_own(request))
      waits.no_longer_await(request);
}

/** Sleeps until all requests of weft's transport are complete and, if overheads do not vary, for the overheads of
 * receives. */
void sleep_for_all(Requests requests)
{
  if (std::ranges::none_of(requests, waits_for_own))
    return;
  const Attendance attendance;
  MessageWaits& waits = *MessageWaits::get();
  int missing         = 0;
  for (MPI_Request request : requests)
    if (waits_for_own(request)) {
      waits.await(request);
      ++missing;
    }
  if (missing == 0)
    return;
  if (OwnMessages::get()->overheads().pays_one_by_one())
    waits.sleep(missing);
  else
    waits.sleep_and_pay(missing, requests);
}

/** Sets the statuses of inactive requests and of MPI_PROC_NULL, as SMPI does first. */
void set_empty(Requests requests, MPI_Status* statuses)
{
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL || layout_of(requests[i]).destination == MPI_PROC_NULL ||
        (layout_of(requests[i]).flags & simgrid::smpi::PREPARED_FLAG) != 0) {
      simgrid::smpi::Status::empty(statuses + i);
    } else if (layout_of(requests[i]).source == MPI_PROC_NULL) {
      simgrid::smpi::Status::empty(statuses + i);
      statuses[i].MPI_SOURCE = MPI_PROC_NULL;
    }
  }
}

/** Finishes a complete request. @return whether its message was truncated */
bool finish(MPI_Request& request, MPI_Status* status)
{
  const bool truncated = layout_of(request).truncated;
  simgrid::smpi::Request::finish_wait(&request, status);
  if (request != MPI_REQUEST_NULL && (layout_of(request).flags & simgrid::smpi::NON_PERSISTENT_FLAG) != 0)
    request = MPI_REQUEST_NULL;
  return truncated;
}

} // namespace

bool are_plain(std::span<const MPI_Request> requests)
{
  constexpr unsigned SPECIAL = simgrid::smpi::GENERALIZED_FLAG | simgrid::smpi::NONBLOCKING_COLLECTIVE_FLAG;
  return std::ranges::all_of(requests, [](MPI_Request request) {
    return not is_active(request) || is_own(request) ||
           (not layout_of(request).action && (layout_of(request).flags & SPECIAL) == 0);
  });
}

int wait_for_plain(std::span<MPI_Request> requests, MPI_Status* statuses)
{
  const bool wanted = statuses != MPI_STATUSES_IGNORE;
  if (wanted)
    set_empty(requests, statuses);
  bool truncated = false;
  while (true) {
    bool pending = false;
    if (not OwnMessages::get()->overheads().pays_one_by_one())
      sleep_for_all(requests);
    OwnMessages::get()->overheads().pay_for_receives(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (is_there(requests[i])) {
        MPI_Status status;
        truncated |= finish(requests[i], wanted ? &status : MPI_STATUS_IGNORE);
        if (wanted)
          statuses[i] = status;
      } else {
        pending |= is_active(requests[i]);
      }
    }
    if (not pending)
      return truncated ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
    if (std::ranges::none_of(requests, is_there))
      sleep_for_one(requests);
  }
}

int wait_for_pooled(MPI_Request* request, MPI_Status* status)
{
  if (waits_for_own(*request))
    sleep_for_all({request, 1});
  return finish(*request, status) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED int Request::wait(MPI_Request* request, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::wait);
  if (*request != MPI_REQUEST_NULL && not is_active(*request)) { // SMPI frees a request from MPI_PROC_NULL
    Status::empty(status);
    return MPI_SUCCESS;
  }
  if (*request != MPI_REQUEST_NULL && weft::waits_for_own(*request))
    weft::sleep_for_all({request, 1});
  const bool composed = weft::is_composed(*request);
  const int result    = THEIRS(request, status);
  return composed ? weft::error_of_last_status() : result;
}

WEFT_INTERPOSED int Request::waitany(int count, MPI_Request* requests, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::waitany);
  const bool is_quick      = count > 1 && weft::is_on(weft::TuningId::waits);
  if (count < 1 || not(is_quick || weft::OwnMessages::get()))
    return THEIRS(count, requests, status);
  const std::span all(requests, static_cast<std::size_t>(count));
  while (true) {
    const weft::Mixture found = weft::look_at_all(all);
    if (found.ended)
      return THEIRS(1, requests + *found.ended, status) == MPI_UNDEFINED ? MPI_UNDEFINED : *found.ended;
    if (found.composed && count > 1) {
      if (const auto ended = weft::wait_among_parts(all, status); not ended || not weft::is_composed(requests[*ended]))
        return ended.value_or(MPI_UNDEFINED);
      continue;
    }
    if (found.own == 0 || found.others)
      break;
    weft::sleep_for_one(all);
  }
  for (MPI_Request request : all)
    if (weft::waits_for_own(request))
      weft::OwnMessages::get()->ends().give_activity(request);
  if (weft::MessageWaits* const waits = weft::MessageWaits::get())
    waits->begin();
  return THEIRS(count, requests, status);
}

WEFT_INTERPOSED int Request::waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
  static const auto THEIRS = weft::original(&Request::waitall);
  if (count < 1 || not weft::OwnMessages::get())
    return THEIRS(count, requests, statuses);
  const std::span all(requests, static_cast<std::size_t>(count));
  return weft::are_plain(all) ? weft::wait_for_plain(all, statuses) : THEIRS(count, requests, statuses);
}

WEFT_INTERPOSED int Request::test(MPI_Request* request, MPI_Status* status, int* flag)
{
  static const auto THEIRS = weft::original(&Request::test);
  if (weft::is_composed(*request)) {
    const int result = THEIRS(request, status, flag);
    return *flag != 0 ? weft::error_of_last_status() : result;
  }
  const bool truncated = layout_of(*request).truncated && is_active(*request);
  if (not weft::waits_for_own(*request)) {
    const int result = THEIRS(request, status, flag);
    return result == MPI_SUCCESS && *flag != 0 && truncated ? MPI_ERR_TRUNCATE : result;
  }
  static const bool COSTS = simgrid::config::get_value<double>("smpi/test") > 0;
  if (COSTS) { // the request may complete during the test
    weft::OwnMessages::get()->ends().give_activity(*request);
    return THEIRS(request, status, flag);
  }
  Status::empty(status);
  *flag = 0;
  return MPI_SUCCESS;
}

} // namespace simgrid::smpi
