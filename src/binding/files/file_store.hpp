// SPDX-License-Identifier: LGPL-2.1-only
/* Content of MPI files: the files of this machine under the program's names, as for open() and fopen(). Ranks therefore
 * see the same files through every interface. */
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

/** Resolution of a program's file name, relative to the current rank's directory. */
struct FilePath {
  std::string opened; ///< absolute, as passed to the system
  std::string whole;  ///< canonical name of the file: without links to directories, "." and ".."

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

  /** Opens, and creates, the file according to the mode (MPI_MODE_…). */
  FileError open(const std::string& path, int mode);
  void close();
  /** The following functions return MPI_SUCCESS or the error class of their failure. */
  int resize(std::int64_t size) const;
  /** Writes the bytes of @p data to the extents, in their order. */
  int write(const Extents& extents, std::span<const std::byte> data) const;
  /** Reads the extents up to the end of the file, and sets @p bytes to the number of bytes read. */
  int read(const Extents& extents, std::span<std::byte> data, std::int64_t& bytes) const;
  std::int64_t size() const;
};

/** Removes a file, which may be open. */
FileError remove_file(const std::string& path);

} // namespace weft
