// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/background_call.hpp"

namespace weft {
namespace {

bool posts(const Step& step)
{
  return step.kind == Step::Kind::send || step.kind == Step::Kind::receive;
}

} // namespace

BackgroundCall::BackgroundCall(const std::vector<int>& ranks, const HostCall& inner, int place, MakeSchedule otherwise)
{
  Schedule schedule = within(inner, place, otherwise);
  Request posted    = 0;
  Request ended     = 0;
  while (schedule.next()) {
    Step step = schedule.step();
    if (step.kind == Step::Kind::wait_all) {
      for (; ended < posted; ++ended)
        steps_.push_back(wait(ended));
      continue;
    }
    if (posts(step))
      step.peer = ranks.at(static_cast<std::size_t>(step.peer));
    const bool blocking = step.blocking;
    step.blocking       = false;
    steps_.push_back(step);
    if (not posts(step))
      continue;
    posted_ = steps_.size();
    if (blocking)
      steps_.push_back(wait(posted));
    ++posted;
  }
}

Schedule BackgroundCall::proceed(std::size_t until, bool waiting)
{
  for (; next_ < until; ++next_) {
    const Step step = steps_[next_];
    if (posts(step)) {
      requests_.push_back(co_yield step);
    } else if (step.kind != Step::Kind::wait) {
      co_yield step;
    } else if (waiting) {
      co_yield wait(requests_.at(static_cast<std::size_t>(step.request)));
    } else {
      co_return;
    }
  }
}

Schedule BackgroundCall::start()
{
  return proceed(steps_.size(), false);
}

Schedule BackgroundCall::post_all()
{
  return proceed(posted_, true);
}

Schedule BackgroundCall::finish()
{
  return proceed(steps_.size(), true);
}

} // namespace weft
