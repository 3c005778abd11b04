// SPDX-License-Identifier: LGPL-2.1-only
/* Files that ranks have opened, and detection of ranks that destroy data written by another rank. */
#pragma once

#include "binding/file_locks/system_files.hpp"

#include <deque>
#include <map>
#include <simgrid/forward.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace weft {

/** Rank that has opened a file for writing, and the state of the file at that time. */
struct FileWriter {
  off_t size; ///< of the file when the rank opened it
  timespec changed;
  double time;        ///< time at which it was opened, or of a later known write
  std::int64_t calls; ///< calls that the rank had completed by then, by which it may have informed others
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

  /** Records that the current rank has opened a file. @p writes: for writing; @p makes: the call created it. */
  void opens(int descriptor, bool writes, bool makes);
  /** Returns whether no file of this name exists, where that matters. */
  bool is_missing(const char* path) const;
  /** Records that the current rank flushes its buffered data for a file. */
  void writes(int descriptor);
  /** Records that a descriptor no longer refers to its file. */
  void closes(int descriptor);
  /** Prints a note, once per run, if the current rank is about to destroy data written by another rank without an
   * intervening message. @p verb: "empties", for instance. */
  void destroys(const char* path, const char* verb);
  void destroys(int descriptor, const char* verb);

private:
  void note_if_destroyed(const struct stat& file, const std::string& path, const char* verb);
};

} // namespace weft
