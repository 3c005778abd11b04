// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/blocked_rank.hpp"

#include "binding/process/process.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <utility>

namespace weft {
namespace {

/** The second to last signal, as in blocked.py; the last one interrupts ranks for their threads. */
int blocked_signal()
{
  return SIGRTMAX - 1;
}

/** Functions of the C library, by the system call that blocks in them. */
std::string name_of_call(int number)
{
  using Row = std::pair<int, const char*>;
  static constexpr std::array ROWS{
      Row{SYS_accept, "accept"},
      Row{SYS_accept4, "accept"},
      Row{SYS_connect, "connect"},
      Row{SYS_recvfrom, "recv"},
      Row{SYS_recvmsg, "recvmsg"},
      Row{SYS_sendto, "send"},
      Row{SYS_sendmsg, "sendmsg"},
      Row{SYS_read, "read"},
      Row{SYS_readv, "readv"},
      Row{SYS_write, "write"},
      Row{SYS_writev, "writev"},
      Row{SYS_openat, "open"},
      Row{SYS_ppoll, "poll"},
      Row{SYS_pselect6, "select"},
      Row{SYS_epoll_pwait, "epoll_wait"},
      Row{SYS_futex, "a wait for another thread or process (sem_wait, pthread_join, pthread_mutex_lock, …)"},
      Row{SYS_flock, "flock"},
      Row{SYS_fcntl, "fcntl"},
      Row{SYS_semop, "semop"},
      Row{SYS_semtimedop, "semop"},
      Row{SYS_msgrcv, "msgrcv"},
      Row{SYS_msgsnd, "msgsnd"},
      Row{SYS_mq_timedreceive, "mq_receive"},
      Row{SYS_mq_timedsend, "mq_send"},
      Row{SYS_rt_sigsuspend, "sigsuspend"},
      Row{SYS_rt_sigtimedwait, "sigwait"},
      Row{SYS_nanosleep, "nanosleep"},
      Row{SYS_clock_nanosleep, "nanosleep"},
#ifdef __x86_64__
      Row{SYS_open, "open"},
      Row{SYS_poll, "poll"},
      Row{SYS_select, "select"},
      Row{SYS_epoll_wait, "epoll_wait"},
      Row{SYS_pause, "pause"},
#endif
  };
  const auto* const found = std::ranges::find(ROWS, number, &Row::first);
  return found == ROWS.end() ? "system call " + std::to_string(number) : found->second;
}

using EndRank = std::function<void(const std::string& message)>;

EndRank& end_of_blocked_rank()
{
  static auto& end = *new EndRank; // leaked, since ranks may outlive static objects
  return end;
}

/** Ends the rank that the signal interrupts. It is blocked in the system, and holds no lock of SimGrid or malloc. */
void on_blocked(int /*signum*/, siginfo_t* info, void* /*interrupted*/)
{
  const std::optional<int> rank = is_forked_child() ? std::nullopt : rank_here();
  if (info->si_code != SI_QUEUE || not rank)
    return;
  constexpr unsigned CALL_BITS = 16;
  const auto value             = static_cast<unsigned>(info->si_value.sival_int); // NOLINT: as blocked.py sends it
  const auto number            = static_cast<int>(value & ((1U << CALL_BITS) - 1));
  const bool is_lock = number == SYS_flock || number == SYS_fcntl; // ranks' own locks are waited for elsewhere
  end_of_blocked_rank()("rank " + std::to_string(*rank) + " has been in " + name_of_call(number) + " for " +
                        std::to_string(value >> CALL_BITS) + " s of real time, and no other rank can run: " +
                        (is_lock ? "a process outside the simulation holds a lock of the file; let it release the lock"
                                 : "all ranks share a thread, so a rank that waits for another one outside MPI waits "
                                   "for ever; let it wait in an MPI call"));
}

} // namespace

void end_blocked_ranks(std::function<void(const std::string& message)> end)
{
  end_of_blocked_rank() = std::move(end);
  struct sigaction action{};
  action.sa_sigaction = on_blocked;
  action.sa_flags     = SA_SIGINFO | SA_RESTART | SA_NODEFER; // the handler may not return
  set_process_action(blocked_signal(), action);
}

} // namespace weft
