// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/polls/polls.hpp"

#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/requests/some_requests.hpp"
#include "binding/ranks/current.hpp"
#include "binding/requests/composed_waits.hpp"
#include "binding/requests/kept_error.hpp"
#include "binding/requests/message_waits.hpp"
#include "binding/requests/poller.hpp"
#include "binding/requests/request_list.hpp"
#include "binding/run/request.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <xbt/config.hpp>

using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Returns whether weft charges polls instead of SMPI's @p option, and disables the option if so. */
bool take_over(const char* option)
{
  if (not simgrid::config::is_default(option))
    return false;
  simgrid::config::set_default<double>(option, 0);
  return true;
}

bool tests_are_ours()
{
  static const bool OURS = take_over("smpi/test");
  return OURS;
}

bool probes_are_ours()
{
  static const bool OURS = take_over("smpi/iprobe");
  return OURS;
}

/** Returns whether the run records a SimGrid trace, which must contain failed polls too. */
bool smpi_writes_actions()
{
  static const bool WRITES = simgrid::config::get_value<bool>("tracing") &&
                             simgrid::config::get_value<std::string>("tracing/smpi/format") == "TI";
  return WRITES;
}

enum class RequestState { inactive, pending, ended };

RequestState state_of(MPI_Request request);

RequestState state_of(const std::vector<MPI_Request>& parts)
{
  const bool pending =
      std::ranges::any_of(parts, [](MPI_Request request) { return state_of(request) == RequestState::pending; });
  return pending ? RequestState::pending : RequestState::ended;
}

RequestState state_of(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  if (not is_active(request))
    return RequestState::inactive;
  const RequestLayout& layout = layout_of(request);
  if ((layout.flags & CANCELLED_FLAG) != 0)
    return RequestState::ended;
  if ((layout.flags & GENERALIZED_FLAG) != 0)
    return (layout.flags & COMPLETE_FLAG) != 0 ? RequestState::ended : RequestState::pending;
  if (is_own(request))
    return is_own_and_pending(request) ? RequestState::pending : RequestState::ended;
  if (layout.action && not has_ended(*layout.action))
    return RequestState::pending;
  return (layout.flags & NONBLOCKING_COLLECTIVE_FLAG) != 0 ? state_of(request->get_nbc_requests())
                                                           : RequestState::ended;
}

struct Found {
  bool pending = false;
  bool ended   = false;
};

Found look_at(std::span<const MPI_Request> requests)
{
  Found found;
  for (MPI_Request request : requests) {
    const RequestState state = state_of(request);
    found.pending            = found.pending || state == RequestState::pending;
    found.ended              = found.ended || state == RequestState::ended;
  }
  return found;
}

void watch(Poller& poller, std::span<const MPI_Request> requests)
{
  for (MPI_Request request : requests) {
    if (state_of(request) != RequestState::pending)
      continue;
    const RequestLayout& layout = simgrid::smpi::layout_of(request);
    if (simgrid::smpi::is_own(request)) {
      poller.watch(request);
    } else if (layout.action) {
      poller.watch(layout.action.get());
    }
    if ((layout.flags & simgrid::smpi::NONBLOCKING_COLLECTIVE_FLAG) != 0)
      watch(poller, request->get_nbc_requests());
  }
}

/** Returns the list of a poll's requests, if weft keeps one because it is long. */
RequestList* list_of(int count, MPI_Request* requests)
{
  return tests_are_ours() ? RequestList::find(span_of(requests, count)) : nullptr;
}

Found look_at(RequestList* list, std::span<const MPI_Request> requests)
{
  return list ? Found{.pending = list->any_pending(), .ended = list->any_ended()} : look_at(requests);
}

/** Charges the current rank for a failed poll of @p requests, which are those of @p list, if there is one. */
void pay_for(std::span<const MPI_Request> requests, RequestList* list = nullptr)
{
  Poller& poller = Poller::of_this_rank(current_run());
  poller.begin();
  if (list) {
    poller.watch(list);
  } else {
    watch(poller, requests);
  }
  poller.pay();
}

void end_row()
{
  Poller::of_this_rank(current_run()).end_row();
}

/** Counts a test of requests none of which is active. */
void note_inactive(const char* name, std::span<const MPI_Request> requests, const Found& found)
{
  if (not found.pending && not found.ended)
    note_call(CallIdentity(name, {number_of_handle(requests.data()), static_cast<std::int64_t>(requests.size())}));
}

/** Sets the status of a complete or inactive request. */
void give_status(MPI_Request request, MPI_Status* status)
{
  simgrid::smpi::Status::empty(status);
  const RequestLayout& layout = simgrid::smpi::layout_of(request);
  if (status == MPI_STATUS_IGNORE || not simgrid::smpi::is_active(request))
    return;
  if (is_composed(request)) {
    if (const MPI_Request last = last_part(request); last != MPI_REQUEST_NULL)
      give_status(last, status);
    else
      look_at_status(request, status);
    return;
  }
  if ((layout.flags & simgrid::smpi::NONBLOCKING_COLLECTIVE_FLAG) != 0) { // also for files and partitioned receives
    status->MPI_TAG = layout.tag;
    set_status_bytes(*status, static_cast<std::int64_t>(layout.real_size));
  }
  if ((layout.flags & simgrid::smpi::RECEIVE_FLAG) == 0)
    return;
  if (layout.source == MPI_PROC_NULL) {
    status->MPI_SOURCE = MPI_PROC_NULL;
    return;
  }
  status->MPI_SOURCE = layout.comm->group()->rank(layout.source == MPI_ANY_SOURCE ? layout.real_source : layout.source);
  status->MPI_TAG    = layout.tag == MPI_ANY_TAG ? layout.real_tag : layout.tag;
  status->MPI_ERROR  = layout.truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  set_status_bytes(*status, static_cast<std::int64_t>(layout.real_size));
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int polled_Test(decltype(&PMPI_Test) next_definition, MPI_Request* request, int* flag, MPI_Status* status)
{
  const KeptError kept(status, request);
  RequestSignal::make_activities();
  if (request && flag && *request == MPI_REQUEST_NULL) { // SMPI sets the flag only if there is a status
    *flag = 1;
    simgrid::smpi::Status::empty(status);
    note_call(CallIdentity("Test", {number_of_handle(request)}));
    return MPI_SUCCESS;
  }
  if (not tests_are_ours() || not request || not flag)
    return next_definition(request, flag, status);
  note_inactive("Test", {request, 1}, look_at({request, 1}));
  if (state_of(*request) == RequestState::pending) {
    if (smpi_writes_actions())
      next_definition(request, flag, status);
    *flag = 0;
    pay_for({request, 1});
    return MPI_SUCCESS;
  }
  end_row();
  return next_definition(request, flag, status);
}

// SMPI's Testall completes requests while others are pending, and discards their statuses.
int polled_Testall(decltype(&PMPI_Testall) next_definition, int count, MPI_Request* requests, int* flag,
                   MPI_Status* statuses)
{
  RequestSignal::make_activities();
  const auto all          = span_of(requests, count);
  RequestList* const list = list_of(count, requests);
  const Found found       = look_at(list, all);
  note_inactive("Testall", all, found);
  if (tests_are_ours() && flag && found.pending) {
    *flag = 0;
    pay_for(all, list);
    return MPI_SUCCESS;
  }
  end_row();
  return next_definition(count, requests, flag, statuses);
}

int polled_Testany(decltype(&PMPI_Testany) next_definition, int count, MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status)
{
  RequestSignal::make_activities();
  const auto all          = span_of(requests, count);
  RequestList* const list = list_of(count, requests);
  const Found found       = look_at(list, all);
  note_inactive("Testany", all, found);
  if (tests_are_ours() && index && flag && found.pending && not found.ended) {
    *flag  = 0;
    *index = MPI_UNDEFINED;
    pay_for(all, list);
    return MPI_SUCCESS;
  }
  end_row();
  return with_error_of_status(status, index, [&](MPI_Status* its) {
    if (list && index && flag)
      if (const auto first = list->next_ended(0)) {
        *index = static_cast<int>(*first);
        return list->test(*first, its, flag);
      }
    return next_definition(count, requests, index, flag, its);
  });
}

int polled_Testsome(decltype(&PMPI_Testsome) next_definition, int count, MPI_Request* requests, int* ended,
                    int* indices, MPI_Status* statuses)
{
  RequestSignal::make_activities();
  const auto all          = span_of(requests, count);
  RequestList* const list = list_of(count, requests);
  const Found found       = look_at(list, all);
  note_inactive("Testsome", all, found);
  if (tests_are_ours() && ended && found.pending && not found.ended) {
    *ended = 0;
    pay_for(all, list);
    return MPI_SUCCESS;
  }
  end_row();
  if (list && ended)
    return test_some(*list, ended, indices, statuses);
  return next_definition(count, requests, ended, indices, statuses);
}

// SMPI's function mistakes a pending receive for a completed one.
int polled_Request_get_status(decltype(&PMPI_Request_get_status) next_definition, MPI_Request request, int* flag,
                              MPI_Status* status)
{
  const KeptError kept(status, &request);
  RequestSignal::make_activities();
  const bool own = request != MPI_REQUEST_NULL && simgrid::smpi::is_own(request);
  if (not(tests_are_ours() || own) || request == MPI_REQUEST_NULL || not flag)
    return next_definition(request, flag, status);
  *flag = state_of(request) == RequestState::pending ? 0 : 1;
  if (*flag == 0)
    pay_for({&request, 1});
  else
    give_status(request, status);
  if (*flag != 0)
    note_call(CallIdentity("Request_get_status", {number_of_handle(request)}));
  return MPI_SUCCESS;
}

int polled_Iprobe(decltype(&PMPI_Iprobe) next_definition, int source, int tag, MPI_Comm comm, int* flag,
                  MPI_Status* status)
{
  const KeptError kept(status);
  if (not probes_are_ours() || not flag)
    return next_definition(source, tag, comm, flag, status);
  MPI_Status seen;
  if (status == MPI_STATUS_IGNORE)
    status = &seen;
  Poller& poller = Poller::of_this_rank(current_run());
  poller.begin();
  const Probed what{source, tag, comm};
  do {
    if (poller.has_probed(what))
      continue;
    const unsigned messages = poller.messages();
    const int result        = next_definition(source, tag, comm, flag, status);
    if (result != MPI_SUCCESS || *flag != 0) {
      poller.end_row();
      if (result == MPI_SUCCESS)
        note_call(CallIdentity("Iprobe", {number_of_handle(comm), source, tag, status->MPI_SOURCE, status->MPI_TAG}));
      return result;
    }
    poller.note_probe(what, messages);
  } while (not poller.pay());
  *flag = 0;
  return MPI_SUCCESS;
}

// NOLINTEND(readability-identifier-naming)

void take_over_polls()
{
  if (not interposes()) // SMPI's own polls must advance the clock
    return;
  tests_are_ours();
  probes_are_ours();
}

bool look_at_request(MPI_Request request, MPI_Status* status)
{
  RequestSignal::make_activities();
  if (state_of(request) == RequestState::pending)
    return false;
  if (request == MPI_REQUEST_NULL)
    simgrid::smpi::Status::empty(status);
  else
    give_status(request, status);
  return true;
}

void pay_for_poll(std::span<const MPI_Request> requests)
{
  if (tests_are_ours())
    pay_for(requests);
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED void Request::probe(int source, int tag, MPI_Comm comm, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::probe);
  if (not weft::probes_are_ours())
    return THEIRS(source, tag, comm, status);
  weft::Poller& poller = weft::Poller::of_this_rank(weft::current_run());
  while (true) {
    const unsigned messages = poller.messages();
    int flag                = 0;
    iprobe(source, tag, comm, &flag, status);
    if (flag != 0)
      return;
    weft::MessageWaits* const waits = weft::MessageWaits::get();
    if (waits)
      waits->begin_probe(source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : comm->group()->actor(source), tag, comm);
    poller.await_message(messages);
    if (waits)
      waits->end_probe();
  }
}

} // namespace simgrid::smpi

namespace simgrid::kernel::activity {

WEFT_INTERPOSED void CommImpl::finish()
{
  static const auto THEIRS = weft::original<void (*)(CommImpl*)>("_ZN7simgrid6kernel8activity8CommImpl6finishEv");
  weft::wake_watchers(this);
  THEIRS(this);
}

WEFT_INTERPOSED void MessImpl::finish()
{
  static const auto THEIRS = weft::original<void (*)(MessImpl*)>("_ZN7simgrid6kernel8activity8MessImpl6finishEv");
  weft::wake_watchers(this);
  THEIRS(this);
  // If MPI_Test finds the end of a message, no other code removes it from the ranks (tested_messages.cpp).
  if (weft::is_on(weft::TuningId::tested_messages))
    cancel();
}

} // namespace simgrid::kernel::activity
