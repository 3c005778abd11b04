// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/windows/requests.hpp"

#include "binding/entries/requests/composed.hpp"
#include "binding/requests/composed_waits.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace weft {
namespace {

/** Requests that may be incomplete, by window; each rank has its own window. */
std::unordered_map<MPI_Win, std::vector<MPI_Request>>& window_requests()
{
  static auto& all = *new std::unordered_map<MPI_Win, std::vector<MPI_Request>>; // leaked, since ranks may end late
  return all;
}

} // namespace

MPI_Request window_request(MPI_Win win, MPI_Request request)
{
  if (request == MPI_REQUEST_NULL)
    return compose({});
  const MPI_Request composed = compose({&request, 1});
  window_requests()[win].push_back(composed);
  on_finished_parts(composed, [win](MPI_Request finished) { std::erase(window_requests()[win], finished); });
  return composed;
}

void complete_window_requests(MPI_Win win)
{
  const auto found = window_requests().find(win);
  if (found == window_requests().end())
    return;
  const std::vector<MPI_Request> requests = std::move(found->second);
  window_requests().erase(found);
  for (const MPI_Request request : requests)
    finish_parts(request, false);
}

} // namespace weft
