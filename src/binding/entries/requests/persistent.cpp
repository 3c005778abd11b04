// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/requests/persistent.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/run/request.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

namespace weft {

struct PersistentRequest {
  std::unique_ptr<PersistentOperation> operation;
  MPI_Request active = MPI_REQUEST_NULL;
};

namespace {

/** Requests by handle. References to them stay valid until the program frees the request. */
std::unordered_map<MPI_Request, PersistentRequest>& persistent_requests()
{
  static std::unordered_map<MPI_Request, PersistentRequest> all;
  return all;
}

std::unordered_map<MPI_Request, std::function<void()>>& completion_hooks()
{
  static std::unordered_map<MPI_Request, std::function<void()>> all;
  return all;
}

/** Prepares a receive from MPI_PROC_NULL, to which SMPI has given no reference, for dropping one. */
void count_reference(MPI_Request request)
{
  if (simgrid::smpi::is_active(request) && simgrid::smpi::layout_of(request).references == 0)
    simgrid::smpi::fields_of(request).references = 1;
}

PersistentRequest* find_persistent(MPI_Request handle)
{
  auto& all = persistent_requests();
  if (all.empty())
    return nullptr;
  const auto found = all.find(handle);
  return found == all.end() ? nullptr : &found->second;
}

} // namespace

int make_persistent(std::unique_ptr<PersistentOperation> operation, MPI_Request* handle)
{
  const int result = PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, handle);
  if (result == MPI_SUCCESS)
    add_persistent(std::move(operation), *handle);
  return result;
}

void add_persistent(std::unique_ptr<PersistentOperation> operation, MPI_Request handle)
{
  persistent_requests()[handle].operation = std::move(operation);
}

PersistentOperation* persistent_operation(MPI_Request handle)
{
  const PersistentRequest* const found = find_persistent(handle);
  return found ? found->operation.get() : nullptr;
}

MPI_Request active_request(MPI_Request handle)
{
  const PersistentRequest* const found = find_persistent(handle);
  return found ? found->active : MPI_REQUEST_NULL;
}

void on_completion(MPI_Request request, std::function<void()> hook)
{
  completion_hooks()[request] = std::move(hook);
}

PersistentScope::PersistentScope(int count, MPI_Request* requests, int most_statuses, MPI_Status* statuses)
    : requests_(requests, requests && count > 0 ? static_cast<std::size_t>(count) : 0),
      statuses_(statuses,
                statuses != MPI_STATUSES_IGNORE && most_statuses > 0 ? static_cast<std::size_t>(most_statuses) : 0)
{
  if (not persistent_requests().empty() || not completion_hooks().empty())
    replace();
}

void PersistentScope::replace()
{
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    PersistentRequest* const its    = find_persistent(requests_[i]);
    PersistentRequest* const active = its && its->active != MPI_REQUEST_NULL ? its : nullptr;
    const bool hooked = not active && not completion_hooks().empty() && completion_hooks().contains(requests_[i]);
    if (handles_.empty() && (active || hooked)) { // the first request that is persistent or hooked
      handles_.reserve(requests_.size());
      for (const MPI_Request request : requests_.first(i))
        handles_.push_back({request, nullptr, {}});
    }
    if (active || hooked || not handles_.empty())
      handles_.push_back(
          {requests_[i], active,
           hooked ? std::move(completion_hooks().extract(requests_[i]).mapped()) : std::function<void()>()});
    if (active)
      requests_[i] = active->active;
  }
}

void PersistentScope::restore()
{
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    auto& [handle, persistent, hook] = handles_[i];
    const bool completed             = requests_[i] == MPI_REQUEST_NULL;
    if (persistent) {
      const auto is_its = [&its = *persistent->operation](MPI_Status& status) { return its.complete_status(status); };
      if (i >= statuses_.size() ||
          not is_its(statuses_[i])) // at its own index, except for functions that complete some of the requests
        static_cast<void>(std::ranges::any_of(statuses_, is_its));
      if (completed)
        persistent->active = MPI_REQUEST_NULL;
      requests_[i] = handle;
    } else if (hook && completed) {
      hook();
    } else if (hook) {
      completion_hooks()[handle] = std::move(hook);
    }
  }
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int persistent_Start(decltype(&PMPI_Start) next_definition, MPI_Request* request)
{
  PersistentRequest* const its = request ? find_persistent(*request) : nullptr;
  if (not its) {
    RequestSignal::make_activities();
    return next_definition(request);
  }
  if (its->active != MPI_REQUEST_NULL)
    return wrong(MPI_ERR_REQUEST, "the request is active");
  MPI_Request active = MPI_REQUEST_NULL;
  const int result   = its->operation->start(&active);
  its->active        = active;
  return result;
}

int persistent_Startall(decltype(&PMPI_Startall) next_definition, int count, MPI_Request* requests)
{
  const bool any = requests && std::ranges::any_of(requests, requests + std::max(0, count),
                                                   [](MPI_Request one) { return find_persistent(one) != nullptr; });
  if (not any) {
    RequestSignal::make_activities();
    return next_definition(count, requests);
  }
  for (int i = 0; i < count; ++i)
    if (const int result =
            find_persistent(requests[i]) ? persistent_Start(nullptr, requests + i) : next_definition(1, requests + i);
        result != MPI_SUCCESS)
      return result;
  return MPI_SUCCESS;
}

// An active operation completes without its handle.
int persistent_Request_free(decltype(&PMPI_Request_free) next_definition, MPI_Request* request)
{
  if (request && find_persistent(*request)) {
    PersistentRequest its = std::move(persistent_requests()[*request]);
    persistent_requests().erase(*request);
    if (its.active != MPI_REQUEST_NULL) {
      its.operation.release(); // NOLINT(bugprone-unused-return-value): the operation still uses it
      PMPI_Request_free(&its.active);
    }
  }
  if (request)
    count_reference(*request);
  RequestSignal::make_activities();
  return next_definition(request);
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
