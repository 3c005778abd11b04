// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/record_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace weft {

void RecordFile::write(const std::function<void(std::ostream&)>& writer) const
{
  const std::string beside = path_ + ".part";
  std::ofstream file(beside);
  writer(file);
  file.close();
  if (not file || std::rename(beside.c_str(), path_.c_str()) != 0) {
    const int error    = errno;
    const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    std::fprintf(stderr, "weft: cannot write the record to %s: %s%s\n", path_.c_str(), std::strerror(error),
                 is_full ? "; free some space, or set TMPDIR to a directory on another disk" : "");
    std::remove(beside.c_str());
    std::fflush(nullptr);
    ::_exit(2);
  }
}

} // namespace weft
