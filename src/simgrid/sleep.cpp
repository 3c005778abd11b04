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

} // namespace weft
