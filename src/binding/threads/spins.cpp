// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/spins.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/threads/computation_break.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/library_code.hpp"
#include "binding/threads/system_futex.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <simgrid/kernel/Timer.hpp>
#include <ucontext.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

struct SpinningThreads {
  std::unordered_map<aid_t, std::vector<Sleep*>> of_ranks; ///< sleeping threads by rank
  std::unordered_map<aid_t, double> pauses;                ///< of threads that only spin, by their actors
  bool begins = false;                                     ///< true if the current thread is about to sleep
};

SpinningThreads& spinning_threads()
{
  static auto* const ALL = new SpinningThreads; // leaked, since ranks may outlive static objects
  return *ALL;
}

/** Sleeps until another thread of the rank has run. Other spinning threads may wait for this one, so it checks again
 * after a pause, which grows as long as it only spins. */
void sleep_until_others_run()
{
  using simgrid::kernel::timer::Timer;
  constexpr double FIRST_PAUSE = 1e-7;
  constexpr double MOST        = 1e-3;
  const ComputationBreak computation;
  SpinningThreads& all = spinning_threads();
  double& pause        = all.pauses[calling_actor()];
  pause                = std::clamp(2 * pause, FIRST_PAUSE, MOST);
  auto& those          = all.of_ranks[current_actor()];
  Sleep sleep;
  those.push_back(&sleep);
  Timer* timer = nullptr;
  timer        = Timer::set(time_of_rank() + pause, [&] {
    timer = nullptr;
    if (std::erase(those, &sleep) > 0)
      sleep.wake();
  });
  all.begins   = true;
  try {
    sleep.sleep(SleepsIn::wait);
  } catch (...) { // the rank is being killed
    std::erase(those, &sleep);
    if (timer)
      timer->remove();
    throw;
  }
  if (timer)
    timer->remove();
}

#ifdef __x86_64__

constexpr unsigned INTERVAL = 2000; ///< between samples, in microseconds

std::atomic<pid_t>& runner()
{
  static std::atomic<pid_t> tid{0};
  return tid;
}

/** Returns the third to last signal; program_threads.cpp and blocked_rank.cpp use the last two. */
int sample_signal()
{
  return SIGRTMAX - 2;
}

/** Returns the CPU time that the thread of the system has used, in microseconds. */
std::int64_t used_by_this_thread()
{
  constexpr std::int64_t MICROSECONDS = 1'000'000;
  constexpr long NANOSECONDS          = 1000;
  std::timespec used{};
  system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&used), 0);
  return used.tv_sec * MICROSECONDS + used.tv_nsec / NANOSECONDS;
}

/** Values of a thread's registers in consecutive samples. */
class Samples {
  static constexpr std::size_t MOST_VALUES = 8;
  static constexpr std::size_t ENOUGH      = 16;

  std::uint64_t turn_ = 0;
  std::array<std::uint64_t, MOST_VALUES> values_{};
  std::size_t known_ = 0;
  std::size_t count_ = 0;
  std::int64_t used_ = 0; ///< CPU time at the last sample

public:
  /** Adds a sample, unless the thread has hardly run since the last one. Returns whether the thread spins. */
  bool add(std::uint64_t value)
  {
    const std::int64_t used = used_by_this_thread();
    if (std::exchange(turn_, turn) != turn)
      known_ = count_ = 0;
    else if (used - used_ < INTERVAL / 2)
      return false;
    used_           = used;
    auto* const end = values_.begin() + known_;
    if (std::find(values_.begin(), end, value) == end) {
      if (known_ == MOST_VALUES)
        known_ = count_ = 0;
      values_.at(known_++) = value;
    }
    return ++count_ >= ENOUGH;
  }
  void clear() { known_ = count_ = 0; }
};

/** Returns a hash of all registers except the instruction pointer and the flags. */
std::uint64_t hash_of(const ucontext_t& interrupted)
{
  constexpr std::uint64_t PRIME = 0x100000001b3; // FNV-1a
  std::uint64_t hash            = 0xcbf29ce484222325;
  for (int at = REG_R8; at <= REG_RSP; ++at)
    hash = (hash ^ static_cast<std::uint64_t>(interrupted.uc_mcontext.gregs[at])) * PRIME;
  return hash;
}

/** Code that a thread cannot leave at every instruction, since it may hold a lock of the C library or of SimGrid. */
std::vector<LibraryCode>& fragile_code()
{
  static auto& all = *new std::vector<LibraryCode>; // leaked, since the sampling thread outlives static objects
  return all;
}

void on_sample(int /*signum*/, siginfo_t* /*info*/, void* interrupted)
{
  static auto& samples = *new Samples;
  if (runner().load() != static_cast<pid_t>(system_call(SYS_gettid, 0, 0, 0)))
    return; // the turn has ended in the meantime
  const auto& context = *static_cast<const ucontext_t*>(interrupted);
  if (not running_context || not futexes_are_simulated() ||
      find_code(fragile_code(), static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP])))
    return;
  if (not samples.add(hash_of(context)))
    return;
  samples.clear();
  const int error = errno;
  sleep_until_others_run();
  errno = error;
}

/** Samples the registers of the running thread during its turn. */
[[noreturn]] void* watch(void* /*unused*/)
{
  for (std::uint64_t seen = turn;; seen = static_cast<const volatile std::uint64_t&>(turn)) {
    pause_system_thread(INTERVAL);
    if (seen == static_cast<const volatile std::uint64_t&>(turn))
      system_call(SYS_tgkill, syscall(SYS_getpid), runner().load(), sample_signal());
  }
}

void start_watch()
{
  fragile_code() =
      code_of_libraries({"libc.so", "ld-linux", "libstdc++.so", "libgcc_s.so", "libgomp.so", "libgfortran.so",
                         "libsimgrid.so", "libweft.so", "weft-malloc.so", "weft-mimalloc.so", "weft-newer-symbols.so"});
  struct sigaction action{};
  action.sa_sigaction = on_sample;
  action.sa_flags     = SA_SIGINFO | SA_RESTART | SA_NODEFER; // others run before it ends
  set_process_action(sample_signal(), action);
  static const auto CREATE = next_definition<decltype(&pthread_create)>("pthread_create");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread{};
  if (CREATE(&thread, nullptr, watch, nullptr) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

#endif

} // namespace

#ifdef __x86_64__

void watch_spins()
{
  static const bool STARTED = [] {
    runner() = static_cast<pid_t>(syscall(SYS_gettid));
    start_watch();
    return true;
  }();
  static_cast<void>(STARTED);
}

void note_runner(pid_t system_thread)
{
  runner() = system_thread;
}

#else

void watch_spins() {}
void note_runner(pid_t /*system_thread*/) {}

#endif

void wake_spinning_threads()
{
  SpinningThreads& all = spinning_threads();
  if (std::exchange(all.begins, false) || all.of_ranks.empty())
    return;
  all.pauses.erase(calling_actor());
  if (const auto found = all.of_ranks.find(current_actor()); found != all.of_ranks.end())
    for (Sleep* const one : std::exchange(found->second, {}))
      one->wake();
}

} // namespace weft
