// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of the C library that lock files, close several files or replace descriptors (functions that close one file
 * are in file_effects/effect_functions.cpp). glibc's lockf() calls fcntl() internally, which interposition does not
 * see. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/file_locks/file_locks.hpp"
#include "binding/file_locks/system_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <limits>
#include <sys/file.h>
#include <unistd.h>

extern "C" {

int weft_fcntl(int descriptor, int command, ...) WEFT_REPLACES("fcntl");
int weft_fcntl64(int descriptor, int command, ...) WEFT_REPLACES("fcntl64");
int weft_flock(int descriptor, int operation) WEFT_REPLACES("flock");
int weft_lockf(int descriptor, int command, off_t length) WEFT_REPLACES("lockf");
int weft_lockf64(int descriptor, int command, off_t length) WEFT_REPLACES("lockf64");
int weft_dup2(int descriptor, int closed) WEFT_REPLACES("dup2");
int weft_dup3(int descriptor, int closed, int flags) WEFT_REPLACES("dup3");
int weft_close_range(unsigned first, unsigned last, int flags) WEFT_REPLACES("close_range");
void weft_closefrom(int first) WEFT_REPLACES("closefrom");

// The argument is read as the widest possible type, as in glibc.
int weft_fcntl(int descriptor, int command, ...)
{
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return weft::lock_by_fcntl(descriptor, command, argument);
}

int weft_fcntl64(int descriptor, int command, ...)
{
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return weft::lock_by_fcntl(descriptor, command, argument);
}

int weft_flock(int descriptor, int operation)
{
  return weft::lock_by_flock(descriptor, operation);
}

int weft_lockf(int descriptor, int command, off_t length)
{
  return weft::lock_by_lockf(descriptor, command, length);
}

int weft_lockf64(int descriptor, int command, off_t length)
{
  return weft::lock_by_lockf(descriptor, command, length);
}

int weft_dup2(int descriptor, int closed)
{
  static const auto THEIRS = weft::next_definition<int (*)(int, int)>("dup2");
  if (descriptor == closed || not weft::has_used_locks())
    return THEIRS(descriptor, closed);
  return weft::close_and_release(closed, [=] { return THEIRS(descriptor, closed); });
}

int weft_dup3(int descriptor, int closed, int flags)
{
  static const auto THEIRS = weft::next_definition<int (*)(int, int, int)>("dup3");
  if (not weft::has_used_locks())
    return THEIRS(descriptor, closed, flags);
  return weft::close_and_release(closed, [=] { return THEIRS(descriptor, closed, flags); });
}

// Before glibc 2.34, which introduced both functions, close_range() fails as on a kernel without it.
int weft_close_range(unsigned first, unsigned last, int flags)
{
  static const auto THEIRS = weft::next_definition<int (*)(unsigned, unsigned, int)>("close_range");
  if (THEIRS && flags == 0 && first <= last && weft::has_used_locks()) {
    weft::close_all_and_release(first, last);
    return 0;
  }
  if (THEIRS)
    return THEIRS(first, last, flags);
  errno = ENOSYS;
  return -1;
}

void weft_closefrom(int first)
{
  weft::close_all_and_release(static_cast<unsigned>(std::max(first, 0)), std::numeric_limits<unsigned>::max());
}

} // extern "C"
