// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/nap.hpp"

#include "binding/abi/kernel/actors.hpp"

#include <algorithm>
#include <cmath>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace weft {

double poll_duration(const Fabric& fabric)
{
  return fabric.mpi().value_or(MpiModel()).poll_overhead.value();
}

Nap::Nap(std::int64_t polls, double poll)
    : rank_(sg::Actor::self()->get_impl()), start_(sg::Engine::get_clock()), polls_(polls), poll_(poll)
{
}

Nap::~Nap()
{
  if (timer_)
    timer_->remove();
}

void Nap::set_timer(double date)
{
  if (timer_)
    timer_->remove();
  timer_ = Timer::set(std::max(date, sg::Engine::get_clock()), [this] {
    timer_ = nullptr; // SimGrid deletes it
    over_  = true;    // no event at the same instant may resume the rank twice
    simgrid::kernel::EngineImpl::get().add_actor_to_run_list_no_check(rank_);
  });
}

void Nap::sleep()
{
  if (polls_ > 0)
    set_timer(start_ + static_cast<double>(polls_) * poll_);
  rank_->yield();
}

void Nap::wake(std::int64_t fewest)
{
  if (over_)
    return;
  over_ = true;
  if (polls_ == 0)
    return set_timer(sg::Engine::get_clock());
  constexpr double ROUNDING = 1e-6; // fraction of a poll
  const double begun        = std::ceil((sg::Engine::get_clock() - start_) / poll_ - ROUNDING);
  polls_                    = std::clamp(static_cast<std::int64_t>(begun), fewest, polls_);
  set_timer(start_ + static_cast<double>(polls_) * poll_);
}

} // namespace weft
