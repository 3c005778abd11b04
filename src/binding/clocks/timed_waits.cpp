// SPDX-License-Identifier: LGPL-2.1-only
/* Waits of threads until a deadline that the program has computed from a simulated clock.
 *
 * The event they wait for comes from a thread that runs in real time. The real duration of a wait is therefore the
 * simulated time left until the deadline. If the deadline passes on a rank's own thread, that time passes for the rank
 * too. libstdc++ waits for futures and semaphores by system calls, which go through syscall(). */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/clocks/simulated_time.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/thread_functions.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <ctime>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

namespace weft {
namespace {

/** Simulated deadline, converted to a real clock. */
class Deadline {
  std::timespec on_machine_{};
  double left_ = 0;

public:
  Deadline(clockid_t clock, const std::timespec& simulated) : left_(std::max(0.0, seconds_of(simulated) - time_now()))
  {
    static const auto TIME = next_definition<int (*)(clockid_t, std::timespec*)>("clock_gettime");
    std::timespec now{};
    TIME(clock, &now);
    constexpr long SECOND    = 1'000'000'000;
    const std::timespec left = timespec_of(left_);
    const long nanoseconds   = now.tv_nsec + left.tv_nsec;
    on_machine_              = {now.tv_sec + left.tv_sec + nanoseconds / SECOND, nanoseconds % SECOND};
  }

  const std::timespec* on_machine() const { return &on_machine_; }

  /** Advances the rank's time to the deadline, which has passed in real time. */
  void pass() const
  {
    if (left_ > 0 && is_ranks_thread())
      sleep_rank(left_);
  }
};

/** Returns whether a deadline is in simulated time. All others are invalid, or come from a real clock, which sampled
 * blocks and system calls read: it is decades ahead. */
bool is_simulated(const std::timespec* deadline, const void* caller)
{
  constexpr double DECADES = 1e9;
  return deadline && not futexes_are_simulated() && is_programs_call(caller) && deadline->tv_sec >= 0 &&
         deadline->tv_nsec >= 0 && seconds_of(*deadline) < time_now() + DECADES &&
         not(is_ranks_thread() && is_sampling());
}

/** Calls @p wait with the deadline on the real @p clock; it returns @p timed_out if that has passed. */
template <class Wait>
int wait_until(const void* caller, clockid_t clock, const std::timespec* deadline, int timed_out, Wait wait)
{
  if (not is_simulated(deadline, caller))
    return wait(deadline);
  const Deadline own(clock, *deadline);
  const int failed = wait(own.on_machine());
  if (failed == timed_out)
    own.pass();
  return failed;
}

/** As above, for functions that return -1, and @p timed_out in errno. */
template <class Wait>
int wait_with_errno(const void* caller, clockid_t clock, const std::timespec* deadline, int timed_out, Wait wait)
{
  const int failed = wait_until(caller, clock, deadline, timed_out,
                                [&wait](const std::timespec* time) { return wait(time) == 0 ? 0 : errno; });
  errno            = failed == 0 ? errno : failed;
  return failed == 0 ? 0 : -1;
}

/** Waits for a condition. Its own clock is unknown, so the wait names its clock where the C library can. */
int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const std::timespec* deadline,
                       const void* caller)
{
  using Wait                   = int (*)(pthread_cond_t*, pthread_mutex_t*, const std::timespec*);
  using ClockWait              = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const std::timespec*);
  static const auto THEIRS     = next_definition<Wait>("pthread_cond_timedwait");
  static const auto WITH_CLOCK = next_definition<ClockWait>("pthread_cond_clockwait");
  if (not WITH_CLOCK || not is_simulated(deadline, caller))
    return wait_until(caller, CLOCK_REALTIME, deadline, ETIMEDOUT,
                      [=](const std::timespec* time) { return THEIRS(condition, mutex, time); });
  return wait_until(caller, CLOCK_MONOTONIC, deadline, ETIMEDOUT,
                    [=](const std::timespec* time) { return WITH_CLOCK(condition, mutex, CLOCK_MONOTONIC, time); });
}

/** Waits for the end of a thread; simulated threads end in simulated time. */
template <class Join>
int wait_for_end(const void* caller, clockid_t clock, pthread_t thread, const std::timespec* deadline, Join join)
{
  constexpr double NEVER = -1;
  if (not join_thread(thread, deadline ? seconds_of(*deadline) : NEVER))
    return ETIMEDOUT;
  const SystemFutexes locks;
  return wait_until(caller, clock, deadline, ETIMEDOUT, join);
}

/** Returns whether a futex operation has a deadline rather than a duration, and sets its clock. */
bool has_deadline(long operation, clockid_t& clock)
{
  const auto all = static_cast<unsigned long>(operation);
  const auto command =
      all & ~static_cast<unsigned long>(FUTEX_PRIVATE_FLAG) & ~static_cast<unsigned long>(FUTEX_CLOCK_REALTIME);
  clock = (all & static_cast<unsigned long>(FUTEX_CLOCK_REALTIME)) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  if (command == FUTEX_LOCK_PI)
    clock = CLOCK_REALTIME;
  return command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

/** Defines a function with a deadline as its last parameter. @p clock is the deadline's clock; @p waits and @p
 * timed_out state how the function reports that it has passed. */
#define WEFT_TIMED_WAIT(name, waits, clock, timed_out, parameters, ...)                                                \
  int weft_##name parameters WEFT_REPLACES(#name);                                                                     \
  int weft_##name parameters                                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<int(*) parameters>(#name);                                        \
    return weft::waits(__builtin_return_address(0), clock, deadline, timed_out,                                        \
                       [=](const std::timespec* time) { return THEIRS(__VA_ARGS__, time); });                          \
  }

extern "C" {

WEFT_TIMED_WAIT(pthread_cond_clockwait, wait_until, clock, ETIMEDOUT,
                (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const std::timespec* deadline),
                condition, mutex, clock)
WEFT_TIMED_WAIT(pthread_mutex_timedlock, wait_until, CLOCK_REALTIME, ETIMEDOUT,
                (pthread_mutex_t * mutex, const std::timespec* deadline), mutex)
WEFT_TIMED_WAIT(pthread_mutex_clocklock, wait_until, clock, ETIMEDOUT,
                (pthread_mutex_t * mutex, clockid_t clock, const std::timespec* deadline), mutex, clock)
WEFT_TIMED_WAIT(pthread_rwlock_timedrdlock, wait_until, CLOCK_REALTIME, ETIMEDOUT,
                (pthread_rwlock_t * lock, const std::timespec* deadline), lock)
WEFT_TIMED_WAIT(pthread_rwlock_timedwrlock, wait_until, CLOCK_REALTIME, ETIMEDOUT,
                (pthread_rwlock_t * lock, const std::timespec* deadline), lock)
WEFT_TIMED_WAIT(pthread_rwlock_clockrdlock, wait_until, clock, ETIMEDOUT,
                (pthread_rwlock_t * lock, clockid_t clock, const std::timespec* deadline), lock, clock)
WEFT_TIMED_WAIT(pthread_rwlock_clockwrlock, wait_until, clock, ETIMEDOUT,
                (pthread_rwlock_t * lock, clockid_t clock, const std::timespec* deadline), lock, clock)
WEFT_TIMED_WAIT(sem_timedwait, wait_with_errno, CLOCK_REALTIME, ETIMEDOUT,
                (sem_t * semaphore, const std::timespec* deadline), semaphore)
WEFT_TIMED_WAIT(sem_clockwait, wait_with_errno, clock, ETIMEDOUT,
                (sem_t * semaphore, clockid_t clock, const std::timespec* deadline), semaphore, clock)
WEFT_TIMED_WAIT(mtx_timedlock, wait_until, CLOCK_REALTIME, thrd_timedout,
                (mtx_t * mutex, const std::timespec* deadline), mutex)
WEFT_TIMED_WAIT(cnd_timedwait, wait_until, CLOCK_REALTIME, thrd_timedout,
                (cnd_t * condition, mtx_t* mutex, const std::timespec* deadline), condition, mutex)

int weft_pthread_timedjoin_np(pthread_t thread, void** result, const std::timespec* deadline)
    WEFT_REPLACES("pthread_timedjoin_np");
int weft_pthread_timedjoin_np(pthread_t thread, void** result, const std::timespec* deadline)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_timedjoin_np)>("pthread_timedjoin_np");
  return weft::wait_for_end(__builtin_return_address(0), CLOCK_REALTIME, thread, deadline,
                            [=](const std::timespec* time) { return THEIRS(thread, result, time); });
}

int weft_pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const std::timespec* deadline)
    WEFT_REPLACES("pthread_clockjoin_np");
int weft_pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const std::timespec* deadline)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_clockjoin_np)>("pthread_clockjoin_np");
  return weft::wait_for_end(__builtin_return_address(0), clock, thread, deadline,
                            [=](const std::timespec* time) { return THEIRS(thread, result, clock, time); });
}

int weft_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const std::timespec* deadline)
    WEFT_REPLACES("pthread_cond_timedwait");
int weft_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const std::timespec* deadline)
{
  return weft::wait_for_condition(condition, mutex, deadline, __builtin_return_address(0));
}

// The arguments are read up to the maximum number, as in glibc.
long weft_syscall(long number, ...) WEFT_REPLACES("syscall");
long weft_syscall(long number, ...)
{
  static const auto THEIRS = weft::next_definition<long (*)(long, ...)>("syscall");
  va_list rest;
  va_start(rest, number);
  const long first  = va_arg(rest, long);
  const long second = va_arg(rest, long);
  const long third  = va_arg(rest, long);
  const long fourth = va_arg(rest, long);
  const long fifth  = va_arg(rest, long);
  const long sixth  = va_arg(rest, long);
  va_end(rest);
  clockid_t clock = CLOCK_MONOTONIC;
  if (number != SYS_futex || fourth == 0 || not weft::has_deadline(second, clock))
    return THEIRS(number, first, second, third, fourth, fifth, sixth);
  const auto* const deadline = reinterpret_cast<const std::timespec*>(fourth); // NOLINT(performance-no-int-to-ptr)
  return weft::wait_with_errno(__builtin_return_address(0), clock, deadline, ETIMEDOUT, [=](const std::timespec* time) {
    return static_cast<int>(THEIRS(number, first, second, third, time, fifth, sixth));
  });
}

} // extern "C"
