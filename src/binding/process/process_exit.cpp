// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/process_exit.hpp"

#include "binding/process/fortran.hpp"
#include "binding/process/process.hpp"
#include "binding/process/stacks.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <ucontext.h>
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

/** Value of vm.max_map_count at the start of the run. */
std::size_t& mappings_allowed()
{
  static std::size_t allowed = 0;
  return allowed;
}

/** Returns whether Linux allows the process no more mappings, so that neither memory nor a message about the want of it
 * can be allocated. Async-signal-safe. */
bool mappings_are_exhausted()
{
  constexpr std::size_t LEFT = 64; // an allocation may need several
  return mappings_now() + LEFT >= mappings_allowed();
}

/** Writes the number of the rank that crashed and, on a stack overflow, the size of its stack in bytes, or "mappings"
 * if there are no more of them. */
void tell_of_crash(int rank, std::optional<std::size_t> stack, bool aborted = false)
{
  const int file = open(crash_file().c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  write_number(file, static_cast<std::size_t>(rank));
  if (stack && write(file, " ", 1) == 1)
    write_number(file, *stack);
  constexpr std::string_view MAPPINGS = " mappings";
  if (aborted && mappings_are_exhausted() && write(file, MAPPINGS.data(), MAPPINGS.size()) < 0)
    unlink(crash_file().c_str());
  close(file);
}

// ---- Crashed ranks that end alone ----------------------------------------------------------------------------------

/** Handler of crashed ranks; empty if a crash ends the process. */
struct CrashedRanks {
  RankCrash end = nullptr;
  int signum    = 0;
  std::optional<std::size_t> stack;
};

CrashedRanks& crashed_ranks()
{
  static CrashedRanks all;
  return all;
}

[[noreturn]] void end_crashed()
{
  const CrashedRanks crashed = crashed_ranks();
  crashed.end(crashed.signum, crashed.stack);
  throw std::logic_error("a rank that has crashed goes on");
}

/** Makes the crashed rank continue in end_crashed() after the handler has returned, on a separate stack: the rank's may
 * be full. Async-signal-safe. */
void end_after_handler([[maybe_unused]] void* context)
{
#ifdef __x86_64__
  constexpr std::size_t STACK   = 256U << 10U;
  constexpr std::uintptr_t CALL = sizeof(void*); // as if a call had pushed the return address
  void* const stack             = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto& registers               = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP]            = reinterpret_cast<greg_t>(&end_crashed);
  registers[REG_RSP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(stack) + STACK - 2 * CALL - CALL);
#else
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  end_crashed();
#endif
}

/** Records the crash for the parent process and re-raises the signal. Calls only async-signal-safe
 * functions. */
void on_crash(int signum, siginfo_t* info, void* context)
{
  const std::optional<int> rank = is_forked_child() ? std::nullopt : rank_here();
  const bool by_access          = signum == SIGSEGV || signum == SIGBUS;
  const auto stack              = by_access ? overflown_stack(info->si_addr) : std::nullopt;
  const auto culprit            = rank && not stack ? rank_out_of_stack() : std::nullopt;
  if (rank && not culprit && crashed_ranks().end) {
    crashed_ranks().signum = signum;
    crashed_ranks().stack  = stack;
    end_after_handler(context);
    return;
  }
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  set_process_action(signum, none);
  if (culprit)
    tell_of_crash(*culprit, stacks_made()->bytes);
  else if (rank)
    tell_of_crash(*rank, stack, signum == SIGABRT);
  raise_in_process(signum);
}

} // namespace

void watch_crashes(const std::string& path)
{
  crash_file()            = path;
  mappings_allowed()      = most_mappings();
  struct sigaction action = {};
  action.sa_sigaction     = on_crash;
  action.sa_flags         = SA_SIGINFO | SA_ONSTACK; // SimGrid's alternative stack, since the rank's own may be full
  for (const int signum : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    set_process_action(signum, action);
}

void note_crash()
{
  if (const std::optional<int> rank = rank_here(); rank && not crash_file().empty())
    tell_of_crash(*rank, std::nullopt);
}

void end_crashed_ranks(RankCrash end)
{
  crashed_ranks().end = end;
}

void end_crashed_rank(int signum)
{
  if (not crashed_ranks().end || is_forked_child() || not rank_here())
    return;
  crashed_ranks().end(signum, std::nullopt);
}

void leave_process(int status)
{
  flush_output();
  ::_exit(status);
}

} // namespace weft
