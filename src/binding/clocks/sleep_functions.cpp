// SPDX-License-Identifier: LGPL-2.1-only
/* Functions that sleep. For a rank, time is simulated; the program's other threads sleep in real time. `select` and
 * `poll` sleep if they watch no file. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/clocks/simulated_time.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <span>
#include <sys/select.h>
#include <unistd.h>

namespace weft {
namespace {

using Nanosleep = int (*)(const std::timespec*, std::timespec*);

constexpr double MILLISECONDS_A_SECOND = 1e3;
constexpr double MICROSECONDS_A_SECOND = 1e6;

/** Returns whether select() watches no file. */
bool watches_none(int count, const fd_set* read, const fd_set* write, const fd_set* other)
{
  const std::array<const fd_set*, 3> sets{read, write, other};
  return std::ranges::all_of(sets, [count](const fd_set* set) {
    for (int file = 0; set && file < count; ++file)
      if (FD_ISSET(file, set)) // NOLINT(hicpp-signed-bitwise): the system's
        return false;
    return true;
  });
}

/** Returns whether poll() watches no file, so that it returns none. */
bool watches_none(pollfd* files, nfds_t count)
{
  const std::span<pollfd> all(files, files ? count : 0);
  if (not std::ranges::all_of(all, [](const pollfd& one) { return one.fd < 0; }))
    return false;
  for (pollfd& one : all)
    one.revents = 0;
  return true;
}

unsigned sleep_seconds(unsigned seconds, const void* caller)
{
  static const auto THEIRS = next_definition<unsigned (*)(unsigned)>("sleep");
  return sleep_simulated(caller, seconds) ? 0 : THEIRS(seconds);
}

int sleep_microseconds(useconds_t microseconds, const void* caller)
{
  static const auto THEIRS = next_definition<int (*)(useconds_t)>("usleep");
  return sleep_simulated(caller, microseconds / MICROSECONDS_A_SECOND) ? 0 : THEIRS(microseconds);
}

int sleep_nanoseconds(const std::timespec* time, std::timespec* rest, const void* caller)
{
  static const auto THEIRS = next_definition<Nanosleep>("nanosleep");
  if (is_invalid(time))
    return -1;
  return sleep_simulated(caller, seconds_of(*time)) ? 0 : THEIRS(time, rest);
}

/** Sleeps on a clock; returns an error number. */
int sleep_on(clockid_t clock, int flags, const std::timespec* time, std::timespec* rest, const void* caller)
{
  using Sleep              = int (*)(clockid_t, int, const std::timespec*, std::timespec*);
  static const auto THEIRS = next_definition<Sleep>("clock_nanosleep");
  if (is_invalid(time))
    return errno;
  const bool is_deadline = flags == TIMER_ABSTIME;
  if (sleep_simulated(caller, std::max(0.0, seconds_of(*time) - (is_deadline ? time_now() : 0))))
    return 0;
  if (not is_deadline || not is_programs_call(caller))
    return THEIRS(clock, flags, time, rest);
  const std::timespec left = timespec_of(std::max(0.0, seconds_of(*time) - time_now()));
  return THEIRS(CLOCK_MONOTONIC, 0, &left, nullptr);
}

int poll_for(pollfd* files, nfds_t count, int milliseconds, const void* caller)
{
  static const auto THEIRS = next_definition<int (*)(pollfd*, nfds_t, int)>("poll");
  if (milliseconds > 0 && watches_none(files, count) && sleep_simulated(caller, milliseconds / MILLISECONDS_A_SECOND))
    return 0;
  return THEIRS(files, count, milliseconds);
}

int poll_for(pollfd* files, nfds_t count, const std::timespec* time, const sigset_t* mask, const void* caller)
{
  static const auto THEIRS = next_definition<int (*)(pollfd*, nfds_t, const std::timespec*, const sigset_t*)>("ppoll");
  if (time && not is_invalid(time) && watches_none(files, count) && sleep_simulated(caller, seconds_of(*time)))
    return 0;
  return THEIRS(files, count, time, mask);
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

unsigned weft_sleep(unsigned seconds) WEFT_REPLACES("sleep");
unsigned weft_smpi_sleep(unsigned seconds) WEFT_REPLACES("smpi_sleep");
int weft_usleep(useconds_t microseconds) WEFT_REPLACES("usleep");
int weft_smpi_usleep(useconds_t microseconds) WEFT_REPLACES("smpi_usleep");
int weft_nanosleep(const std::timespec* time, std::timespec* rest) WEFT_REPLACES("nanosleep");
int weft_smpi_nanosleep(const std::timespec* time, std::timespec* rest) WEFT_REPLACES("smpi_nanosleep");
int weft_clock_nanosleep(clockid_t clock, int flags, const std::timespec* time, std::timespec* rest)
    WEFT_REPLACES("clock_nanosleep");
int weft_thrd_sleep(const std::timespec* time, std::timespec* rest) WEFT_REPLACES("thrd_sleep");
int weft_select(int count, fd_set* read, fd_set* write, fd_set* other, timeval* time) WEFT_REPLACES("select");
int weft_pselect(int count, fd_set* read, fd_set* write, fd_set* other, const std::timespec* time, const sigset_t* mask)
    WEFT_REPLACES("pselect");
int weft_poll(pollfd* files, nfds_t count, int milliseconds) WEFT_REPLACES("poll");
int weft_poll_chk(pollfd* files, nfds_t count, int milliseconds, std::size_t size) WEFT_REPLACES("__poll_chk");
int weft_ppoll(pollfd* files, nfds_t count, const std::timespec* time, const sigset_t* mask) WEFT_REPLACES("ppoll");
int weft_ppoll_chk(pollfd* files, nfds_t count, const std::timespec* time, const sigset_t* mask, std::size_t size)
    WEFT_REPLACES("__ppoll_chk");

unsigned weft_sleep(unsigned seconds)
{
  return weft::sleep_seconds(seconds, __builtin_return_address(0));
}

unsigned weft_smpi_sleep(unsigned seconds)
{
  return weft::sleep_seconds(seconds, __builtin_return_address(0));
}

int weft_usleep(useconds_t microseconds)
{
  return weft::sleep_microseconds(microseconds, __builtin_return_address(0));
}

int weft_smpi_usleep(useconds_t microseconds)
{
  return weft::sleep_microseconds(microseconds, __builtin_return_address(0));
}

int weft_nanosleep(const std::timespec* time, std::timespec* rest)
{
  return weft::sleep_nanoseconds(time, rest, __builtin_return_address(0));
}

int weft_smpi_nanosleep(const std::timespec* time, std::timespec* rest)
{
  return weft::sleep_nanoseconds(time, rest, __builtin_return_address(0));
}

int weft_clock_nanosleep(clockid_t clock, int flags, const std::timespec* time, std::timespec* rest)
{
  return weft::sleep_on(clock, flags, time, rest, __builtin_return_address(0));
}

int weft_thrd_sleep(const std::timespec* time, std::timespec* rest)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_thrd_sleep)>("thrd_sleep");
  if (not weft::is_invalid(time) && weft::sleep_simulated(__builtin_return_address(0), weft::seconds_of(*time)))
    return 0;
  return THEIRS(time, rest);
}

int weft_select(int count, fd_set* read, fd_set* write, fd_set* other, timeval* time)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_select)>("select");
  if (not time || time->tv_sec < 0 || time->tv_usec < 0 || not weft::watches_none(count, read, write, other) ||
      not weft::sleep_simulated(__builtin_return_address(0), weft::seconds_of(*time)))
    return THEIRS(count, read, write, other, time);
  *time = {}; // as Linux does
  return 0;
}

int weft_pselect(int count, fd_set* read, fd_set* write, fd_set* other, const std::timespec* time, const sigset_t* mask)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pselect)>("pselect");
  if (time && not weft::is_invalid(time) && weft::watches_none(count, read, write, other) &&
      weft::sleep_simulated(__builtin_return_address(0), weft::seconds_of(*time)))
    return 0;
  return THEIRS(count, read, write, other, time, mask);
}

int weft_poll(pollfd* files, nfds_t count, int milliseconds)
{
  return weft::poll_for(files, count, milliseconds, __builtin_return_address(0));
}

int weft_poll_chk(pollfd* files, nfds_t count, int milliseconds, std::size_t /*size*/)
{
  return weft::poll_for(files, count, milliseconds, __builtin_return_address(0));
}

int weft_ppoll(pollfd* files, nfds_t count, const std::timespec* time, const sigset_t* mask)
{
  return weft::poll_for(files, count, time, mask, __builtin_return_address(0));
}

int weft_ppoll_chk(pollfd* files, nfds_t count, const std::timespec* time, const sigset_t* mask, std::size_t /*size*/)
{
  return weft::poll_for(files, count, time, mask, __builtin_return_address(0));
}

} // extern "C"
