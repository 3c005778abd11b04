// SPDX-License-Identifier: LGPL-2.1-only
/* Interposed functions that return the time. libstdc++'s clocks are included, since the simulator reads them too: the
 * caller's address decides whether the time is simulated. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/clocks/simulated_time.hpp"
#include "binding/process/process.hpp"

#include <chrono>
#include <ctime>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <type_traits>
#include <unistd.h>

namespace weft {
namespace {

int machines_time(clockid_t clock, std::timespec* time)
{
  static const auto THEIRS = next_definition<int (*)(clockid_t, std::timespec*)>("clock_gettime");
  return THEIRS(clock, time);
}

int clock_time(clockid_t clock, std::timespec* time, const void* caller)
{
  if (not time)
    return machines_time(clock, time);
  const auto now = simulated_time(caller);
  if (not now)
    return machines_time(clock, time);
  *time = timespec_of(*now);
  return 0;
}

int day_time(timeval* time, void* zone, const void* caller)
{
  static const auto THEIRS = next_definition<int (*)(timeval*, void*)>("gettimeofday");
  const auto now           = simulated_time(caller);
  if (not now || zone) {
    if (const int failed = THEIRS(now ? nullptr : time, zone); failed != 0 || not now)
      return failed;
  }
  if (time)
    *time = timeval_of(*now);
  return 0;
}

/** Returns the time of a clock of libstdc++. */
template <class Clock> typename Clock::time_point clocks_time_point(clockid_t clock, const void* caller)
{
  std::timespec time{};
  clock_time(clock, &time, caller);
  return typename Clock::time_point(std::chrono::duration_cast<typename Clock::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

/** Returns the time of OpenMP's clock. */
double openmp_time(const void* caller)
{
  if (const auto now = simulated_time(caller))
    return *now;
  static const auto THEIRS = reinterpret_cast<double (*)()>(openmp_symbol("omp_get_wtime"));
  if (THEIRS)
    return THEIRS();
  std::timespec time{};
  machines_time(CLOCK_MONOTONIC, &time);
  return seconds_of(time);
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_clock_gettime(clockid_t clock, std::timespec* time) WEFT_REPLACES("clock_gettime");
int weft_gettimeofday(timeval* time, void* zone) WEFT_REPLACES("gettimeofday");
int weft_smpi_clock_gettime(clockid_t clock, std::timespec* time) WEFT_REPLACES("smpi_clock_gettime");
int weft_smpi_gettimeofday(timeval* time, void* zone) WEFT_REPLACES("smpi_gettimeofday");
std::time_t weft_time(std::time_t* time) WEFT_REPLACES("time");
int weft_timespec_get(std::timespec* time, int base) WEFT_REPLACES("timespec_get");
std::clock_t weft_clock() WEFT_REPLACES("clock");
std::clock_t weft_times(tms* used) WEFT_REPLACES("times");
int weft_getrusage(int who, rusage* used) WEFT_REPLACES("getrusage");
double weft_omp_get_wtime() WEFT_REPLACES("omp_get_wtime");
double weft_omp_get_wtime_f() WEFT_REPLACES("omp_get_wtime_");

int weft_clock_gettime(clockid_t clock, std::timespec* time)
{
  return weft::clock_time(clock, time, __builtin_return_address(0));
}

int weft_gettimeofday(timeval* time, void* zone)
{
  return weft::day_time(time, zone, __builtin_return_address(0));
}

int weft_smpi_clock_gettime(clockid_t clock, std::timespec* time)
{
  return weft::clock_time(clock, time, __builtin_return_address(0));
}

int weft_smpi_gettimeofday(timeval* time, void* zone)
{
  return weft::day_time(time, zone, __builtin_return_address(0));
}

std::time_t weft_time(std::time_t* time)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_time)>("time");
  const auto now           = weft::simulated_time(__builtin_return_address(0));
  if (not now)
    return THEIRS(time);
  const std::time_t seconds = weft::timespec_of(*now).tv_sec;
  if (time)
    *time = seconds;
  return seconds;
}

int weft_timespec_get(std::timespec* time, int base)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_timespec_get)>("timespec_get");
  const auto now           = base == TIME_UTC ? weft::simulated_time(__builtin_return_address(0)) : std::nullopt;
  if (not now)
    return THEIRS(time, base);
  *time = weft::timespec_of(*now);
  return base;
}

std::clock_t weft_clock()
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_clock)>("clock");
  const auto now           = weft::simulated_time(__builtin_return_address(0));
  if (not now)
    return THEIRS();
  const timeval time = weft::timeval_of(*now);
  return time.tv_sec * CLOCKS_PER_SEC + time.tv_usec; // a million per second in POSIX
}

std::clock_t weft_times(tms* used)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_times)>("times");
  const std::clock_t real  = THEIRS(used);
  const auto now           = weft::simulated_time(__builtin_return_address(0));
  if (not now)
    return real;
  const auto ticks = static_cast<std::clock_t>(*now * static_cast<double>(sysconf(_SC_CLK_TCK)));
  if (used) {
    used->tms_utime = ticks;
    used->tms_stime = 0;
  }
  return ticks;
}

int weft_getrusage(int who, rusage* used)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_getrusage)>("getrusage");
  const int failed         = THEIRS(who, used);
  const auto now =
      failed == 0 && who != RUSAGE_CHILDREN ? weft::simulated_time(__builtin_return_address(0)) : std::nullopt;
  if (now) {
    used->ru_utime = weft::timeval_of(*now);
    used->ru_stime = {};
  }
  return failed;
}

double weft_omp_get_wtime()
{
  return weft::openmp_time(__builtin_return_address(0));
}

double weft_omp_get_wtime_f()
{
  return weft::openmp_time(__builtin_return_address(0));
}

} // extern "C"

using SteadyClock = std::chrono::steady_clock;
using SystemClock = std::chrono::system_clock;

SteadyClock::time_point weft_steady_now() WEFT_REPLACES("_ZNSt6chrono3_V212steady_clock3nowEv");
SystemClock::time_point weft_system_now() WEFT_REPLACES("_ZNSt6chrono3_V212system_clock3nowEv");
/** Symbol before GCC 4.9. */
SystemClock::time_point weft_old_system_now() WEFT_REPLACES("_ZNSt6chrono12system_clock3nowEv");

// NOLINTBEGIN(misc-use-internal-linkage): replaced symbols
SteadyClock::time_point weft_steady_now()
{
  return weft::clocks_time_point<SteadyClock>(CLOCK_MONOTONIC, __builtin_return_address(0));
}

SystemClock::time_point weft_system_now()
{
  return weft::clocks_time_point<SystemClock>(CLOCK_REALTIME, __builtin_return_address(0));
}

SystemClock::time_point weft_old_system_now()
{
  return weft::clocks_time_point<SystemClock>(CLOCK_REALTIME, __builtin_return_address(0));
}
// NOLINTEND(misc-use-internal-linkage)
