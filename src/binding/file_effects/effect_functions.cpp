// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of the C library that modify or inspect files, and those that start processes. The C++, Fortran and Python
 * libraries call them too. Buffered data of a stream takes effect when the stream is flushed; an automatic flush of a
 * full buffer is not seen. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/file_effects/opened_files.hpp"
#include "binding/file_effects/simulated_order.hpp"
#include "binding/file_locks/file_locks.hpp"
#include "binding/file_locks/system_files.hpp"
#include "binding/machine/machine_files.hpp"
#include "binding/process/fortran.hpp"
#include "binding/ranks/current.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

bool has_flag(int flags, int flag)
{
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

/** Opens a file by @p open (), which returns a descriptor. */
template <class Open> int open_in_order(const void* caller, const char* path, int flags, Open&& open)
{
  if (not is_rank(caller))
    return open();
  come_in_order(caller);
  OpenedFiles& files = OpenedFiles::get();
  if (has_flag(flags, O_TRUNC))
    files.destroys(path, "empties");
  const bool makes     = has_flag(flags, O_CREAT) && path && files.is_missing(path);
  const int descriptor = open();
  if (descriptor < 0)
    return descriptor;
  files.opens(descriptor, has_flag(flags, O_WRONLY | O_RDWR), makes);
  if (has_flag(flags, O_CREAT | O_TRUNC))
    await_others_of_instant(caller);
  return descriptor;
}

/** Opens a file like open_in_order(), or one that describes the rank's machine. */
template <class Open> int open_file(const void* caller, const char* path, int flags, Open&& open)
{
  const int file = open_machine_file(path, flags, caller);
  return file >= 0 ? file : open_in_order(caller, path, flags, std::forward<Open>(open));
}

bool makes_file(int flags)
{
  return has_flag(flags, O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; // NOLINT(bugprone-signed-bitwise): the system's
}

/** Returns the flags of a stream's mode (fopen(3)). */
int flags_of(const char* mode)
{
  const int update = std::strchr(mode, '+') ? O_RDWR : O_WRONLY;
  if (*mode == 'r')
    return update == O_RDWR ? O_RDWR : O_RDONLY;
  return *mode == 'w' ? update | O_CREAT | O_TRUNC : update | O_CREAT; // NOLINT(bugprone-signed-bitwise): the system's
}

/** Opens a stream by @p open (); null if that fails. */
template <class Open> FILE* open_stream(const void* caller, const char* path, const char* mode, Open&& open)
{
  FILE* stream = nullptr;
  open_in_order(caller, path, mode ? flags_of(mode) : O_RDONLY, [&] {
    stream = open();
    return stream ? fileno(stream) : -1;
  });
  return stream;
}

/** Writes to a file, or to all files with buffered data if @p descriptor is -1, by @p write (). */
template <class Write> auto write_in_order(const void* caller, int descriptor, Write&& write)
{
  if (running_context && not is_in_simulator(caller)) { // excludes the simulator, whose crash handlers write too
    come_in_order(caller);
    OpenedFiles::get().writes(descriptor);
  }
  return write();
}

void forget_descriptor(int descriptor)
{
  if (running_context)
    OpenedFiles::get().closes(descriptor);
}

/** Modifies a name by @p act (); @p verb: its effect on the file @p destroyed. */
template <class Act> int act_on_name(const void* caller, const char* destroyed, const char* verb, Act&& act)
{
  if (is_rank(caller)) {
    come_in_order(caller);
    if (destroyed)
      OpenedFiles::get().destroys(destroyed, verb);
  }
  return act();
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

#define WEFT_CALLER __builtin_return_address(0)

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names
/** Reads the mode of open() if it may create a file. */
#define WEFT_MODE(flags, mode)                                                                                         \
  mode_t mode = 0;                                                                                                     \
  if (weft::makes_file(flags)) {                                                                                       \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    mode = va_arg(arguments, mode_t);                                                                                  \
    va_end(arguments);                                                                                                 \
  }
// NOLINTEND(bugprone-macro-parentheses)

#define WEFT_OPENS(name)                                                                                               \
  extern "C" int weft_##name(const char* path, int flags, ...) WEFT_REPLACES(#name);                                   \
  int weft_##name(const char* path, int flags, ...)                                                                    \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<int (*)(const char*, int, ...)>(#name);                           \
    WEFT_MODE(flags, mode)                                                                                             \
    const std::string own = weft::own_name(path);                                                                      \
    return weft::open_file(WEFT_CALLER, own.c_str(), flags, [&] { return THEIRS(own.c_str(), flags, mode); });         \
  }

WEFT_OPENS(open)
WEFT_OPENS(open64)

/** Form of open() without a mode, which glibc's headers may call (_FORTIFY_SOURCE). */
#define WEFT_OPENS_WITHOUT_MODE(name)                                                                                  \
  extern "C" int weft##name(const char* path, int flags) WEFT_REPLACES(#name);                                         \
  int weft##name(const char* path, int flags)                                                                          \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft##name)>(#name);                                    \
    return weft::open_file(WEFT_CALLER, path, flags, [&] { return THEIRS(path, flags); });                             \
  }

WEFT_OPENS_WITHOUT_MODE(__open_2)
WEFT_OPENS_WITHOUT_MODE(__open64_2)

#define WEFT_OPENS_AT(name)                                                                                            \
  extern "C" int weft_##name(int directory, const char* path, int flags, ...) WEFT_REPLACES(#name);                    \
  int weft_##name(int directory, const char* path, int flags, ...)                                                     \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<int (*)(int, const char*, int, ...)>(#name);                      \
    WEFT_MODE(flags, mode)                                                                                             \
    const char* const known = directory == AT_FDCWD || *path == '/' ? path : nullptr;                                  \
    return weft::open_file(WEFT_CALLER, known, flags, [&] { return THEIRS(directory, path, flags, mode); });           \
  }

WEFT_OPENS_AT(openat)
WEFT_OPENS_AT(openat64)

#define WEFT_CREATES(name)                                                                                             \
  extern "C" int weft_##name(const char* path, mode_t mode) WEFT_REPLACES(#name);                                      \
  int weft_##name(const char* path, mode_t mode)                                                                       \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    return weft::open_in_order(WEFT_CALLER, path, O_CREAT | O_WRONLY | O_TRUNC, [&] { return THEIRS(path, mode); });   \
  }

WEFT_CREATES(creat)
WEFT_CREATES(creat64)

#define WEFT_OPENS_STREAM(name)                                                                                        \
  extern "C" FILE* weft_##name(const char* path, const char* mode) WEFT_REPLACES(#name);                               \
  FILE* weft_##name(const char* path, const char* mode)                                                                \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    if (mode)                                                                                                          \
      if (const int file = weft::open_machine_file(path, weft::flags_of(mode), WEFT_CALLER); file >= 0)                \
        return fdopen(file, "r");                                                                                      \
    return weft::open_stream(WEFT_CALLER, path, mode, [&] { return THEIRS(path, mode); });                             \
  }

WEFT_OPENS_STREAM(fopen)
WEFT_OPENS_STREAM(fopen64)

#define WEFT_REOPENS(name)                                                                                             \
  extern "C" FILE* weft_##name(const char* path, const char* mode, FILE* stream) WEFT_REPLACES(#name);                 \
  FILE* weft_##name(const char* path, const char* mode, FILE* stream)                                                  \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    return weft::open_stream(WEFT_CALLER, path, mode, [&] {                                                            \
      if (not weft::has_used_locks())                                                                                  \
        return THEIRS(path, mode, stream);                                                                             \
      FILE* opened = nullptr;                                                                                          \
      weft::close_and_release(fileno(stream), [&] {                                                                    \
        opened = THEIRS(path, mode, stream);                                                                           \
        return 0;                                                                                                      \
      });                                                                                                              \
      return opened;                                                                                                   \
    });                                                                                                                \
  }

WEFT_REOPENS(freopen)
WEFT_REOPENS(freopen64)

extern "C" {

int weft_fclose(FILE* stream) WEFT_REPLACES("fclose");
int weft_fclose(FILE* stream)
{
  static const auto THEIRS = weft::next_definition<int (*)(FILE*)>("fclose");
  return weft::write_in_order(WEFT_CALLER, fileno(stream), [stream] {
    weft::forget_descriptor(fileno(stream));
    if (not weft::has_used_locks())
      return THEIRS(stream);
    return weft::close_and_release(fileno(stream), [stream] { return THEIRS(stream); });
  });
}

int weft_close(int descriptor) WEFT_REPLACES("close");
int weft_close(int descriptor)
{
  weft::forget_descriptor(descriptor);
  if (not weft::has_used_locks())
    return weft::system_close(descriptor);
  return weft::close_and_release(descriptor, [descriptor] { return weft::system_close(descriptor); });
}

int weft_fflush(FILE* stream) WEFT_REPLACES("fflush");
int weft_fflush(FILE* stream)
{
  static const auto THEIRS = weft::next_definition<int (*)(FILE*)>("fflush");
  return weft::write_in_order(WEFT_CALLER, stream ? fileno(stream) : -1, [stream] { return THEIRS(stream); });
}

} // extern "C"

/** Interposes on a function that writes to a descriptor, its first parameter. */
#define WEFT_WRITES(name, Result, parameters, ...)                                                                     \
  extern "C" Result weft_##name parameters WEFT_REPLACES(#name);                                                       \
  Result weft_##name parameters                                                                                        \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    return weft::write_in_order(WEFT_CALLER, descriptor, [&] { return THEIRS(descriptor, __VA_ARGS__); });             \
  }

WEFT_WRITES(write, ssize_t, (int descriptor, const void* data, std::size_t bytes), data, bytes)
WEFT_WRITES(writev, ssize_t, (int descriptor, const iovec* parts, int count), parts, count)
WEFT_WRITES(pwrite, ssize_t, (int descriptor, const void* data, std::size_t bytes, off_t at), data, bytes, at)
WEFT_WRITES(pwrite64, ssize_t, (int descriptor, const void* data, std::size_t bytes, off_t at), data, bytes, at)

#define WEFT_CUTS(name)                                                                                                \
  extern "C" int weft_##name(int descriptor, off_t length) WEFT_REPLACES(#name);                                       \
  int weft_##name(int descriptor, off_t length)                                                                        \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    if (length == 0 && weft::is_rank(WEFT_CALLER))                                                                     \
      weft::OpenedFiles::get().destroys(descriptor, "empties");                                                        \
    return weft::write_in_order(WEFT_CALLER, descriptor, [&] { return THEIRS(descriptor, length); });                  \
  }

WEFT_CUTS(ftruncate)
WEFT_CUTS(ftruncate64)

/** Interposes on a function that modifies names. @p destroyed: the name of a file that it destroys; null if it destroys
 * none. */
#define WEFT_ACTS(name, destroyed, verb, parameters, ...)                                                              \
  extern "C" int weft_##name parameters WEFT_REPLACES(#name);                                                          \
  int weft_##name parameters                                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<decltype(&weft_##name)>(#name);                                   \
    return weft::act_on_name(WEFT_CALLER, destroyed, verb, [&] { return THEIRS(__VA_ARGS__); });                       \
  }

WEFT_ACTS(unlink, path, "removes", (const char* path), path)
WEFT_ACTS(unlinkat, directory == AT_FDCWD ? path : nullptr, "removes", (int directory, const char* path, int flags),
          directory, path, flags)
WEFT_ACTS(remove, path, "removes", (const char* path), path)
WEFT_ACTS(rename, after, "replaces", (const char* before, const char* after), before, after)
WEFT_ACTS(renameat, nullptr, "", (int from, const char* before, int to, const char* after), from, before, to, after)
WEFT_ACTS(truncate, length == 0 ? path : nullptr, "empties", (const char* path, off_t length), path, length)
WEFT_ACTS(truncate64, length == 0 ? path : nullptr, "empties", (const char* path, off_t length), path, length)
WEFT_ACTS(mkdir, nullptr, "", (const char* path, mode_t mode), path, mode)
WEFT_ACTS(mkdirat, nullptr, "", (int directory, const char* path, mode_t mode), directory, path, mode)
WEFT_ACTS(rmdir, nullptr, "", (const char* path), path)
WEFT_ACTS(link, nullptr, "", (const char* from, const char* to), from, to)
WEFT_ACTS(symlink, nullptr, "", (const char* from, const char* to), from, to)
WEFT_ACTS(access, nullptr, "", (const char* path, int mode), path, mode)
WEFT_ACTS(system, nullptr, "", (const char* command), command)
WEFT_ACTS(posix_spawn, nullptr, "",
          (pid_t * process, const char* path, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const words[], char* const environment[]),
          process, path, actions, attributes, words, environment)
WEFT_ACTS(posix_spawnp, nullptr, "",
          (pid_t * process, const char* path, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const words[], char* const environment[]),
          process, path, actions, attributes, words, environment)

extern "C" {

FILE* weft_popen(const char* command, const char* mode) WEFT_REPLACES("popen");
FILE* weft_popen(const char* command, const char* mode)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_popen)>("popen");
  weft::come_in_order(WEFT_CALLER);
  return THEIRS(command, mode);
}

pid_t weft_fork() WEFT_REPLACES("fork");
pid_t weft_fork()
{
  static const auto THEIRS = weft::next_definition<pid_t (*)()>("fork");
  weft::come_in_order(WEFT_CALLER);
  return THEIRS();
}

int weft_stat(const char* path, struct stat* file) WEFT_REPLACES("stat");
int weft_stat(const char* path, struct stat* file)
{
  static const auto THEIRS = weft::next_definition<int (*)(const char*, struct stat*)>("stat");
  weft::come_in_order(WEFT_CALLER);
  return weft::told_apart(THEIRS(weft::own_name(path).c_str(), file), file);
}

/** Replacement of stat() in programs and libraries that were compiled for glibc before 2.33. */
int weft_xstat(int version, const char* path, struct stat* file) WEFT_REPLACES("__xstat");
int weft_xstat(int /*version*/, const char* path, struct stat* file)
{
  return weft_stat(path, file);
}

} // extern "C"
