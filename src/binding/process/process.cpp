// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/process.hpp"

#include "binding/abi/interposed_symbol.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <pthread.h>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

struct ProcessState {
  bool watched = false;
  bool running = false;
  bool child   = false;
};

ProcessState& process_state()
{
  static ProcessState the_state;
  return the_state;
}

/** Memory kept in reserve for reporting an uncaught out-of-memory exception. */
void*& reserve()
{
  constexpr std::size_t ENOUGH = 1U << 20U;
  static void* memory          = std::malloc(ENOUGH); // NOLINT(cppcoreguidelines-no-malloc): without a constructor
  return memory;
}

std::terminate_handler& simgrids_handler()
{
  static std::terminate_handler handler = nullptr;
  return handler;
}

void on_terminate()
{
  std::free(std::exchange(reserve(), nullptr)); // NOLINT(cppcoreguidelines-no-malloc)
  simgrids_handler()();
}

/** Replaces the inherited block of SIGINT, by which Ctrl-C would not reach the simulation, by a handler that does
 * nothing: a rank's raise(SIGINT) must not wait forever. */
void unblock_interrupts()
{
  sigset_t blocked;
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  if (pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 || sigismember(&blocked, SIGINT) == 0)
    return;
  struct sigaction nothing{};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags   = SA_RESTART;
  system_sigaction(SIGINT, &nothing, nullptr);
  // A Ctrl-C that is pending is handled here.
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

} // namespace

void watch_process()
{
  unblock_interrupts();
  reserve();
  simgrids_handler()      = std::set_terminate(on_terminate);
  process_state().watched = process_state().running = true;
  sg::Engine::on_simulation_end_cb([] { process_state().running = false; });
  // Flushes before fork(): otherwise parent and child would both write the buffers, which all ranks share.
  pthread_atfork([] { std::fflush(nullptr); }, nullptr,
                 [] {
                   process_state().child = true;
                   prctl(PR_SET_PDEATHSIG, SIGKILL);
                 });
}

bool is_simulating()
{
  return process_state().running;
}

bool has_simulation()
{
  return process_state().watched;
}

std::optional<int> rank_here()
{
  const sg::Actor* actor = process_state().running ? sg::Actor::self() : nullptr;
  const char* rank       = actor ? actor->get_property("rank") : nullptr;
  return rank ? std::optional(static_cast<int>(std::strtol(rank, nullptr, 10))) : std::nullopt;
}

bool is_forked_child()
{
  return process_state().child;
}

int system_sigaction(int signum, const struct sigaction* action, struct sigaction* before)
{
  using Sigaction          = int (*)(int, const struct sigaction*, struct sigaction*);
  static const auto THEIRS = next_definition<Sigaction>("sigaction");
  return THEIRS(signum, action, before);
}

void raise_in_process(int signum)
{
  syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signum);
}

std::string memory_limits()
{
  constexpr rlim_t MIB = 1U << 20U;
  std::string text;
  for (const auto& [kind, name] : {std::pair(RLIMIT_AS, "ulimit -v"), std::pair(RLIMIT_DATA, "ulimit -d")})
    if (rlimit limit{}; getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      text += (text.empty() ? "" : " and ") + std::string(name) + " allows " + std::to_string(limit.rlim_cur / MIB) +
              " MiB";
  return text;
}

std::size_t peak_memory_bytes()
{
  static constexpr std::string_view NAME = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(NAME))
      return std::stoull(line.substr(NAME.size())) * 1024;
  }
  return 0;
}

std::size_t mappings_now()
{
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> text{};
  std::ptrdiff_t lines = 0;
  for (ssize_t size = 0; (size = read(maps, text.data(), text.size())) > 0;)
    lines += std::count(text.begin(), text.begin() + size, '\n');
  close(maps);
  return static_cast<std::size_t>(lines);
}

std::size_t most_mappings()
{
  constexpr std::size_t LINUX_DEFAULT = 65530;
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t number = 0;
  return file >> number ? number : LINUX_DEFAULT;
}

} // namespace weft
