// SPDX-License-Identifier: LGPL-2.1-only
/* Destination of a run's record. */
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace weft {

class RecordFile {
  std::string path_;

public:
  /** Creates the destination. @p path is empty if no record is requested. */
  explicit RecordFile(std::string path) : path_(std::move(path)) {}
  bool wanted() const { return not path_.empty(); }
  const std::string& path() const { return path_; }
  /** Writes the file atomically by @p writer. If that fails, prints the reason and ends the process. */
  void write(const std::function<void(std::ostream&)>& writer) const;
};

} // namespace weft
