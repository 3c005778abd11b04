// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/process_exit.hpp"

#include "binding/process/fortran.hpp"
#include "binding/process/process.hpp"
#include "binding/process/stacks.hpp"

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

/** Writes the digits of a number; async-signal-safe. */
void write_number(int file, std::size_t number)
{
  std::array<char, 20> digits{};
  std::size_t first = digits.size();
  for (std::size_t rest = number; rest > 0 || first == digits.size(); rest /= 10)
    digits[--first] = static_cast<char>('0' + rest % 10);
  if (write(file, &digits[first], digits.size() - first) < 0)
    unlink(crash_file().c_str());
}

/** Writes the number of the rank that crashed, and the size of its stack in bytes if that overflowed. */
void tell_of_crash(int rank, std::optional<std::size_t> stack)
{
  const int file = open(crash_file().c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  write_number(file, static_cast<std::size_t>(rank));
  if (stack && write(file, " ", 1) == 1)
    write_number(file, *stack);
  close(file);
}

/** Records the crash for the parent process and re-raises the signal. Calls only async-signal-safe
 * functions. */
void on_crash(int signum, siginfo_t* info, void* /*context*/)
{
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  set_process_action(signum, none);
  const std::optional<int> rank = is_forked_child() ? std::nullopt : rank_here();
  const bool by_access          = signum == SIGSEGV || signum == SIGBUS;
  const auto stack              = by_access ? overflown_stack(info->si_addr) : std::nullopt;
  const auto culprit            = rank && not stack ? rank_out_of_stack() : std::nullopt;
  if (culprit)
    tell_of_crash(*culprit, stacks_made()->bytes);
  else if (rank)
    tell_of_crash(*rank, stack);
  raise_in_process(signum);
}

} // namespace

void watch_crashes(const std::string& path)
{
  crash_file()            = path;
  struct sigaction action = {};
  action.sa_sigaction     = on_crash;
  action.sa_flags         = SA_SIGINFO | SA_ONSTACK; // SimGrid's alternative stack: the rank's own may be full
  for (const int signum : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    set_process_action(signum, action);
}

void note_crash()
{
  if (const std::optional<int> rank = rank_here(); rank && not crash_file().empty())
    tell_of_crash(*rank, std::nullopt);
}

void leave_process(int status)
{
  flush_output();
  ::_exit(status);
}

} // namespace weft
