// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/tally.hpp"

#include <algorithm>
#include <vector>

namespace weft {

Schedule tallied(Schedule steps, Tally& tally)
{
  std::vector<bool> awaited; // by request: true for a receive that has not been waited for
  while (steps.next()) {
    const Step& step = steps.step();
    switch (step.kind) {
      case Step::Kind::send:
        ++tally.messages;
        awaited.push_back(false);
        break;
      case Step::Kind::receive:
        tally.rounds += step.blocking ? 1 : 0;
        awaited.push_back(not step.blocking);
        break;
      case Step::Kind::wait:
        tally.rounds += awaited[static_cast<std::size_t>(step.request)] ? 1 : 0;
        awaited[static_cast<std::size_t>(step.request)] = false;
        break;
      case Step::Kind::wait_all:
        tally.rounds += std::ranges::count(awaited, true) > 0 ? 1 : 0;
        awaited.assign(awaited.size(), false);
        break;
      default:
        break;
    }
    co_yield step;
  }
}

} // namespace weft
