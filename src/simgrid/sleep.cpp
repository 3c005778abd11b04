// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/sleep.hpp"

#include "base/fetch.hpp"
#include "simgrid/private_abi.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/simcall.hpp>
#include <xbt/config.hpp>

namespace kernel = simgrid::kernel;
namespace sg     = simgrid::s4u;

namespace weft {
namespace {

/** Ranks. With two the memory is not there in time, with eight more than the nearest cache holds. */
constexpr std::size_t AHEAD = 4;
/** Bytes that are touched as a rank goes on, makes its call's end and the next call: of SimGrid's context and actor
 * (src/kernel/context/ContextRaw.hpp, src/kernel/actor/ActorImpl.hpp up to its Actor), and of its stack on both
 * sides of where it waits. More or less of each was measured to take more time. */
constexpr std::size_t CONTEXT = 96;
constexpr std::size_t ACTOR   = 448;
constexpr std::size_t BELOW   = 640;
constexpr std::size_t ABOVE   = 1024;

/** Whether several threads run actors. */
bool may_run_side_by_side()
{
  static const bool MAY = simgrid::config::get_value<int>("contexts/nthreads") != 1;
  return MAY;
}

} // namespace

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
  const Waiting self{sg::Actor::self()->get_impl(),
                     reinterpret_cast<const std::byte*>(kernel::context::Context::self()),
                     static_cast<const std::byte*>(__builtin_frame_address(0)), may_run_side_by_side() || open_ > 0};
  if (self.in_simcall)
    wait_in_simcall(self);
  else {
    waiting_.push_back(self);
    self.rank->yield();
  }
  fetch_next();
}

/** Where others run at the same time, or it may go on at once: whether it does is seen when its turn has come. */
void Gate::wait_in_simcall(Waiting self)
{
  simcall_run_blocking(
      [this, self] {
        if (open_ == 0) {
          waiting_.push_back(self);
          return;
        }
        --open_;
        self.rank->simcall_answer();
      },
      nullptr);
}

/** One has gone on. Of thousands of ranks none has anything in a cache when its turn comes, and it would wait for one
 * line after the other. */
void Gate::fetch_next()
{
  const std::size_t next = gone_++ + AHEAD;
  if (next >= waiting_.size())
    return;
  fetch(waiting_[next].context, CONTEXT);
  fetch(reinterpret_cast<const std::byte*>(waiting_[next].rank), ACTOR);
  fetch(waiting_[next].stack - BELOW, BELOW + ABOVE);
}

void Gate::open()
{
  kernel::actor::simcall_answered([this] {
    if (passed_ == waiting_.size()) {
      ++open_;
      return;
    }
    const Waiting& first = waiting_[passed_++];
    if (first.in_simcall)
      first.rank->simcall_answer();
    else
      kernel::EngineImpl::get().add_actor_to_run_list_no_check(first.rank);
  });
}

} // namespace weft
