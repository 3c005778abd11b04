// SPDX-License-Identifier: LGPL-2.1-only
/* Where a run's record goes. */
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace weft {

class RecordFile {
  std::string path_;

public:
  /** @p path may be empty: no record is wanted. */
  explicit RecordFile(std::string path) : path_(std::move(path)) {}
  bool wanted() const { return not path_.empty(); }
  const std::string& path() const { return path_; }
  /** Have it written by @p writer, so that it is there as a whole or not at all; where that cannot be done, the process
   *  ends and says so. */
  void write(const std::function<void(std::ostream&)>& writer) const;
};

} // namespace weft
