// SPDX-License-Identifier: LGPL-2.1-only
/* Files that ranks have opened, and what a rank destroys that another has written. */
#pragma once

#include "binding/file_locks/system_files.hpp"

#include <deque>
#include <map>
#include <simgrid/forward.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace weft {

/** Rank that has opened a file for writing, and the file at that time. */
struct FileWriter {
  off_t size; ///< of the file when the rank opened it
  timespec changed;
  double time;        ///< of its opening, or of a later write that is known
  std::int64_t calls; ///< that it had completed then, by which it may have told others
};

struct OpenedFile {
  std::map<aid_t, FileWriter> writers{};
};

class OpenedFiles {
  std::deque<OpenedFile> all_;
  std::map<FileKey, OpenedFile*> by_key_;
  std::vector<OpenedFile*> by_descriptor_;
  bool noted_ = false;

public:
  static OpenedFiles& get();

  /** Notes that the current rank has opened a file. @p writes: for writing; @p makes: the call created it. */
  void opens(int descriptor, bool writes, bool makes);
  /** Returns whether there is no file of a name, as far as that matters here. */
  bool is_missing(const char* path) const;
  /** Notes that the current rank writes what it has buffered for a file. */
  void writes(int descriptor);
  /** Notes that a descriptor will stand for another file. */
  void closes(int descriptor);
  /** Prints a note, once a run, if the current rank is about to destroy what another rank has written, and no message
   * came between. @p verb: "empties", for instance. */
  void destroys(const char* path, const char* verb);
  void destroys(int descriptor, const char* verb);

private:
  void note_if_destroyed(const struct stat& file, const std::string& path, const char* verb);
};

} // namespace weft
