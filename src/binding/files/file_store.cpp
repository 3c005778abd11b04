// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/file_store.hpp"

#include <smpi/smpi.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

namespace fs = std::filesystem;

/** Returns MPI's class of a system error. Throws FullDiskError if the disk is full. */
int class_of(int error, const std::string& path)
{
  constexpr std::array OF_MPI{std::pair{ENOENT, MPI_ERR_NO_SUCH_FILE}, std::pair{EEXIST, MPI_ERR_FILE_EXISTS},
                              std::pair{EACCES, MPI_ERR_ACCESS},       std::pair{EPERM, MPI_ERR_ACCESS},
                              std::pair{EROFS, MPI_ERR_READ_ONLY},     std::pair{EISDIR, MPI_ERR_BAD_FILE},
                              std::pair{ENOTDIR, MPI_ERR_BAD_FILE},    std::pair{ENAMETOOLONG, MPI_ERR_BAD_FILE},
                              std::pair{ETXTBSY, MPI_ERR_FILE_IN_USE}};
  if (error == ENOSPC || error == EFBIG || error == EDQUOT)
    throw FullDiskError(path + ": " + std::strerror(error));
  for (const auto& [known, of_mpi] : OF_MPI)
    if (known == error)
      return of_mpi;
  return MPI_ERR_IO;
}

FileError error_of(int error, const std::string& path)
{
  return {class_of(error, path), path + ": " + std::strerror(error)};
}

/** Opens a file; raises the limit of open files if it is reached: the limit is per process, which here contains all
 * ranks.
 * @return -1 with errno if that fails */
int open_file(const std::string& path, unsigned flags)
{
  const auto attempt = [&] {
    return ::open(path.c_str(), static_cast<int>(flags | static_cast<unsigned>(O_CLOEXEC)), 0666);
  };
  const int opened = attempt();
  rlimit limit{};
  if (opened >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
    return opened;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return attempt();
}

/** Calls @p move(descriptor, address, bytes, offset), like pread and pwrite, for all extents until one moves no data.
 * @return the bytes that were moved, or -1 */
template <class Byte, class Move>
std::int64_t move_extents(int file, const Extents& extents, std::span<Byte> data, Move&& move)
{
  std::int64_t moved = 0;
  for (const Extent& extent : extents) {
    for (std::int64_t done = 0; done < extent.length;) {
      const ssize_t now = move(file, data.data() + moved, static_cast<std::size_t>(extent.length - done),
                               static_cast<off_t>(extent.offset + done));
      if (now < 0 && errno == EINTR)
        continue;
      if (now <= 0)
        return now < 0 ? -1 : moved;
      done += now;
      moved += now;
    }
  }
  return moved;
}

bool is_prefix(const std::string& directory, const std::string& path)
{
  return path.size() > directory.size() && path.starts_with(directory) &&
         (directory.ends_with('/') || path[directory.size()] == '/');
}

} // namespace

FilePath FilePath::of(const std::string& name)
{
  // ROMIO's names may begin with the file system, "ufs:out" (MPI 4.1, section 14.2.1: the implementation defines file
  // names).
  const auto colon          = name.find(':');
  const bool of_file_system = colon != std::string::npos && colon > 1 && name.find('/') > colon;
  std::error_code ignored;
  const fs::path opened = fs::current_path(ignored) / (of_file_system ? name.substr(colon + 1) : name);
  const fs::path parent = fs::weakly_canonical(opened.parent_path(), ignored);
  return {opened.string(), (parent / opened.filename()).lexically_normal().string()};
}

bool FilePath::is_below(const std::string& directory) const
{
  return is_prefix(directory, whole) || is_prefix(directory, fs::path(opened).lexically_normal().string());
}

std::string FilePath::shown(const fs::path& start) const
{
  return is_prefix(start.string(), whole) ? fs::path(whole).lexically_relative(start).string() : whole;
}

FileError StoredFile::open(const std::string& path, int mode)
{
  auto flags = static_cast<unsigned>(has_mode(mode, MPI_MODE_RDONLY) ? O_RDONLY : O_RDWR);
  if (has_mode(mode, MPI_MODE_CREATE))
    flags |= static_cast<unsigned>(has_mode(mode, MPI_MODE_EXCL) ? O_CREAT | O_EXCL : O_CREAT);
  path_       = path;
  descriptor_ = open_file(path, flags);
  if (descriptor_ < 0 && errno == EACCES && has_mode(mode, MPI_MODE_WRONLY)) // may be write-only
    descriptor_ = open_file(path, (flags & ~static_cast<unsigned>(O_ACCMODE)) | static_cast<unsigned>(O_WRONLY));
  if (descriptor_ < 0)
    return error_of(errno, path);
  struct stat about{};
  if (::fstat(descriptor_, &about) != 0 || not S_ISDIR(about.st_mode))
    return {MPI_SUCCESS};
  close();
  return error_of(EISDIR, path);
}

void StoredFile::close()
{
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = -1;
}

int StoredFile::resize(std::int64_t size) const
{
  return ::ftruncate(descriptor_, size) == 0 ? MPI_SUCCESS : class_of(errno, path_);
}

std::int64_t StoredFile::size() const
{
  struct stat about{};
  return ::fstat(descriptor_, &about) == 0 ? about.st_size : 0;
}

int StoredFile::write(const Extents& extents, std::span<const std::byte> data) const
{
  return move_extents(descriptor_, extents, data, ::pwrite) >= 0 ? MPI_SUCCESS : class_of(errno, path_);
}

int StoredFile::read(const Extents& extents, std::span<std::byte> data, std::int64_t& bytes) const
{
  bytes = move_extents(descriptor_, extents, data, ::pread);
  return bytes >= 0 ? MPI_SUCCESS : class_of(errno, path_);
}

FileError remove_file(const std::string& path)
{
  return ::unlink(path.c_str()) == 0 ? FileError{MPI_SUCCESS} : error_of(errno, path);
}

} // namespace weft
