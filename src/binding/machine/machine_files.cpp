// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/machine/machine_files.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/machine/host_of_caller.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/settings.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <array>
#include <cerrno> // program_invocation_name
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Host.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace weft {
namespace {

constexpr std::string_view OWN_PROCESS = "/proc/self/";

/** Returns the name of a file of the rank's process below /proc; nothing for other paths. */
std::optional<std::string_view> file_of_process(std::string_view path)
{
  const auto rank = is_other_thread() ? std::nullopt : rank_here();
  const std::string by_number =
      rank ? "/proc/" + std::to_string(pid_of_rank(simgrid::s4u::this_actor::get_pid())) + "/" : std::string();
  if (path.starts_with(OWN_PROCESS))
    return path.substr(OWN_PROCESS.size());
  if (not by_number.empty() && path.starts_with(by_number))
    return path.substr(by_number.size());
  return std::nullopt;
}

/** Returns the path of the rank's program; nothing if it is not known. */
std::optional<std::string> program_of_caller()
{
  for (const std::string& named : {std::string(program_invocation_name), settings().program}) {
    std::error_code failure;
    const auto whole = std::filesystem::canonical(named, failure);
    if (not failure)
      return whole.string();
  }
  return std::nullopt;
}

int open_of_system(const char* path, int flags)
{
  static const auto THEIRS = next_definition<int (*)(const char*, int, ...)>("open");
  return THEIRS(path, flags);
}

/** Returns the section of /proc/cpuinfo about this machine's first processor. */
std::string first_processor()
{
  std::string block;
  std::array<char, 4096> part{};
  const int file = open_of_system("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  for (ssize_t length = 1; file >= 0 && length > 0 && block.find("\n\n") == std::string::npos;) {
    length = read(file, part.data(), part.size());
    block.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  }
  if (file >= 0)
    close(file);
  return block.substr(0, block.find("\n\n")) + '\n';
}

/** Returns /proc/cpuinfo of a host: this machine's first processor, once per core. */
std::string processors_of(int cores)
{
  const std::string block = first_processor();
  std::string all;
  for (int core = 0; core < cores; ++core) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      const std::string_view key = std::string_view(line).substr(0, line.find_first_of("\t:"));
      const std::size_t value    = line.find(": ");
      const bool is_number       = key == "processor" || key == "core id" || key == "apicid" || key == "initial apicid";
      const bool is_count        = key == "siblings" || key == "cpu cores";
      if (value != std::string::npos && (is_number || is_count || key == "physical id"))
        line = line.substr(0, value + 2) + std::to_string(is_count ? cores : is_number ? core : 0);
      all += line + '\n';
    }
    all += '\n';
  }
  return all;
}

/** Returns the content of a file that describes the machine or the program; nothing for other paths. */
std::optional<std::string> content_of(std::string_view path, const simgrid::s4u::Host& host)
{
  const int cores = std::max(1, host.get_core_count());
  if (path == "/etc/hostname" || path == "/proc/sys/kernel/hostname")
    return host.get_name() + "\n";
  if (path == "/proc/cpuinfo")
    return processors_of(cores);
  if (path == "/sys/devices/system/cpu/online" || path == "/sys/devices/system/cpu/possible" ||
      path == "/sys/devices/system/cpu/present")
    return (cores > 1 ? "0-" + std::to_string(cores - 1) : "0") + "\n";
  const auto own = file_of_process(path);
  if (own == "comm")
    return std::string(program_invocation_short_name).substr(0, 15) + "\n"; // TASK_COMM_LEN of Linux
  if (own == "cmdline")
    return program_invocation_name + std::string(1, '\0');
  return std::nullopt;
}

bool may_be_machine_file(const char* path)
{
  if (not path || *path != '/')
    return false;
  const std::string_view name(path);
  return name.starts_with("/proc/") || name.starts_with("/sys/devices/system/cpu/") || name == "/etc/hostname";
}

/** Returns the program's path if @p path is the /proc link of the rank's process to it. */
std::optional<std::string> program_behind(const char* path, const void* caller)
{
  if (not may_be_machine_file(path) || not host_of_caller(caller) || file_of_process(path) != "exe")
    return std::nullopt;
  return program_of_caller();
}

/** Copies the target of a link, like readlink(). */
std::optional<ssize_t> read_program(const char* path, char* into, std::size_t size, const void* caller)
{
  const auto program = program_behind(path, caller);
  if (not program)
    return std::nullopt;
  const std::size_t fitting = std::min(program->size(), size);
  std::copy_n(program->begin(), fitting, into);
  return static_cast<ssize_t>(fitting);
}

} // namespace

int open_machine_file(const char* path, int flags, const void* caller)
{
  if (not may_be_machine_file(path) || (static_cast<unsigned>(flags) & O_ACCMODE) != O_RDONLY)
    return -1;
  const auto* const host = host_of_caller(caller);
  if (not host)
    return -1;
  const auto content = content_of(path, *host);
  if (content) {
    const int file = memfd_create("weft", MFD_CLOEXEC);
    if (file < 0 || pwrite(file, content->data(), content->size(), 0) >= 0)
      return file;
    close(file);
    return -1;
  }
  const auto own = file_of_process(path);
  if (not own)
    return -1;
  const auto program = own == "exe" ? program_of_caller() : std::nullopt;
  return open_of_system((program ? *program : std::string(OWN_PROCESS) + std::string(*own)).c_str(), flags);
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

ssize_t weft_readlink(const char* path, char* into, std::size_t size) WEFT_REPLACES("readlink");
ssize_t weft_readlink_chk(const char* path, char* into, std::size_t size, std::size_t room)
    WEFT_REPLACES("__readlink_chk");
ssize_t weft_readlinkat(int directory, const char* path, char* into, std::size_t size) WEFT_REPLACES("readlinkat");
char* weft_realpath(const char* path, char* into) WEFT_REPLACES("realpath");
char* weft_realpath_chk(const char* path, char* into, std::size_t room) WEFT_REPLACES("__realpath_chk");
char* weft_canonicalize_file_name(const char* path) WEFT_REPLACES("canonicalize_file_name");

ssize_t weft_readlink(const char* path, char* into, std::size_t size)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_readlink)>("readlink");
  const auto written       = weft::read_program(path, into, size, __builtin_return_address(0));
  return written ? *written : THEIRS(path, into, size);
}

ssize_t weft_readlink_chk(const char* path, char* into, std::size_t size, std::size_t room)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_readlink_chk)>("__readlink_chk");
  const auto written       = weft::read_program(path, into, std::min(size, room), __builtin_return_address(0));
  return written ? *written : THEIRS(path, into, size, room);
}

ssize_t weft_readlinkat(int directory, const char* path, char* into, std::size_t size)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_readlinkat)>("readlinkat");
  const auto written       = weft::read_program(path, into, size, __builtin_return_address(0));
  return written ? *written : THEIRS(directory, path, into, size);
}

char* weft_realpath(const char* path, char* into)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_realpath)>("realpath");
  const auto program       = weft::program_behind(path, __builtin_return_address(0));
  return THEIRS(program ? program->c_str() : path, into);
}

char* weft_realpath_chk(const char* path, char* into, std::size_t room)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_realpath_chk)>("__realpath_chk");
  const auto program       = weft::program_behind(path, __builtin_return_address(0));
  return THEIRS(program ? program->c_str() : path, into, room);
}

char* weft_canonicalize_file_name(const char* path)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_canonicalize_file_name)>("canonicalize_file_name");
  const auto program       = weft::program_behind(path, __builtin_return_address(0));
  return THEIRS(program ? program->c_str() : path);
}

} // extern "C"
