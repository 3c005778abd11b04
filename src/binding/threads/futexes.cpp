// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/futexes.hpp"

#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/threads/computation_break.hpp"
#include "binding/threads/library_code.hpp"
#include "binding/threads/system_futex.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <deque>
#include <limits>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <optional>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/simcall.hpp>
#include <span>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): handlers of signals read these
thread_local unsigned system_futexes __attribute__((tls_model("initial-exec"))) = 0; ///< nesting depth of scopes
/** Address that filter_this_thread() wakes to find out whether the thread has the filter. */
thread_local std::uint32_t probe __attribute__((tls_model("initial-exec"))) = 0;
bool has_filter = false; ///< of the thread on which ranks run
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

constexpr double SECOND           = 1e9; // in nanoseconds
constexpr std::uint32_t ALL_BITS  = ~std::uint32_t{0};
constexpr double NO_DEADLINE      = -1;
constexpr double SCHED_YIELD_TIME = 1e-7; ///< as long as a failed poll

/** A thread that waits at an address. */
struct Waiting {
  std::uint32_t bits;
  Sleep sleep;
  simgrid::kernel::timer::Timer* timer = nullptr;
  bool woken                           = false;
};

/** Waiting threads by address, in FIFO order. */
std::unordered_map<const void*, std::deque<Waiting*>>& queues()
{
  static auto* const ALL =
      new std::unordered_map<const void*, std::deque<Waiting*>>; // leaked, since ranks may outlive statics
  return *ALL;
}

void forget(const void* address, const Waiting& one)
{
  const auto queue = queues().find(address);
  if (queue == queues().end())
    return;
  std::erase(queue->second, &one);
  if (queue->second.empty())
    queues().erase(queue);
}

/** Blocks the current thread until it is woken at @p address, or until @p deadline. */
long wait_at(const void* address, std::uint32_t value, double deadline, std::uint32_t bits)
{
  if (static_cast<const std::atomic<std::uint32_t>*>(address)->load() != value)
    return -EAGAIN;
  if (deadline >= 0 && deadline <= time_of_rank())
    return -ETIMEDOUT;
  Waiting self{.bits = bits, .sleep = {}};
  queues()[address].push_back(&self);
  if (deadline >= 0)
    simgrid::kernel::actor::simcall_answered([&] {
      if (self.woken)
        return;
      self.timer = simgrid::kernel::timer::Timer::set(deadline, [&self, address] {
        self.timer = nullptr;
        forget(address, self);
        self.sleep.wake();
      });
    });
  try {
    self.sleep.sleep(SleepsIn::wait);
  } catch (...) { // the rank is being killed
    forget(address, self);
    throw;
  }
  return self.woken ? 0 : -ETIMEDOUT;
}

/** Wakes up to @p most threads at @p address. Returns their number. */
long wake_at_address(const void* address, std::uint32_t most, std::uint32_t bits)
{
  const auto queue = queues().find(address);
  if (queue == queues().end())
    return 0;
  std::vector<Waiting*> chosen;
  for (Waiting* const one : queue->second)
    if (chosen.size() < most && (one->bits & bits) != 0)
      chosen.push_back(one);
  for (Waiting* const one : chosen) {
    one->woken = true;
    forget(address, *one);
  }
  simgrid::kernel::actor::simcall_answered([&chosen] {
    for (Waiting* const one : chosen) {
      if (one->timer)
        one->timer->remove();
      one->timer = nullptr;
      one->sleep.wake();
    }
  });
  return static_cast<long>(chosen.size());
}

/** Returns the deadline of a wait; real-time clocks, which are decades ahead, count as none. */
double deadline_of(const std::timespec* time, bool is_absolute)
{
  constexpr double DECADES = 1e9;
  if (not time)
    return NO_DEADLINE;
  const double seconds = static_cast<double>(time->tv_sec) + static_cast<double>(time->tv_nsec) / SECOND;
  const double at      = is_absolute ? seconds : time_of_rank() + seconds;
  return at > time_of_rank() + DECADES ? NO_DEADLINE : std::max(0.0, at);
}

/** Executes futex() for a simulated thread. */
long simulate_futex(std::span<const long, 6> arguments)
{
  const auto* const address = reinterpret_cast<const void*>(arguments[0]);          // NOLINT(performance-no-int-to-ptr)
  const auto* const time    = reinterpret_cast<const std::timespec*>(arguments[3]); // NOLINT(performance-no-int-to-ptr)
  const auto count          = static_cast<std::uint32_t>(arguments[2]);
  const auto bits           = static_cast<std::uint32_t>(arguments[5]);
  // Threads outside the simulation wait in the system.
  const auto with_system = [&arguments, count](long woken) {
    return std::cmp_less(woken, count)
               ? woken + system_call(SYS_futex, arguments[0], arguments[1], count - woken, 0, 0, arguments[5])
               : woken;
  };
  switch (static_cast<unsigned>(arguments[1]) & static_cast<unsigned>(FUTEX_CMD_MASK)) {
    case FUTEX_WAIT:
      return wait_at(address, count, deadline_of(time, false), ALL_BITS);
    case FUTEX_WAIT_BITSET:
      return wait_at(address, count, deadline_of(time, true), bits);
    case FUTEX_WAKE:
      return with_system(wake_at_address(address, count, ALL_BITS));
    case FUTEX_WAKE_BITSET:
      return with_system(wake_at_address(address, count, bits));
    default: // wakes some threads and requeues others; here all check again
      return wake_at_address(address, ALL_BITS, ALL_BITS);
  }
}

#ifdef __x86_64__

using Filter = std::vector<sock_filter>;

constexpr std::uint32_t LOW_BITS = 32;

sock_filter load(std::size_t field)
{
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(field)};
}

sock_filter jump(std::uint16_t condition, std::uint32_t value, std::uint8_t yes, std::uint8_t no)
{
  return {static_cast<std::uint16_t>(BPF_JMP | BPF_K | condition), yes, no, value};
}

sock_filter answer(std::uint32_t action)
{
  return {BPF_RET | BPF_K, 0, 0, action};
}

/** Appends instructions that turn system calls from code in [begin, end), which lies within 4 GiB, into signals. */
void add_range(Filter& filter, std::uintptr_t begin, std::uintptr_t end)
{
  constexpr std::size_t AT = offsetof(seccomp_data, instruction_pointer);
  // A library's code that crosses a multiple of 4 GiB is split there.
  const std::uintptr_t border = ((begin >> LOW_BITS) + 1) << LOW_BITS;
  if (end > border)
    add_range(filter, border, end);
  const auto high = static_cast<std::uint32_t>(begin >> LOW_BITS);
  const auto last = static_cast<std::uint32_t>(std::min(end, border) - 1);
  filter.insert(filter.end(), {load(AT + sizeof(std::uint32_t)), jump(BPF_JEQ, high, 0, 4), load(AT),
                               jump(BPF_JGE, static_cast<std::uint32_t>(begin), 0, 2), jump(BPF_JGT, last, 1, 0),
                               answer(SECCOMP_RET_TRAP)});
}

/** Creates the filter: it traps futexes, except those with priority inheritance, and sched_yield() in those libraries.
 * Programs that ranks execute inherit the filter, but their code is at other addresses. */
Filter make_filter()
{
  Filter filter;
  Filter ranges;
  for (const auto& [begin, end] : code_of_libraries({"libc.so", "libgomp.so"}))
    add_range(ranges, begin, end);
  constexpr std::size_t OPERATION = offsetof(seccomp_data, args) + sizeof(std::uint64_t);
  filter                          = {load(offsetof(seccomp_data, arch)),
                                     jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
                                     answer(SECCOMP_RET_ALLOW),
                                     load(offsetof(seccomp_data, nr)),
                                     jump(BPF_JEQ, SYS_sched_yield, 9, 0),
                                     jump(BPF_JEQ, SYS_futex, 1, 0),
                                     answer(SECCOMP_RET_ALLOW),
                                     load(OPERATION),
                                     {BPF_ALU | BPF_AND | BPF_K, 0, 0, static_cast<std::uint32_t>(FUTEX_CMD_MASK)},
                                     jump(BPF_JGE, FUTEX_WAIT_BITSET, 0, 2),
                                     jump(BPF_JGT, FUTEX_WAKE_BITSET, 0, 3),
                                     answer(SECCOMP_RET_ALLOW),
                                     jump(BPF_JGT, FUTEX_CMP_REQUEUE, 0, 1),
                                     answer(SECCOMP_RET_ALLOW)};
  filter.insert(filter.end(), ranges.begin(), ranges.end());
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  return filter;
}

bool install_filter()
{
  static const Filter FILTER = make_filter();
  const sock_fprog program{static_cast<unsigned short>(FILTER.size()), const_cast<sock_filter*>(FILTER.data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

void on_trap(int /*signum*/, siginfo_t* info, void* interrupted)
{
  constexpr int SECCOMP = 1; // SYS_SECCOMP, which older headers lack
  if (info->si_code != SECCOMP)
    return;
  auto& registers = static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs;
  const std::array<long, 6> arguments{registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                      registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  auto& result   = registers[REG_RAX];
  const int kept = errno;
  if (arguments[0] == reinterpret_cast<long>(&probe)) {
    probe  = 1;
    result = 0;
  } else if (not futexes_are_simulated()) {
    result = system_call(info->si_syscall, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                         arguments[5]);
  } else if (info->si_syscall == SYS_sched_yield) {
    simgrid::s4u::this_actor::sleep_for(SCHED_YIELD_TIME);
    result = 0;
  } else {
    const ComputationBreak computation;
    result = simulate_futex(arguments);
  }
  errno = kept;
}

#endif

} // namespace

#ifdef __x86_64__

bool simulate_futexes()
{
  static const bool DONE = [] {
    struct sigaction action{};
    action.sa_sigaction = on_trap;
    action.sa_flags     = SA_SIGINFO | SA_NODEFER; // others run meanwhile, and trap too
    set_process_action(SIGSYS, action);
    has_filter = install_filter();
    return has_filter;
  }();
  return DONE;
}

void filter_this_thread()
{
  probe = 0;
  syscall(SYS_futex, &probe, FUTEX_WAKE_PRIVATE, 0, nullptr, nullptr, 0); // through the C library, so it is trapped
  if (probe == 0)
    install_filter();
}

#else

bool simulate_futexes()
{
  return false;
}
void filter_this_thread() {}

#endif

bool futexes_are_simulated()
{
  return has_filter && running_context && system_futexes == 0 && not is_forked_child() && rank_here();
}

SystemFutexes::SystemFutexes()
{
  ++system_futexes;
}

SystemFutexes::~SystemFutexes()
{
  --system_futexes;
}

SimulatedFutexes::SimulatedFutexes() : outer_(std::exchange(system_futexes, 0)) {}

SimulatedFutexes::~SimulatedFutexes()
{
  system_futexes = outer_;
}

std::size_t threads_at_futexes()
{
  std::size_t count = 0;
  for (const auto& [address, queue] : queues())
    count += queue.size();
  return count;
}

} // namespace weft
