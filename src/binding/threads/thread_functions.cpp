// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/thread_functions.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <threads.h>
#include <unordered_map>
#include <unordered_set>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** Ranks whose threads are simulated. */
std::unordered_set<aid_t>& concurrent_ranks()
{
  static auto* const ALL = new std::unordered_set<aid_t>; // leaked, since ranks may outlive static objects
  return *ALL;
}

using ThreadTable = std::unordered_map<pthread_t, std::unique_ptr<SimulatedThread>>;

/** Simulated threads that have not been joined. */
ThreadTable& simulated_threads()
{
  static auto* const ALL = new ThreadTable;
  return *ALL;
}

struct SimulatedStart {
  ThreadRoutine routine;
  SimulatedThread* thread;
};

/** Runs a simulated thread, which may also end by pthread_exit(). */
void* run_thread(void* start)
{
  const SimulatedStart own = *std::unique_ptr<SimulatedStart>(static_cast<SimulatedStart*>(start));
  filter_this_thread();
  own.thread->begin();
  struct AtEnd {
    SimulatedThread& thread;
    explicit AtEnd(SimulatedThread& its) : thread(its) {}
    AtEnd(const AtEnd&)            = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { thread.finish(); }
  } const at_end(*own.thread);
  return own.routine.function(own.routine.argument);
}

using SignalMask = int (*)(int, const sigset_t*, sigset_t*);

/** Changes a thread's signal mask, except the signal of locks, by the C library's @p change. */
int change_mask(SignalMask change, int how, const sigset_t* signals, sigset_t* before)
{
  if (not signals || how == SIG_UNBLOCK || concurrent_ranks().empty())
    return change(how, signals, before);
  sigset_t others = *signals;
  sigdelset(&others, SIGSYS);
  return change(how, &others, before);
}

} // namespace

bool join_thread(pthread_t thread, double deadline)
{
  const auto found = running_context ? simulated_threads().find(thread) : simulated_threads().end();
  if (found == simulated_threads().end())
    return true;
  if (not found->second->join(deadline))
    return false;
  simulated_threads().erase(thread);
  return true;
}

bool simulate_threads_of_rank()
{
  if (simgrid::config::get_value<std::string>("contexts/factory") == "thread" || not simulate_futexes())
    return false;
  concurrent_ranks().insert(current_actor());
  return true;
}

bool threads_are_simulated()
{
  return running_context && not concurrent_ranks().empty() && not is_forked_child() && rank_here() &&
         concurrent_ranks().contains(current_actor());
}

bool any_threads_are_simulated()
{
  return not concurrent_ranks().empty();
}

int create_simulated_thread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                            ThreadRoutine routine)
{
  auto own         = std::make_unique<SimulatedThread>(true);
  auto start       = std::make_unique<SimulatedStart>(routine, own.get());
  const int failed = create(thread, attributes, run_thread, start.get());
  if (failed != 0)
    return failed;
  [[maybe_unused]] const auto* const passed = start.release(); // run_thread() deletes it
  SimulatedThread& created                  = *own;
  simulated_threads()[*thread]              = std::move(own);
  created.start();
  return 0;
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_pthread_join(pthread_t thread, void** result) WEFT_REPLACES("pthread_join");
int weft_pthread_join(pthread_t thread, void** result)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_join)>("pthread_join");
  constexpr double NEVER   = -1;
  weft::join_thread(thread, NEVER);
  const weft::SystemFutexes locks; // the system wakes threads that wait for the end of a thread
  return THEIRS(thread, result);
}

// thrd_create() and thrd_join() would not call the functions above.
int weft_thrd_create(thrd_t* thread, thrd_start_t function, void* argument) WEFT_REPLACES("thrd_create");
int weft_thrd_create(thrd_t* thread, thrd_start_t function, void* argument)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_thrd_create)>("thrd_create");
  if (not weft::threads_are_simulated())
    return THEIRS(thread, function, argument);
  struct Routine {
    thrd_start_t function;
    void* argument;
    static void* call(void* routine)
    {
      const Routine own = *std::unique_ptr<Routine>(static_cast<Routine*>(routine));
      return reinterpret_cast<void*>(std::intptr_t{own.function(own.argument)}); // NOLINT(performance-no-int-to-ptr)
    }
  };
  auto routine     = std::make_unique<Routine>(function, argument);
  const int failed = pthread_create(thread, nullptr, &Routine::call, routine.get());
  if (failed == 0) [[maybe_unused]]
    const auto* const passed = routine.release(); // call() deletes it
  return failed == 0 ? thrd_success : failed == EAGAIN ? thrd_nomem : thrd_error;
}

int weft_thrd_join(thrd_t thread, int* result) WEFT_REPLACES("thrd_join");
int weft_thrd_join(thrd_t thread, int* result)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_thrd_join)>("thrd_join");
  constexpr double NEVER   = -1;
  weft::join_thread(thread, NEVER);
  const weft::SystemFutexes locks;
  return THEIRS(thread, result);
}

int weft_pthread_sigmask(int how, const sigset_t* signals, sigset_t* before) WEFT_REPLACES("pthread_sigmask");
int weft_pthread_sigmask(int how, const sigset_t* signals, sigset_t* before)
{
  static const auto THEIRS = weft::next_definition<weft::SignalMask>("pthread_sigmask");
  return weft::change_mask(THEIRS, how, signals, before);
}

int weft_sigprocmask(int how, const sigset_t* signals, sigset_t* before) WEFT_REPLACES("sigprocmask");
int weft_sigprocmask(int how, const sigset_t* signals, sigset_t* before)
{
  static const auto THEIRS = weft::next_definition<weft::SignalMask>("sigprocmask");
  return weft::change_mask(THEIRS, how, signals, before);
}

} // extern "C"
