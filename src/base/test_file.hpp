// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: temporary files, and the texts of errors. */
#pragma once

#include "base/error.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace weft {

/** Temporary file, deleted with the object. */
class TestFile {
  std::string path_;

  /** Returns a unique path; tests run in parallel, each in its own process. */
  static std::string new_path()
  {
    static int count = 0;
    return std::filesystem::temp_directory_path() /
           ("weft-test-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".toml");
  }

public:
  explicit TestFile(std::string_view text) : path_(new_path()) { std::ofstream(path_, std::ios::binary) << text; }
  ~TestFile() { std::filesystem::remove(path_); }
  TestFile(const TestFile&)            = delete;
  TestFile& operator=(const TestFile&) = delete;
  const std::string& path() const { return path_; }
};

/** Returns the error text of the UserError that @p call throws, or "". */
template <class Call> std::string message_of(const Call& call)
{
  try {
    call();
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

/** Returns the error text of the UserError that @p read throws for a file with @p text, with "FILE" for the path. */
template <class Read> std::string message_about(std::string_view text, const Read& read)
{
  const TestFile file(text);
  std::string message = message_of([&] { read(file.path()); });
  if (const std::size_t at = message.find(file.path()); at != std::string::npos)
    message.replace(at, file.path().size(), "FILE");
  return message;
}

} // namespace weft
