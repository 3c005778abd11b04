// SPDX-License-Identifier: LGPL-2.1-only
#include "base/text_file.hpp"

#include "base/test_file.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

TEST(TextFile, IsReadWhole)
{
  const std::string text(10'000, 'x');
  const TestFile file(text);
  EXPECT_EQ(read_text_file(file.path(), "a text"), text);
}

TEST(TextFile, ThatCannotBeReadSaysWhy)
{
  EXPECT_EQ(message_of([] { read_text_file("/none/at/all", "a text"); }),
            "/none/at/all: cannot be read: No such file or directory");
  EXPECT_EQ(message_of([] { read_text_file("/", "a text"); }), "/: cannot be read: Is a directory");
  EXPECT_EQ(message_of([] { read_text_file("/dev/zero", "a table"); }),
            "/dev/zero: has more than 64 MiB; allowed: a table");
}

TEST(TextFile, IsObservedBeforeItIsRead)
{
  std::vector<std::string> read;
  observe_reads([&read](const std::string& path) { read.push_back(path); });
  const TestFile file("x");
  read_text_file(file.path(), "a text");
  EXPECT_THROW(read_text_file("/none", "a text"), UserError);
  observe_reads({});
  read_text_file(file.path(), "a text");
  EXPECT_EQ(read, (std::vector<std::string>{file.path(), "/none"}));
}

} // namespace
} // namespace weft
