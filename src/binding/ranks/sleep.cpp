// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/sleep.hpp"

#include "base/prefetch.hpp"
#include "binding/abi/kernel/actors.hpp"
#include "binding/abi/kernel/contexts.hpp"
#include "binding/settings/tunings.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/simcall.hpp>

namespace kernel = simgrid::kernel;
namespace sg     = simgrid::s4u;

namespace weft {
namespace {

/** Prefetch distance in ranks. With two, the memory arrives too late; with eight, it exceeds the L1 cache. */
constexpr std::size_t AHEAD = 4;
/** Bytes to prefetch: the memory that a rank touches when it resumes, ends its call and makes the next one. It belongs
 * to SimGrid's context and actor (src/kernel/context/ContextRaw.hpp, src/kernel/actor/ActorImpl.hpp up to its Actor),
 * and to the rank's stack on both sides of its stack pointer: from MPI_Wait, the next call reaches further down. Larger
 * and smaller values were measured to be slower. */
constexpr std::size_t CONTEXT = 96;
constexpr std::size_t ACTOR   = 448;
constexpr std::size_t STACK   = 1664;

constexpr std::size_t below(SleepsIn where)
{
  return where == SleepsIn::wait ? 1216 : 640;
}

/** Returns the current rank as a sleeper. */
Sleeper sleeper(SleepsIn where)
{
  return {sg::Actor::self()->get_impl(), reinterpret_cast<const std::byte*>(kernel::context::Context::self()),
          static_cast<const std::byte*>(__builtin_frame_address(0)) - below(where)};
}

/** Woken ranks, which mostly resume in this order. With thousands of ranks, none of a rank's memory is cached when its
 * turn comes, so each access would be a cache miss; its memory is therefore prefetched some ranks ahead. */
class Woken {
  std::vector<Sleeper> ranks_;
  std::size_t gone_ = 0; // number of woken ranks that have resumed

public:
  static Woken& get()
  {
    static auto* woken = new Woken; // leaked, since ranks may still end during static destruction
    return *woken;
  }
  void add(const Sleeper& rank)
  {
    ranks_.push_back(rank);
    kernel::EngineImpl::get().add_actor_to_run_list_no_check(rank.rank);
  }
  void one_goes_on()
  {
    if (const std::size_t next = gone_++ + AHEAD; next < ranks_.size() && is_on(TuningId::woken_prefetch)) {
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

/** Sleeps until the rank is woken or killed. */
void sleep_as(const Sleeper& rank)
{
  struct Resumption {
    Resumption()                             = default;
    Resumption(const Resumption&)            = delete;
    Resumption& operator=(const Resumption&) = delete;
    ~Resumption() { Woken::get().one_goes_on(); }
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
  } catch (...) { // the rank is being killed and must not be woken
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

/** Waits on behalf of a rank that may pass immediately; its turn decides. */
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
