// SPDX-License-Identifier: LGPL-2.1-only
/* Kernel timers, which run in real time: the first one that a rank sets adds a note to the output. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/clocks/simulated_time.hpp"
#include "binding/process/process.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <sys/time.h>
#include <unistd.h>

namespace weft {
namespace {

void note_timer(const char* function, const void* caller)
{
  static std::atomic<bool> told{false};
  if (not is_programs_call(caller) || told.exchange(true))
    return;
  const auto rank = is_ranks_thread() ? rank_here() : std::nullopt;
  std::fprintf(stderr,
               "weft: note: %s sets a timer (%s), which runs in real time, not in simulated time: when it expires "
               "differs from run to run; read MPI_Wtime instead, or sleep\n",
               rank ? ("rank " + std::to_string(*rank)).c_str() : "the program", function);
}

/** Returns the C library's function, which was in librt before glibc 2.34. */
template <class Function> Function timer_function(const char* name)
{
  if (const auto found = next_definition<Function>(name))
    return found;
  void* const library = dlopen("librt.so.1", RTLD_LAZY | RTLD_NOLOAD); // NOLINT(hicpp-signed-bitwise): the system's
  return reinterpret_cast<Function>(library ? dlsym(library, name) : nullptr);
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

unsigned weft_alarm(unsigned seconds) WEFT_REPLACES("alarm");
useconds_t weft_ualarm(useconds_t after, useconds_t interval) WEFT_REPLACES("ualarm");
int weft_setitimer(int kind, const itimerval* value, itimerval* before) WEFT_REPLACES("setitimer");
int weft_timer_create(clockid_t clock, sigevent* event, timer_t* timer) WEFT_REPLACES("timer_create");
int weft_timerfd_create(int clock, int flags) WEFT_REPLACES("timerfd_create");

unsigned weft_alarm(unsigned seconds)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_alarm)>("alarm");
  if (seconds > 0)
    weft::note_timer("alarm", __builtin_return_address(0));
  return THEIRS(seconds);
}

useconds_t weft_ualarm(useconds_t after, useconds_t interval)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_ualarm)>("ualarm");
  if (after > 0)
    weft::note_timer("ualarm", __builtin_return_address(0));
  return THEIRS(after, interval);
}

int weft_setitimer(int kind, const itimerval* value, itimerval* before)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_setitimer)>("setitimer");
  if (value && (value->it_value.tv_sec > 0 || value->it_value.tv_usec > 0))
    weft::note_timer("setitimer", __builtin_return_address(0));
  return THEIRS(kind, value, before);
}

int weft_timer_create(clockid_t clock, sigevent* event, timer_t* timer)
{
  static const auto THEIRS = weft::timer_function<decltype(&weft_timer_create)>("timer_create");
  weft::note_timer("timer_create", __builtin_return_address(0));
  if (THEIRS)
    return THEIRS(clock, event, timer);
  errno = ENOSYS;
  return -1;
}

int weft_timerfd_create(int clock, int flags)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_timerfd_create)>("timerfd_create");
  weft::note_timer("timerfd_create", __builtin_return_address(0));
  return THEIRS(clock, flags);
}

} // extern "C"
