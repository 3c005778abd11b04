// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeps of ranks without SimGrid's actions.
 *
 * SMPI charges a message's cost to a core by putting the rank to sleep. SimGrid creates an activity, an action and a
 * solver variable for each sleep: some 730 bytes, which all ranks of a program in lockstep hold at the same instant. In
 * runs that share actions
 * (actions_are_shared()) or whose messages are weft's (share_all_sleeps()), ranks that wake at the same instant share a
 * timer, and a sleep costs one pointer.
 *
 * SimGrid runs timers before the actions that end at the same instant, and ends sleeps before
 * messages, so this order is preserved. Ranks that wake together resume in the order in which they
 * fell asleep.
 */
#include "binding/tuning/shared_sleeps.hpp"

#include "binding/abi/original.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

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
  bool always_ = false;
  std::map<double, std::vector<Sleep*>> by_end_;

public:
  static SharedSleeps& get()
  {
    static auto* const THE_SLEEPS = new SharedSleeps; // leaked, since ranks may end during static destruction
    return *THE_SLEEPS;
  }

  void share_always() { always_ = true; }
  bool are_shared() const { return (always_ || actions_are_shared()) && is_on(TuningId::shared_sleeps); }
  void add(double end, Sleep& sleep)
  {
    const auto [at, is_first] = by_end_.try_emplace(end);
    if (is_first)
      Timer::set(end, [this, end] { wake_all(end); });
    at->second.push_back(&sleep);
  }
  void remove(double end, Sleep& sleep)
  {
    if (const auto left = by_end_.find(end); left != by_end_.end())
      std::erase(left->second, &sleep);
  }
  /** Called by a rank, which sleeps. */
  void sleep_until(double end)
  {
    Sleep sleep;
    add(end, sleep);
    try {
      sleep.sleep(SleepsIn::wait);
    } catch (...) { // the rank is being killed
      remove(end, sleep);
      throw;
    }
  }

private:
  void wake_all(double end)
  {
    const auto due = by_end_.extract(end);
    for (Sleep* const one : due.mapped())
      one->wake();
  }
};

} // namespace

void share_all_sleeps()
{
  SharedSleeps::get().share_always();
}

void wake_at(double time, Sleep& sleep)
{
  SharedSleeps::get().add(time, sleep);
}

void do_not_wake_at(double time, Sleep& sleep)
{
  SharedSleeps::get().remove(time, sleep);
}

} // namespace weft

namespace simgrid::s4u::this_actor {

WEFT_INTERPOSED void sleep_for(double duration)
{
  static const auto THEIRS = weft::original<void (*)(double)>("_ZN7simgrid3s4u10this_actor9sleep_forEd");
  if (duration > 0 && std::isfinite(duration) && weft::SharedSleeps::get().are_shared())
    weft::SharedSleeps::get().sleep_until(weft::time_of_rank() + duration);
  else
    THEIRS(duration);
}

} // namespace simgrid::s4u::this_actor
