// SPDX-License-Identifier: LGPL-2.1-only
/* The system functions that SMPI replaces in a program (include/weft_program.h), linked into each program and library
 * that `weft cc` builds. In the simulator they are SMPI's or weft's; elsewhere, as in a test of a configure script,
 * they are the system's. They are hidden and weak, like those in program_memory.cpp. */
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <getopt.h>
#include <sys/time.h>
#include <unistd.h>

#define WEFT_CALL(Result, name, parameters, ...)                                                                       \
  [[gnu::weak]] Result smpi_##name parameters;                                                                         \
  [[gnu::weak, gnu::visibility("hidden")]] Result weft_own_##name parameters                                           \
  {                                                                                                                    \
    return smpi_##name ? smpi_##name(__VA_ARGS__) : ::name(__VA_ARGS__);                                               \
  }

extern "C" {

WEFT_CALL(unsigned int, sleep, (unsigned int seconds), seconds)
WEFT_CALL(int, usleep, (useconds_t duration), duration)
WEFT_CALL(int, nanosleep, (const timespec* duration, timespec* rest), duration, rest)
WEFT_CALL(int, gettimeofday, (timeval * now, void* zone), now, zone)
WEFT_CALL(int, clock_gettime, (clockid_t clock, timespec* now), clock, now)
WEFT_CALL(int, getopt, (int count, char* const* words, const char* options), count, words, options)
WEFT_CALL(int, getopt_long, (int count, char* const* words, const char* options, const option* names, int* index),
          count, words, options, names, index)
WEFT_CALL(int, getopt_long_only, (int count, char* const* words, const char* options, const option* names, int* index),
          count, words, options, names, index)
WEFT_CALL(pid_t, getpid, ())

[[gnu::weak, noreturn]] void smpi_exit(int status);
[[gnu::weak, noreturn, gnu::visibility("hidden")]] void weft_own_exit(int status)
{
  if (smpi_exit)
    smpi_exit(status);
  ::exit(status);
}

} // extern "C"
