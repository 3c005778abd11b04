// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/file_store.hpp"

#include <smpi/smpi.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

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

/** Descriptor of a file, which it closes. */
class Descriptor {
  int number_;

public:
  Descriptor(const std::string& path, unsigned flags)
      : number_(::open(path.c_str(), static_cast<int>(flags | static_cast<unsigned>(O_CLOEXEC)), 0666))
  {
  }
  Descriptor(const Descriptor&)            = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor()
  {
    if (number_ >= 0)
      ::close(number_);
  }
  operator int() const { return number_; }
};

/** Calls @p move(descriptor, address, bytes, offset), as pread and pwrite, for all extents until one moves nothing.
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

} // namespace

std::string FileStore::path_of(const std::string& name)
{
  // ROMIO's names may begin with the file system, "ufs:out" (MPI 4.1, section 14.2.1: file names are as the
  // implementation has them).
  const auto colon          = name.find(':');
  const bool of_file_system = colon != std::string::npos && colon > 1 && name.find('/') > colon;
  std::string path;
  for (const auto& part :
       std::filesystem::path(of_file_system ? name.substr(colon + 1) : name).lexically_normal().relative_path())
    if (part != ".." && part != "." && not part.empty())
      path += (path.empty() ? "" : "/") + part.string();
  return path;
}

int FileStore::open(const std::string& path, int mode) const
{
  const std::string whole = root_ / path;
  if (path.empty())
    return MPI_ERR_BAD_FILE;
  auto flags = static_cast<unsigned>(has_mode(mode, MPI_MODE_RDONLY) ? O_RDONLY : O_RDWR);
  if (has_mode(mode, MPI_MODE_CREATE)) {
    flags |= static_cast<unsigned>(O_CREAT);
    if (has_mode(mode, MPI_MODE_EXCL))
      flags |= static_cast<unsigned>(O_EXCL);
    // Directories that the program has on the machine that it was written for.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path(), ignored);
  }
  const Descriptor file(whole, flags);
  if (file < 0)
    return class_of(errno, whole);
  struct stat about{};
  return ::fstat(file, &about) == 0 && S_ISDIR(about.st_mode) ? MPI_ERR_BAD_FILE : MPI_SUCCESS;
}

int FileStore::remove(const std::string& path) const
{
  const std::string whole = root_ / path;
  return ::unlink(whole.c_str()) == 0 ? MPI_SUCCESS : class_of(errno, whole);
}

int FileStore::resize(const std::string& path, std::int64_t size) const
{
  const std::string whole = root_ / path;
  return ::truncate(whole.c_str(), size) == 0 ? MPI_SUCCESS : class_of(errno, whole);
}

int FileStore::size(const std::string& path, std::int64_t& into) const
{
  const std::string whole = root_ / path;
  struct stat about{};
  if (::stat(whole.c_str(), &about) != 0)
    return class_of(errno, whole);
  into = about.st_size;
  return MPI_SUCCESS;
}

int FileStore::write(const std::string& path, const Extents& extents, std::span<const std::byte> data) const
{
  if (extents.empty())
    return MPI_SUCCESS;
  const std::string whole = root_ / path;
  const Descriptor file(whole, static_cast<unsigned>(O_WRONLY));
  return file >= 0 && move_extents(file, extents, data, ::pwrite) >= 0 ? MPI_SUCCESS : class_of(errno, whole);
}

int FileStore::read(const std::string& path, const Extents& extents, std::span<std::byte> data,
                    std::int64_t& bytes) const
{
  bytes = 0;
  if (extents.empty())
    return MPI_SUCCESS;
  const std::string whole = root_ / path;
  const Descriptor file(whole, static_cast<unsigned>(O_RDONLY));
  if (file >= 0)
    bytes = move_extents(file, extents, data, ::pread);
  return file >= 0 && bytes >= 0 ? MPI_SUCCESS : class_of(errno, whole);
}

} // namespace weft
