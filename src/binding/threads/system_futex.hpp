// SPDX-License-Identifier: LGPL-2.1-only
/* System calls that simulated threads make as part of the simulator. They bypass the C library, whose futexes are
 * simulated. */
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <limits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft {

#ifdef __x86_64__
/** Makes a system call from this library. Returns a negative error number on failure. */
inline long system_call(long number, long first, long second, long third, long fourth = 0, long fifth = 0,
                        long sixth = 0)
{
  long result;
  register const long r10 __asm__("r10") = fourth;
  register const long r8 __asm__("r8")   = fifth;
  register const long r9 __asm__("r9")   = sixth;
  __asm__ volatile("syscall" // NOLINT(hicpp-no-assembler): C++ has no name for it
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
inline long system_call(long number, long first, long second, long third, long fourth = 0, long fifth = 0,
                        long sixth = 0)
{
  return syscall(number, first, second, third, fourth, fifth, sixth);
}
#endif

/** Blocks the thread of the system while @p word equals @p value; may return early. */
inline void wait_for_system_futex(const void* word, std::uint32_t value)
{
  system_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT_PRIVATE, value);
}

inline void wake_system_futex(const void* word)
{
  system_call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max());
}

inline void pause_system_thread(unsigned microseconds)
{
  constexpr long NANOSECONDS = 1000;
  const std::timespec time{0, static_cast<long>(microseconds) * NANOSECONDS};
  system_call(SYS_nanosleep, reinterpret_cast<long>(&time), 0, 0);
}

} // namespace weft
