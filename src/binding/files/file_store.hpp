// SPDX-License-Identifier: LGPL-2.1-only
/* Content of MPI's files: the files of this machine that the program's names mean, as for open() and fopen(). So ranks
 * see one set of files, by whatever interface they look. */
#pragma once

#include "model/storage/extents.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

namespace weft {

/** Thrown if the machine's disk is full. */
class FullDiskError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/** Returns whether a mode (of MPI_File_open) has a flag. */
inline bool has_mode(int mode, int flag)
{
  return (static_cast<unsigned>(mode) & static_cast<unsigned>(flag)) != 0;
}

/** Where a name of the program leads from the current rank's directory. */
struct FilePath {
  std::string opened; ///< absolute, as the system gets it
  std::string whole;  ///< of the same file whatever its name: without links to directories, "." and ".."

  static FilePath of(const std::string& name);
  /** Returns whether the file is below an absolute directory. */
  bool is_below(const std::string& directory) const;
  /** Returns the name for the record: relative to @p start, if the file is below it. */
  std::string shown(const std::filesystem::path& start) const;
};

/** A failure of the system, as an MPI error class with its text; MPI_SUCCESS if there is none. */
struct FileError {
  int code = 0;
  std::string text{};
};

/** Open file of this machine. A descriptor outlives the file's name, which the program may remove or change. Functions
 * throw FullDiskError if the disk is full. */
class StoredFile {
  int descriptor_ = -1;
  std::string path_;

public:
  StoredFile()                             = default;
  StoredFile(const StoredFile&)            = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  ~StoredFile() { close(); }

  /** Opens, and creates, as the mode (MPI_MODE_…) says. */
  FileError open(const std::string& path, int mode);
  void close();
  /** Following functions return MPI_SUCCESS or the error class of their failure. */
  int resize(std::int64_t size) const;
  /** Writes the bytes of @p data to the extents, in their order. */
  int write(const Extents& extents, std::span<const std::byte> data) const;
  /** Reads the extents up to the end of the file; @p bytes is what was read. */
  int read(const Extents& extents, std::span<std::byte> data, std::int64_t& bytes) const;
  std::int64_t size() const;
};

/** Removes a file, which may be open. */
FileError remove_file(const std::string& path);

} // namespace weft
