// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/composed_waits.hpp"

#include "binding/abi/smpi/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

using simgrid::smpi::fields_of;
using simgrid::smpi::is_active;
using simgrid::smpi::layout_of;

/** Statuses of finished last parts, by composed request. */
std::unordered_map<MPI_Request, MPI_Status>& last_statuses()
{
  static std::unordered_map<MPI_Request, MPI_Status> all;
  return all;
}

/** Hooks of composed requests whose parts are finished. */
std::unordered_map<MPI_Request, std::function<void(MPI_Request)>>& hooks_of_parts()
{
  static std::unordered_map<MPI_Request, std::function<void(MPI_Request)>> all;
  return all;
}

void end_parts(MPI_Request request)
{
  fields_of(request).parts.clear();
  if (const auto hook = hooks_of_parts().extract(request))
    hook.mapped()(request);
}

int& last_error()
{
  static int error = MPI_SUCCESS;
  return error;
}

/** Position of an entry in the list for which wait_among_parts() waits. */
struct PartPlace {
  std::size_t request;
  std::optional<std::size_t> part;
};

} // namespace

bool is_composed(MPI_Request request)
{
  return request != MPI_REQUEST_NULL && (layout_of(request).flags & simgrid::smpi::COMPOSED_FLAG) != 0;
}

bool has_active_parts(MPI_Request request)
{
  return is_composed(request) && is_active(request) && std::ranges::any_of(layout_of(request).parts, is_active);
}

bool finish_parts(MPI_Request request, bool only_ended)
{
  std::vector<MPI_Request>& parts = fields_of(request).parts;
  const int count                 = static_cast<int>(parts.size());
  if (only_ended) { // SMPI's testall() tests only activities, and discards statuses
    for (MPI_Request& part : parts) {
      int flag = 1;
      MPI_Status status;
      const bool is_last = &part == &parts.back();
      if (is_active(part))
        simgrid::smpi::Request::test(&part, &status, &flag);
      else
        continue;
      if (flag == 0)
        return false;
      if (is_last)
        last_statuses()[request] = status;
    }
  } else if (count > 0) {
    const bool is_last_active = is_active(parts.back());
    std::vector<MPI_Status> statuses(parts.size());
    simgrid::smpi::Request::waitall(count, parts.data(), statuses.data());
    if (is_last_active)
      last_statuses()[request] = statuses.back();
  }
  end_parts(request);
  return true;
}

void on_finished_parts(MPI_Request request, std::function<void(MPI_Request)> hook)
{
  hooks_of_parts()[request] = std::move(hook);
}

MPI_Request last_part(MPI_Request request)
{
  const std::vector<MPI_Request>& parts = layout_of(request).parts;
  return parts.empty() ? MPI_REQUEST_NULL : parts.back();
}

void look_at_status(MPI_Request request, MPI_Status* status)
{
  const auto found = last_statuses().find(request);
  if (found != last_statuses().end() && status != MPI_STATUS_IGNORE)
    *status = found->second;
}

void take_status(MPI_Request request, MPI_Status* status)
{
  look_at_status(request, status);
  const auto its = last_statuses().extract(request);
  last_error()   = its && its.mapped().MPI_ERROR == MPI_ERR_TRUNCATE ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int error_of_last_status()
{
  return last_error();
}

std::optional<int> wait_among_parts(std::span<MPI_Request> requests, MPI_Status* status)
{
  while (true) {
    std::vector<MPI_Request> list;
    std::vector<PartPlace> places;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (not is_active(requests[i]))
        continue;
      if (not is_composed(requests[i])) {
        list.push_back(requests[i]);
        places.push_back({i, std::nullopt});
        continue;
      }
      const std::vector<MPI_Request>& parts = layout_of(requests[i]).parts;
      for (std::size_t part = 0; part < parts.size(); ++part)
        if (is_active(parts[part])) {
          list.push_back(parts[part]);
          places.push_back({i, part});
        }
    }
    MPI_Status one;
    const int ended = simgrid::smpi::Request::waitany(static_cast<int>(list.size()), list.data(), &one);
    if (ended < 0)
      return std::nullopt;
    const auto& [request, part] = places[static_cast<std::size_t>(ended)];
    const MPI_Request finished  = list[static_cast<std::size_t>(ended)];
    if (not part) {
      requests[request] = finished;
      if (status != MPI_STATUS_IGNORE)
        *status = one;
      return static_cast<int>(request);
    }
    std::vector<MPI_Request>& parts = fields_of(requests[request]).parts;
    parts[*part]                    = finished;
    if (*part + 1 == parts.size())
      last_statuses()[requests[request]] = one;
    if (not has_active_parts(requests[request]))
      return static_cast<int>(request);
  }
}

} // namespace weft
