// SPDX-License-Identifier: LGPL-2.1-only
/* Processors of the simulated host, which are its cores, and a rank's affinity to them.
 *
 * Affinity is recorded but not set in the kernel, where it would bind the simulation to processors of this machine.
 * Libraries that create threads (OpenMP, BLAS) size and bind their teams by this machine's processors, which execute
 * them. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/machine/host_of_caller.hpp"
#include "binding/process/own_state.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Host.hpp>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t BITS_PER_BYTE = 8;
constexpr long LEAST_SIGNAL_STACK   = 65536; ///< bytes; room for the registers of AVX-512 and AMX

/** Processors by number. */
using Processors = std::vector<bool>;

/** Processors to which a rank or thread has bound itself; empty: all. */
struct Affinity {
  Processors bound;
};

int cores_of(const simgrid::s4u::Host& host)
{
  return std::max(1, host.get_core_count());
}

/** Returns the number of processors visible to @p caller; nothing if they are this machine's. */
std::optional<int> processors_for(const void* caller)
{
  const auto* const host = host_of_caller(caller);
  return host ? std::optional(cores_of(*host)) : std::nullopt;
}

/** Affinity of the current rank; on other threads, of the thread. */
Affinity& own_affinity()
{
  static thread_local Affinity of_thread;
  auto* const own = is_other_thread() ? nullptr : OwnState<Affinity>::get().here();
  return own ? *own : of_thread;
}

Processors affinity_here(int cores)
{
  const Affinity& own = own_affinity();
  return own.bound.empty() ? Processors(static_cast<std::size_t>(cores), true) : own.bound;
}

/** Writes processors into a set of @p size bytes; returns an error number. */
int write_set(const Processors& processors, std::size_t size, cpu_set_t* set)
{
  if (size * BITS_PER_BYTE < processors.size() || size % sizeof(unsigned long) != 0)
    return EINVAL;
  std::memset(set, 0, size);
  for (std::size_t one = 0; one < processors.size(); ++one)
    if (processors[one])
      CPU_SET_S(one, size, set); // NOLINT(hicpp-signed-bitwise): the system's
  return 0;
}

/** Binds the current rank or thread to those processors of a set that the host has; returns an error number. */
int bind_here(int cores, std::size_t size, const cpu_set_t* set)
{
  Processors bound(static_cast<std::size_t>(cores));
  for (std::size_t one = 0; one < bound.size() && one < size * BITS_PER_BYTE; ++one)
    bound[one] = CPU_ISSET_S(one, size, set) != 0; // NOLINT(hicpp-signed-bitwise): the system's
  if (std::ranges::find(bound, true) == bound.end())
    return EINVAL;
  own_affinity().bound = std::move(bound);
  return 0;
}

/** Sets errno and returns a function's error result, like glibc. */
int with_errno(int error)
{
  if (error == 0)
    return 0;
  errno = error;
  return -1;
}

bool is_own_process(pid_t pid)
{
  const auto rank = pid > 0 && not is_other_thread() ? rank_here() : std::nullopt;
  return pid == 0 || pid == syscall(SYS_gettid) || (rank && pid == pid_of_rank(simgrid::s4u::this_actor::get_pid()));
}

int machines_processor()
{
  static const auto THEIRS = next_definition<int (*)()>("sched_getcpu");
  return THEIRS();
}

/** Returns the processor on which the current rank or thread appears to run: one in its affinity. */
int processor_here(int cores)
{
  const Processors processors = affinity_here(cores);
  const auto all              = std::ranges::count(processors, true);
  const bool is_rank          = running_context && not is_other_thread();
  auto left                   = (is_rank ? rank_here().value_or(0) : std::max(0, machines_processor())) % all;
  for (std::size_t one = 0; one < processors.size(); ++one)
    if (processors[one] && left-- == 0)
      return static_cast<int>(one);
  return 0;
}

/** Calls OpenMP's own function. */
int openmp_processors(const void* caller)
{
  if (const auto processors = processors_for(caller))
    return *processors;
  static const auto THEIRS = reinterpret_cast<int (*)()>(openmp_symbol("omp_get_num_procs"));
  return THEIRS ? THEIRS() : next_definition<int (*)()>("get_nprocs")();
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

long weft_sysconf(int name) WEFT_REPLACES("sysconf");
int weft_get_nprocs() WEFT_REPLACES("get_nprocs");
int weft_get_nprocs_conf() WEFT_REPLACES("get_nprocs_conf");
int weft_omp_get_num_procs() WEFT_REPLACES("omp_get_num_procs");
int weft_omp_get_num_procs_f() WEFT_REPLACES("omp_get_num_procs_");
int weft_sched_getaffinity(pid_t pid, std::size_t size, cpu_set_t* set) WEFT_REPLACES("sched_getaffinity");
int weft_sched_setaffinity(pid_t pid, std::size_t size, const cpu_set_t* set) WEFT_REPLACES("sched_setaffinity");
int weft_pthread_getaffinity_np(pthread_t thread, std::size_t size, cpu_set_t* set)
    WEFT_REPLACES("pthread_getaffinity_np");
int weft_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set)
    WEFT_REPLACES("pthread_setaffinity_np");
int weft_pthread_attr_setaffinity_np(pthread_attr_t* attributes, std::size_t size, const cpu_set_t* set)
    WEFT_REPLACES("pthread_attr_setaffinity_np");
int weft_sched_getcpu() WEFT_REPLACES("sched_getcpu");
int weft_getcpu(unsigned* processor, unsigned* node) WEFT_REPLACES("getcpu");

long weft_sysconf(int name)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_sysconf)>("sysconf");
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
    if (const auto processors = weft::processors_for(__builtin_return_address(0)))
      return *processors;
  const long result = THEIRS(name);
  // SimGrid asks for it where its headers are of glibc 2.34 or newer, and older systems do not know it.
  return result < 0 && name == _SC_SIGSTKSZ ? weft::LEAST_SIGNAL_STACK : result;
}

int weft_get_nprocs()
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_get_nprocs)>("get_nprocs");
  const auto processors    = weft::processors_for(__builtin_return_address(0));
  return processors ? *processors : THEIRS();
}

int weft_get_nprocs_conf()
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_get_nprocs_conf)>("get_nprocs_conf");
  const auto processors    = weft::processors_for(__builtin_return_address(0));
  return processors ? *processors : THEIRS();
}

int weft_omp_get_num_procs()
{
  return weft::openmp_processors(__builtin_return_address(0));
}

int weft_omp_get_num_procs_f()
{
  return weft::openmp_processors(__builtin_return_address(0));
}

int weft_sched_getaffinity(pid_t pid, std::size_t size, cpu_set_t* set)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_sched_getaffinity)>("sched_getaffinity");
  const auto processors = weft::is_own_process(pid) ? weft::processors_for(__builtin_return_address(0)) : std::nullopt;
  return processors ? weft::with_errno(weft::write_set(weft::affinity_here(*processors), size, set))
                    : THEIRS(pid, size, set);
}

int weft_sched_setaffinity(pid_t pid, std::size_t size, const cpu_set_t* set)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_sched_setaffinity)>("sched_setaffinity");
  const auto processors = weft::is_own_process(pid) ? weft::processors_for(__builtin_return_address(0)) : std::nullopt;
  return processors ? weft::with_errno(weft::bind_here(*processors, size, set)) : THEIRS(pid, size, set);
}

int weft_pthread_getaffinity_np(pthread_t thread, std::size_t size, cpu_set_t* set)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_getaffinity_np)>("pthread_getaffinity_np");
  const auto processors    = weft::processors_for(__builtin_return_address(0));
  if (not processors)
    return THEIRS(thread, size, set);
  const bool is_own = pthread_equal(thread, pthread_self()) != 0;
  return weft::write_set(is_own ? weft::affinity_here(*processors)
                                : weft::Processors(static_cast<std::size_t>(*processors), true),
                         size, set);
}

int weft_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_setaffinity_np)>("pthread_setaffinity_np");
  const auto processors    = weft::processors_for(__builtin_return_address(0));
  if (not processors)
    return THEIRS(thread, size, set);
  return pthread_equal(thread, pthread_self()) != 0 ? weft::bind_here(*processors, size, set) : 0;
}

int weft_pthread_attr_setaffinity_np(pthread_attr_t* attributes, std::size_t size, const cpu_set_t* set)
{
  static const auto THEIRS =
      weft::next_definition<decltype(&weft_pthread_attr_setaffinity_np)>("pthread_attr_setaffinity_np");
  return weft::processors_for(__builtin_return_address(0)) ? 0 : THEIRS(attributes, size, set);
}

int weft_sched_getcpu()
{
  const auto processors = weft::processors_for(__builtin_return_address(0));
  return processors ? weft::processor_here(*processors) : weft::machines_processor();
}

int weft_getcpu(unsigned* processor, unsigned* node)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_getcpu)>("getcpu");
  const auto processors    = weft::processors_for(__builtin_return_address(0));
  if (not processors)
    return THEIRS(processor, node);
  if (processor)
    *processor = static_cast<unsigned>(weft::processor_here(*processors));
  if (node)
    *node = 0;
  return 0;
}

} // extern "C"

/** std::thread::hardware_concurrency(), which the simulator also calls. */
unsigned weft_hardware_concurrency() WEFT_REPLACES("_ZNSt6thread20hardware_concurrencyEv");
unsigned weft_hardware_concurrency() // NOLINT(misc-use-internal-linkage): a replaced symbol
{
  const auto processors = weft::processors_for(__builtin_return_address(0));
  return static_cast<unsigned>(processors ? *processors : weft::next_definition<int (*)()>("get_nprocs")());
}
