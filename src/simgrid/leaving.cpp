// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/leaving.hpp"

#include "simgrid/fortran.hpp"
#include "simgrid/process.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace weft {
namespace {

std::string& crash_file()
{
  static std::string path;
  return path;
}

/** Leave the rank's number to whoever tells of the crash, and die of it. Only what a signal handler may call. */
void on_crash(int signum, siginfo_t* /*info*/, void* /*context*/)
{
  std::signal(signum, SIG_DFL);
  const std::optional<int> rank = is_forked_child() ? std::nullopt : rank_here();
  const int file = rank ? open(crash_file().c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    std::array<char, 12> digits{};
    std::size_t first = digits.size();
    for (int rest = *rank; rest > 0 || first == digits.size(); rest /= 10)
      digits[--first] = static_cast<char>('0' + rest % 10);
    if (write(file, &digits[first], digits.size() - first) < 0)
      unlink(crash_file().c_str());
    close(file);
  }
  raise(signum);
}

} // namespace

void watch_crashes(const std::string& path)
{
  crash_file()            = path;
  struct sigaction action = {};
  action.sa_sigaction     = on_crash;
  action.sa_flags         = SA_SIGINFO | SA_ONSTACK; // SimGrid has made that stack: a rank's own may be what is full
  for (const int signum : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signum, &action, nullptr);
}

void leave_process(int status)
{
  flush_output();
  ::_exit(status);
}

} // namespace weft
