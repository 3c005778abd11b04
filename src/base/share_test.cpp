// SPDX-License-Identifier: LGPL-2.1-only
#include "base/share.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Share, FindsWhatItLists)
{
  for (const char* folder : {"fabrics", "presets/host", "presets/nic", "presets/switch"}) {
    const std::vector<std::string> names = list_shared(folder);
    EXPECT_FALSE(names.empty()) << folder;
    for (const std::string& name : names) {
      const std::optional<std::string> path = find_shared(folder, name);
      ASSERT_TRUE(path) << folder << "/" << name;
      EXPECT_EQ(*path, share_directory() + "/" + folder + "/" + name + ".toml");
      EXPECT_TRUE(std::filesystem::is_regular_file(*path));
    }
  }
}

TEST(Share, ListsSortedWithoutTheEnding)
{
  for (const char* folder : {"fabrics", "presets/host", "presets/nic", "presets/switch"})
    EXPECT_TRUE(std::ranges::is_sorted(list_shared(folder))) << folder;
  EXPECT_EQ(std::ranges::count(list_shared("fabrics"), "tofino-4"), 1);
}

TEST(Share, DoesNotFindWhatIsNotThere)
{
  EXPECT_FALSE(find_shared("presets/switch", "no-such-switch"));
  EXPECT_FALSE(find_shared("presets/switch", ""));
  EXPECT_FALSE(find_shared("no-such-folder", "tofino"));
  EXPECT_TRUE(list_shared("no-such-folder").empty());
}

TEST(Share, DoesNotLeaveTheFolder)
{
  ASSERT_TRUE(find_shared("presets/switch", "tofino"));
  EXPECT_FALSE(find_shared("presets/nic", "../switch/tofino"));
  EXPECT_FALSE(find_shared("presets", "switch/tofino"));
}

TEST(Share, MessagesCallShippedFilesByTheirNames)
{
  EXPECT_EQ(name_of_file(*find_shared("fabrics", "tofino-4")), "fabric tofino-4");
  EXPECT_EQ(name_of_file(*find_shared("presets/switch", "tofino")), "switch preset tofino");
  for (const std::string other : {"own.toml", "fabrics/tofino-4.toml", "/tmp/fabrics/tofino-4.toml", ""})
    EXPECT_EQ(name_of_file(other), other);
  EXPECT_EQ(name_of_file(share_directory() + "/fabrics/deeper/own.toml"),
            share_directory() + "/fabrics/deeper/own.toml");
}

} // namespace
} // namespace weft
