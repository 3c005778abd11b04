// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/clocks/simulated_time.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/observe/clock_reads.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <simgrid/s4u/Engine.hpp>

namespace weft {
namespace {

constexpr double NANOSECONDS_PER_SECOND  = 1e9;
constexpr double MICROSECONDS_PER_SECOND = 1e6;

} // namespace

bool is_programs_call(const void* caller)
{
  return has_simulation() && not is_in_simulator(caller) && not is_forked_child() && not is_in_thread_library(caller);
}

double time_now()
{
  return simgrid::s4u::Engine::get_clock();
}

std::optional<double> simulated_time(const void* caller)
{
  if (not is_programs_call(caller))
    return std::nullopt;
  // Other threads do not ask SimGrid for their rank, since it might make them wait for their turn.
  if (not running_context || is_other_thread() || not is_simulating())
    return time_now();
  if (is_sampling())
    return std::nullopt;
  if (clocks_are_simulated()) {
    static const auto THEIRS = original<double (*)()>("PMPI_Wtime");
    return watched_Wtime(THEIRS);
  }
  const ClockRead read;
  return time_now();
}

bool is_ranks_thread()
{
  return running_context && not is_other_thread() && not is_forked_child() && rank_here();
}

void sleep_rank(double seconds)
{
  static const auto THEIRS = original<int (*)(const std::timespec*, std::timespec*)>("smpi_nanosleep");
  const std::timespec time = timespec_of(seconds);
  THEIRS(&time, nullptr);
}

namespace {

void note_real_sleep()
{
  static std::atomic<bool> told{false};
  if (not told.exchange(true))
    std::fputs("weft: note: a thread beside those of ranks sleeps, in real time, not in simulated time; threads of a "
               "rank that asks for MPI_THREAD_MULTIPLE sleep in simulated time\n",
               stderr);
}

} // namespace

bool sleep_simulated(const void* caller, double seconds)
{
  if (not is_programs_call(caller))
    return false;
  if (not is_ranks_thread()) {
    if (seconds > 0)
      note_real_sleep();
    return false;
  }
  sleep_rank(seconds);
  return true;
}

/* Rounded to nanoseconds, so that the time after a sleep is not a nanosecond before start plus duration. All units
 * derive from nanoseconds, so that clocks agree. */
std::timespec timespec_of(double seconds)
{
  constexpr double MOST  = 4e18; // fits into 64 bits
  constexpr long SECOND  = 1'000'000'000;
  const double limited   = std::min(seconds, MOST);
  const double whole     = std::floor(limited);
  const long nanoseconds = std::lround((limited - whole) * NANOSECONDS_PER_SECOND);
  const auto second      = static_cast<std::time_t>(whole);
  return nanoseconds < SECOND ? std::timespec{second, nanoseconds} : std::timespec{second + 1, 0};
}

timeval timeval_of(double seconds)
{
  constexpr long NANOSECONDS_PER_MICROSECOND = 1000;
  const std::timespec time                   = timespec_of(seconds);
  return {time.tv_sec, time.tv_nsec / NANOSECONDS_PER_MICROSECOND};
}

double seconds_of(const std::timespec& time)
{
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / NANOSECONDS_PER_SECOND;
}

double seconds_of(const timeval& time)
{
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / MICROSECONDS_PER_SECOND;
}

bool is_invalid(const std::timespec* time)
{
  if (time && time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < static_cast<long>(NANOSECONDS_PER_SECOND))
    return false;
  errno = time ? EINVAL : EFAULT;
  return true;
}

} // namespace weft
