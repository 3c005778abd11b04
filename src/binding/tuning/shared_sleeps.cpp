// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeps of ranks in large runs, without SimGrid's actions.
 *
 * SMPI lets a rank sleep for what a message costs its core. SimGrid makes an activity, an action and a variable of its
 * solver for each sleep: some 730 bytes, which all ranks of a program that takes turns hold at the same instant. Where
 * ranks share actions (actions_are_shared()), those that wake at one instant share a timer, and a sleep takes a
 * pointer.
 *
 * SimGrid runs timers before the actions that end at the same instant, and ends sleeps before messages: the order among
 * these stays. Ranks that wake together go on in the order in which they fell asleep. */
#include "binding/abi/original.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <vector>

using simgrid::kernel::timer::Timer;

namespace weft {
namespace {

class SharedSleeps {
  std::map<double, std::vector<Sleep*>> by_end_;

public:
  static SharedSleeps& get()
  {
    static auto* const THE_SLEEPS = new SharedSleeps; // ranks may still end while static objects are destroyed
    return *THE_SLEEPS;
  }

  /** From a rank. */
  void sleep_until(double end)
  {
    const auto [at, is_first] = by_end_.try_emplace(end);
    if (is_first)
      Timer::set(end, [this, end] { wake(end); });
    Sleep sleep;
    at->second.push_back(&sleep);
    try {
      sleep.sleep(SleepsIn::wait);
    } catch (...) { // the rank is being killed
      if (const auto left = by_end_.find(end); left != by_end_.end())
        std::erase(left->second, &sleep);
      throw;
    }
  }

private:
  void wake(double end)
  {
    const auto due = by_end_.extract(end);
    for (Sleep* const one : due.mapped())
      one->wake();
  }
};

} // namespace
} // namespace weft

namespace simgrid::s4u::this_actor {

WEFT_INTERPOSED void sleep_for(double duration)
{
  static const auto THEIRS = weft::original<void (*)(double)>("_ZN7simgrid3s4u10this_actor9sleep_forEd");
  if (duration > 0 && std::isfinite(duration) && weft::actions_are_shared())
    weft::SharedSleeps::get().sleep_until(Engine::get_clock() + duration);
  else
    THEIRS(duration);
}

} // namespace simgrid::s4u::this_actor
