// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/concurrent.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/** Strand that has reached a wait. */
struct Running {
  ConcurrentSchedule strand;
  std::vector<Request> posted  = {}; // requests of the whole schedule, by the strand's own numbers
  std::vector<Request> open    = {}; // requests not waited for yet
  std::vector<Request> awaited = {}; // requests that the strand waits for now
  bool ended                   = false;
};

/** Executes a strand's steps until it has to wait. */
Schedule proceed(Running& its)
{
  while (its.awaited.empty() && not its.ended) {
    its.ended = not its.strand.steps.next();
    if (its.ended)
      break;
    Step step = its.strand.steps.step();
    switch (step.kind) {
      case Step::Kind::send:
      case Step::Kind::receive: {
        const bool blocking = std::exchange(step.blocking, false);
        step.tag            = step.is_flag() || step.tag >= TAGS ? step.tag : its.strand.tag;
        const Request own   = co_yield step;
        its.posted.push_back(own);
        its.open.push_back(own);
        if (blocking)
          its.awaited = {own};
        break;
      }
      case Step::Kind::wait:
        if (const Request own = its.posted[static_cast<std::size_t>(step.request)];
            std::ranges::count(its.open, own) > 0)
          its.awaited = {own};
        break;
      case Step::Kind::wait_all:
        its.awaited = its.open;
        break;
      default:
        co_yield step;
    }
  }
}

} // namespace

Schedule together(std::vector<ConcurrentSchedule> strands)
{
  std::vector<Running> all;
  all.reserve(strands.size());
  for (ConcurrentSchedule& one : strands)
    all.push_back({std::move(one)});
  AnyOf any;
  for (;;) {
    any.requests.clear();
    for (Running& one : all) {
      co_yield proceed(one);
      any.requests.insert(any.requests.end(), one.awaited.begin(), one.awaited.end());
    }
    if (any.requests.empty())
      co_return;
    co_yield wait_any(any);
    co_yield wait(any.ended);
    for (Running& one : all) {
      std::erase(one.open, any.ended);
      std::erase(one.awaited, any.ended);
    }
  }
}

} // namespace weft
