// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/sleep.hpp"

#include "base/prefetch.hpp"
#include "binding/abi/private_abi.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/simcall.hpp>

namespace kernel = simgrid::kernel;
namespace sg     = simgrid::s4u;

namespace weft {
namespace {

/** Ranks. With two the memory is not there in time, with eight more than the nearest cache holds. */
constexpr std::size_t AHEAD = 4;
/** Bytes that are touched as a rank goes on, makes its call's end and the next call: of SimGrid's context and actor
 * (src/kernel/context/ContextRaw.hpp, src/kernel/actor/ActorImpl.hpp up to its Actor), and of its stack on both
 * sides of where it waits: from MPI_Wait, the next call reaches further down. More or less of each was measured to take
 * more time. */
constexpr std::size_t CONTEXT = 96;
constexpr std::size_t ACTOR   = 448;
constexpr std::size_t STACK   = 1664;

constexpr std::size_t below(SleepsIn where)
{
  return where == SleepsIn::wait ? 1216 : 640;
}

/** The current rank, which is about to sleep. */
Sleeper sleeper(SleepsIn where)
{
  return {sg::Actor::self()->get_impl(), reinterpret_cast<const std::byte*>(kernel::context::Context::self()),
          static_cast<const std::byte*>(__builtin_frame_address(0)) - below(where)};
}

/** Those that have been woken go on one after the other, mostly in this order. Of thousands of ranks none has anything
 * in a cache when its turn comes, and would wait for one line after the other: it is fetched some ranks before. */
class Woken {
  std::vector<Sleeper> ranks_;
  std::size_t gone_ = 0; // of those

public:
  static Woken& get()
  {
    static auto* woken = new Woken; // ranks may still end while the process's static objects are destroyed
    return *woken;
  }
  void add(const Sleeper& rank)
  {
    ranks_.push_back(rank);
    kernel::EngineImpl::get().add_actor_to_run_list_no_check(rank.rank);
  }
  void one_goes_on()
  {
    if (const std::size_t next = gone_++ + AHEAD; next < ranks_.size()) {
      prefetch(ranks_[next].context, CONTEXT);
      prefetch(reinterpret_cast<const std::byte*>(ranks_[next].rank), ACTOR);
      prefetch(ranks_[next].stack, STACK);
    }
    if (gone_ >= ranks_.size()) {
      ranks_.clear();
      gone_ = 0;
    }
  }
};

/** Until it is among the woken, or its end. */
void sleep_as(const Sleeper& rank)
{
  struct GoesOn {
    GoesOn()                         = default;
    GoesOn(const GoesOn&)            = delete;
    GoesOn& operator=(const GoesOn&) = delete;
    ~GoesOn() { Woken::get().one_goes_on(); }
  } const at_end;
  rank.rank->yield();
}

} // namespace

void Sleep::sleep(SleepsIn where)
{
  if (over_)
    return;
  sleeper_ = sleeper(where);
  try {
    sleep_as(sleeper_);
  } catch (...) { // it is being killed, and must not be woken
    sleeper_ = {};
    throw;
  }
}

void Sleep::wake()
{
  over_ = true;
  if (sleeper_.rank)
    Woken::get().add(sleeper_);
}

void Gate::pass()
{
  const Sleeper self = sleeper(SleepsIn::collective);
  if (open_ > 0) {
    wait_in_simcall(self);
    return;
  }
  waiting_.push_back({self, false});
  sleep_as(self);
}

/** Where it may go on at once: whether it does is seen when its turn has come. */
void Gate::wait_in_simcall(const Sleeper& self)
{
  simcall_run_blocking(
      [this, &self] {
        if (open_ == 0) {
          waiting_.push_back({self, true});
          return;
        }
        --open_;
        self.rank->simcall_answer();
      },
      nullptr);
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
      first.sleeper.rank->simcall_answer();
    else
      Woken::get().add(first.sleeper);
  });
}

} // namespace weft
