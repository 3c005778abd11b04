// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_locks/system_files.hpp"

#include "binding/abi/interposed_symbol.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace weft {
namespace {

std::string entry_of(int descriptor)
{
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/** Returns whether the open file description of @p descriptor holds a lock of @p kind (proc_pid_fdinfo(5)). */
bool holds_lock(int descriptor, std::string_view kind)
{
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(descriptor));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("lock:") && line.find(kind) != std::string::npos)
      return true;
  return false;
}

} // namespace

int system_fcntl(int descriptor, int command, void* argument)
{
  static const auto THEIRS = next_definition<int (*)(int, int, ...)>("fcntl");
  return THEIRS(descriptor, command, argument);
}

int system_flock(int descriptor, int operation)
{
  static const auto THEIRS = next_definition<int (*)(int, int)>("flock");
  return THEIRS(descriptor, operation);
}

int system_close(int descriptor)
{
  static const auto THEIRS = next_definition<int (*)(int)>("close");
  return THEIRS(descriptor);
}

std::optional<struct stat> status_of(int descriptor)
{
  static const auto THEIRS = next_definition<int (*)(int, struct stat*)>("fstat");
  struct stat file{};
  return THEIRS(descriptor, &file) == 0 ? std::optional(file) : std::nullopt;
}

std::optional<FileKey> file_of(int descriptor)
{
  const std::optional<struct stat> status = status_of(descriptor);
  return status ? std::optional(FileKey(status->st_dev, status->st_ino)) : std::nullopt;
}

// A lock may need an access mode that this descriptor lacks but another of the rank's has, so the file is opened for
// both reading and writing if its permissions allow. Otherwise, and for devices, which opening may affect, the locks
// belong to the description of the rank's own descriptor.
int open_lock_owner(int descriptor, const struct stat& file)
{
  static const auto OPEN = next_definition<int (*)(const char*, int, ...)>("open");
  // NOLINTBEGIN(bugprone-signed-bitwise): the system's
  if (S_ISREG(file.st_mode))
    if (const int opened = OPEN(entry_of(descriptor).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); opened >= 0)
      return opened;
  // NOLINTEND(bugprone-signed-bitwise)
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the lowest number that the descriptor may get
  return system_fcntl(descriptor, F_DUPFD_CLOEXEC, nullptr);
}

std::vector<int> open_descriptors()
{
  std::error_code none;
  std::vector<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none))
    all.push_back(static_cast<int>(std::strtol(entry.path().filename().c_str(), nullptr, 10)));
  return all;
}

bool process_holds(const FileKey& file, std::string_view kind, const std::function<bool(int descriptor)>& counts)
{
  return std::ranges::any_of(open_descriptors(), [&](int descriptor) {
    return file_of(descriptor) == file && counts(descriptor) && holds_lock(descriptor, kind);
  });
}

std::string path_of(int descriptor)
{
  std::error_code none;
  return std::filesystem::read_symlink(entry_of(descriptor), none).string();
}

} // namespace weft
