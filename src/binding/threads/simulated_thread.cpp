// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/simulated_thread.hpp"

#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/threads/computation_break.hpp"
#include "binding/threads/spins.hpp"
#include "binding/threads/system_futex.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/simcall.hpp>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::kernel::actor::ActorImpl;
using simgrid::smpi::ActorExt;

namespace weft {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): handlers of signals read it
thread_local SimulatedThread* thread_here __attribute__((tls_model("initial-exec"))) = nullptr;

/** Parts of a rank's actor that its threads' actors share. */
struct SharedParts {
  const std::string name;
  sg::Host* const host;
  ActorExt* const extension;

  explicit SharedParts(sg::Actor& rank)
      : name(rank.get_name()), host(rank.get_host()), extension(rank.extension(ActorExt::EXTENSION_ID))
  {
  }
};

struct AllThreads {
  bool creating = false;
  std::unordered_map<aid_t, std::vector<aid_t>> of_ranks; ///< numbers of the actors that have not ended
  std::unordered_set<aid_t> ended_ranks;
};

AllThreads& all_threads()
{
  static auto* const ALL = new AllThreads; // leaked, since threads may outlive static objects
  return *ALL;
}

/** Returns the location of an actor's number: before its parent's (ActorIDTrait in SimGrid's ActorImpl.hpp). */
aid_t& number_of(ActorImpl* actor, const sg::Actor& its)
{
  constexpr std::size_t FIELDS = 16; // the number is among the first
  auto* const fields           = reinterpret_cast<aid_t*>(actor);
  static const std::size_t AT  = [&] {
    for (std::size_t at = 0; at + 1 < FIELDS; ++at)
      if (fields[at] == its.get_pid() && fields[at + 1] == its.get_ppid()) {
        fields[at]       = -1;
        const bool found = its.get_pid() == -1;
        fields[at]       = found ? fields[at] : its.get_pid();
        if (found)
          return at;
      }
    throw std::logic_error("the layout of actors in this SimGrid is unknown to weft; use SimGrid 4.1");
  }();
  return fields[AT];
}

} // namespace

SimulatedThread::SimulatedThread(bool exits) : rank_(current_actor()), exits_(exits) {}

SimulatedThread* SimulatedThread::here()
{
  return thread_here;
}

bool is_creating_thread()
{
  return all_threads().creating;
}

const std::vector<aid_t>& threads_of_rank(aid_t rank)
{
  static const std::vector<aid_t> NONE;
  const auto found = all_threads().of_ranks.find(rank);
  return found == all_threads().of_ranks.end() ? NONE : found->second;
}

void end_threads_of_rank(aid_t rank)
{
  if (all_threads().of_ranks.contains(rank))
    all_threads().ended_ranks.insert(rank);
}

// ---- The thread of the system
// ----------------------------------------------------------------------------------------

void SimulatedThread::return_turn(Request request)
{
  request_ = request;
  note_runner(0);
  turn_.store(Turn::simgrid, std::memory_order_release);
  wake_system_futex(&turn_);
}

void SimulatedThread::await_turn()
{
  while (turn_.load(std::memory_order_acquire) != Turn::thread)
    wait_for_system_futex(&turn_, static_cast<std::uint32_t>(Turn::simgrid));
  note_runner(system_thread_);
}

void SimulatedThread::begin()
{
  system_thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  await_turn();
  running_context = context_;
  thread_actor    = number_;
  thread_here     = this;
}

void SimulatedThread::finish()
{
  {
    const ComputationBreak computation;
  }
  wake_spinning_threads();
  thread_here     = nullptr;
  thread_actor    = 0;
  running_context = nullptr;
  return_turn(Request::end);
}

void SimulatedThread::yield()
{
  return_turn(Request::yield);
  await_turn();
  if (failure_)
    std::rethrow_exception(std::exchange(failure_, nullptr));
}

void SimulatedThread::leave(std::function<void()> leave)
{
  leave_ = std::move(leave);
  return_turn(Request::leave);
  await_turn();
  throw std::logic_error("a thread of a rank that has ended goes on");
}

bool SimulatedThread::join(double deadline)
{
  if (ended_)
    return true;
  const ComputationBreak computation;
  if (ended_)
    return true;
  Sleep sleep;
  joiners_.push_back(&sleep);
  simgrid::kernel::timer::Timer* timer = nullptr;
  if (deadline >= 0)
    simgrid::kernel::actor::simcall_answered([&] {
      timer = simgrid::kernel::timer::Timer::set(deadline, [&] {
        timer = nullptr;
        if (std::erase(joiners_, &sleep) > 0)
          sleep.wake();
      });
    });
  sleep.sleep(SleepsIn::wait);
  if (timer)
    timer->remove();
  return ended_;
}

// ---- The actor
// -------------------------------------------------------------------------------------------------------

void SimulatedThread::start()
{
  watch_spins();
  const SharedParts parts(*sg::Actor::self());
  simgrid::kernel::actor::simcall_answered([this, &parts] {
    all_threads().creating = true;
    const sg::ActorPtr own = sg::Actor::init(parts.name, parts.host);
    all_threads().creating = false;
    own->daemonize();
    number_ = own->get_pid();
    own->start([this] { run_actor(); });
    all_threads().of_ranks[rank_].push_back(number_);
  });
}

void SimulatedThread::become_rank()
{
  sg::Actor& own       = *sg::Actor::self();
  const SharedParts of = SharedParts(*sg::Actor::by_pid(rank_));
  extension_           = own.extension(ActorExt::EXTENSION_ID);
  own.extension_set(ActorExt::EXTENSION_ID, of.extension, false);
  number_of(actor_, own) = rank_;
}

/** Restores the fields by which SimGrid identifies the actor, before SimGrid cleans it up. */
void SimulatedThread::end_actor()
{
  sg::Actor& own = *sg::Actor::self();
  own.extension_set(ActorExt::EXTENSION_ID, extension_, false);
  number_of(actor_, own) = number_;
  std::erase(all_threads().of_ranks[rank_], number_);
}

void SimulatedThread::lend_turn()
{
  note_runner(0);
  turn_.store(Turn::thread, std::memory_order_release);
  wake_system_futex(&turn_);
  while (turn_.load(std::memory_order_acquire) != Turn::simgrid)
    wait_for_system_futex(&turn_, static_cast<std::uint32_t>(Turn::thread));
  static const auto OWN = static_cast<pid_t>(syscall(SYS_gettid));
  note_runner(OWN);
}

/** Lets others run until the actor resumes. */
void SimulatedThread::yield_actor()
{
  try {
    yield_keeping_state(actor_);
  } catch (const simgrid::ForcefulKillException&) {
    throw; // the simulation ends
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void SimulatedThread::run_actor()
{
  actor_   = sg::Actor::self()->get_impl();
  context_ = running_context;
  become_rank();
  struct AtEnd {
    SimulatedThread& thread;
    explicit AtEnd(SimulatedThread& its) : thread(its) {}
    AtEnd(const AtEnd&)            = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { thread.end_actor(); } // NOLINT(bugprone-exception-escape): layouts were checked before
  };
  {
    const AtEnd at_end(*this);
    for (bool runs = true; runs; runs = request_ == Request::yield) {
      if (all_threads().ended_ranks.contains(rank_))
        return; // the thread stays there
      lend_turn();
      if (request_ == Request::yield)
        yield_actor();
    }
  }
  if (request_ == Request::leave) {
    leave_();
    throw std::logic_error("a rank that has ended goes on");
  }
  // Wait until the thread has left the C library, where it may hold locks.
  constexpr useconds_t PAUSE = 20;
  constexpr int MOST         = 50'000; // a second
  for (int times = 0; exits_ && times < MOST; ++times) {
    if (syscall(SYS_tgkill, syscall(SYS_getpid), system_thread_, 0) != 0)
      break;
    pause_system_thread(PAUSE);
  }
  ended_             = true;
  const auto joiners = std::exchange(joiners_, {}); // nothing else refers to this object any longer
  simgrid::kernel::actor::simcall_answered([&joiners] {
    for (Sleep* const joiner : joiners)
      joiner->wake();
  });
}

} // namespace weft
