// SPDX-License-Identifier: LGPL-2.1-only
/* Replacement for the simulator's libraries when a program runs outside the simulator: a part of the libraries that it
 * finds under the names of SimGrid's and weft's; setup/outside_libraries.py generates their other symbols.
 *
 * A program that is started directly and needs MPI becomes the only rank of a simulation (MPI 4.1, 11.10.2). Other
 * processes that load these libraries, such as an interpreter that imports a module with MPI, cannot become a rank: a
 * call of MPI ends them with an error. Functions by which SMPI replaces the system's are the system's here. */
#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <getopt.h>
#include <sys/time.h>
#include <unistd.h>

#define WEFT_PUBLIC __attribute__((visibility("default")))

namespace {

constexpr int REFUSED = 2; // exit status of weft commands

/** Returns the name by which the program was called if that is a path of the program, otherwise @p program. */
const char* called_name(const char* word, const char* program)
{
  std::array<char, PATH_MAX> named{};
  const bool same =
      word && std::strchr(word, '/') && realpath(word, named.data()) && std::strcmp(named.data(), program) == 0;
  return same ? word : program;
}

/** Writes the path of weft's mpiexec, ../bin/mpiexec relative to this library, into @p path. Returns whether it
 * exists. */
bool find_mpiexec(std::array<char, PATH_MAX>& path)
{
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&find_mpiexec), &here) == 0 || not here.dli_fname)
    return false;
  const char* const end = std::strrchr(here.dli_fname, '/');
  const int length      = end ? static_cast<int>(end - here.dli_fname) : 0;
  std::snprintf(path.data(), path.size(), "%.*s/../bin/mpiexec", length, here.dli_fname);
  return access(path.data(), X_OK) == 0;
}

} // namespace

extern "C" {

[[noreturn]] void weft_refuse_call(const char* function) __attribute__((visibility("hidden")));
WEFT_PUBLIC void weft_start_singleton(int count, char** words, char** environment);

void weft_refuse_call(const char* function)
{
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0)
    program[0] = '\0';
  std::fflush(stdout);
  std::fprintf(stderr,
               "weft: %s: found a call of %s outside a simulation; MPI's functions are only there in programs that"
               " `weft cc`, `weft cxx` or `weft f90` has linked: start one with `weft run --fabric NAME -n RANKS --"
               " ./program`, or with weft's mpiexec\n",
               program.data(), function);
  std::_Exit(REFUSED);
}

void weft_start_singleton(int count, char** words, char** environment)
{
  std::array<char, PATH_MAX> program{};
  std::array<char, PATH_MAX> mpiexec{};
  const bool known = readlink("/proc/self/exe", program.data(), program.size() - 1) > 0;
  if (known && find_mpiexec(mpiexec)) {
    const std::array first{static_cast<const char*>(mpiexec.data()), "--quiet", "--",
                           called_name(count > 0 ? words[0] : nullptr, program.data())};
    if (void* const room = std::calloc(static_cast<std::size_t>(count) + first.size() + 1, sizeof(char*))) {
      auto* const all = static_cast<const char**>(room);
      std::ranges::copy(first, all);
      if (count > 1)
        std::copy(words + 1, words + count, all + first.size());
      execve(mpiexec.data(), const_cast<char* const*>(all), environment); // NOLINT(*-const-cast): as execve() says
    }
  }
  std::fprintf(stderr,
               "weft: %s calls MPI, and the weft that has linked it is not there to simulate it (no %s); install weft"
               " there, or link the program again and start it with `weft run --fabric NAME -n RANKS -- PROGRAM`\n",
               count > 0 ? words[0] : "the program", mpiexec.data());
  std::_Exit(REFUSED);
}

// ---- Functions of MPI that may be called before MPI_Init ------------------------------------------------------------

#define WEFT_MPI(name, parameters, ...)                                                                                \
  WEFT_PUBLIC int MPI_##name parameters;                                                                               \
  int MPI_##name parameters __VA_ARGS__ WEFT_PUBLIC int PMPI_##name parameters;                                        \
  int PMPI_##name parameters __VA_ARGS__

WEFT_MPI(Initialized, (int* flag), {
  *flag = 0;
  return 0;
})
WEFT_MPI(Finalized, (int* flag), {
  *flag = 0;
  return 0;
})

// ---- The system's functions under SMPI's names ----------------------------------------------------------------------

#define WEFT_SYSTEMS(Result, name, parameters, ...)                                                                    \
  WEFT_PUBLIC Result smpi_##name parameters;                                                                           \
  Result smpi_##name parameters                                                                                        \
  {                                                                                                                    \
    return __VA_ARGS__;                                                                                                \
  }

WEFT_SYSTEMS(unsigned int, sleep, (unsigned int seconds), sleep(seconds))
WEFT_SYSTEMS(int, usleep, (useconds_t duration), usleep(duration))
WEFT_SYSTEMS(int, nanosleep, (const timespec* duration, timespec* rest), nanosleep(duration, rest))
WEFT_SYSTEMS(int, gettimeofday, (timeval * now, void* zone), gettimeofday(now, zone))
WEFT_SYSTEMS(int, clock_gettime, (clockid_t clock, timespec* now), clock_gettime(clock, now))
WEFT_SYSTEMS(int, getopt, (int count, char* const* words, const char* options), getopt(count, words, options))
WEFT_SYSTEMS(int, getopt_long, (int count, char* const* words, const char* options, const option* names, int* index),
             getopt_long(count, words, options, names, index))
WEFT_SYSTEMS(int, getopt_long_only,
             (int count, char* const* words, const char* options, const option* names, int* index),
             getopt_long_only(count, words, options, names, index))
WEFT_SYSTEMS(pid_t, getpid, (), getpid())
WEFT_SYSTEMS(void, exit, (int status), std::exit(status))
WEFT_SYSTEMS(void*, shared_malloc_intercept, (std::size_t size, const char* /*file*/, int /*line*/), std::malloc(size))
WEFT_SYSTEMS(void*, shared_calloc_intercept, (std::size_t count, std::size_t each, const char* /*file*/, int /*line*/),
             std::calloc(count, each))
WEFT_SYSTEMS(void*, shared_realloc_intercept, (void* data, std::size_t size, const char* /*file*/, int /*line*/),
             std::realloc(data, size))
WEFT_SYSTEMS(void, shared_free, (void* data), std::free(data))

} // extern "C"
