// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/record_file.hpp"

#include <cstdio>
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
    std::perror(("weft: the record cannot be written to " + path_).c_str());
    std::remove(beside.c_str());
    std::fflush(nullptr);
    ::_exit(2);
  }
}

} // namespace weft
