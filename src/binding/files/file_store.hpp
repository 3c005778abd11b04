// SPDX-License-Identifier: LGPL-2.1-only
/* Content of MPI's files: files of the machine in the scratch directory of the run. Names that programs use are below
 * that directory, absolute ones too. */
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

class FileStore {
  std::filesystem::path root_;

public:
  explicit FileStore(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  /** Returns the path below the directory of a name, without "." and "..". */
  static std::string path_of(const std::string& name);
  /** Following functions take such paths and return MPI_SUCCESS or the error class of their failure. Opens, creates as
   * the mode (MPI_MODE_…) says. */
  int open(const std::string& path, int mode) const;
  int remove(const std::string& path) const;
  int resize(const std::string& path, std::int64_t size) const;
  int size(const std::string& path, std::int64_t& into) const;
  /** Writes the bytes of @p data to the extents, in their order. */
  int write(const std::string& path, const Extents& extents, std::span<const std::byte> data) const;
  /** Reads the extents up to the end of the file; @p bytes is what was read. */
  int read(const std::string& path, const Extents& extents, std::span<std::byte> data, std::int64_t& bytes) const;
};

} // namespace weft
