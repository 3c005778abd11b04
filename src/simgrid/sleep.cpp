// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/sleep.hpp"

#include "simgrid/private_abi.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/simcall.hpp>

namespace weft {

void Sleep::sleep()
{
  if (over_)
    return;
  sleeper_ = simgrid::s4u::Actor::self()->get_impl();
  // Nobody answers this simcall but wake().
  simcall_run_blocking([] {}, nullptr);
}

void Sleep::wake()
{
  over_ = true;
  if (sleeper_)
    sleeper_->simcall_answer();
}

void Gate::pass()
{
  auto* const rank = simgrid::s4u::Actor::self()->get_impl();
  simcall_run_blocking(
      [this, rank] {
        if (open_ == 0) {
          waiting_.push_back(rank);
          return;
        }
        --open_;
        rank->simcall_answer();
      },
      nullptr);
}

void Gate::open()
{
  simgrid::kernel::actor::simcall_answered([this] {
    if (passed_ == waiting_.size())
      ++open_;
    else
      waiting_[passed_++]->simcall_answer();
  });
}

} // namespace weft
