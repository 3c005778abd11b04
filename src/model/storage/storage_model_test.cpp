// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/storage_model.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

const std::vector<std::string> HOSTS{"node-0", "node-1", "oss-0", "oss-1"};
const std::string RATES = "read_bandwidth = \"2GBps\"\nwrite_bandwidth = \"1GBps\"\n";

Storage read(const std::string& keys)
{
  return read_storage(OptionTable::read_text("[storage]\n" + RATES + keys, "file").table("storage"), HOSTS);
}

std::string problem_of(const std::string& keys)
{
  try {
    read(keys);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(StorageModel, ReadsTargetsOfHosts)
{
  const Storage storage = read("hosts = [\"oss-*\"]\ntargets = 2\nstripe_count = 4\nopen_latency = \"1ms\"");
  EXPECT_EQ(storage.host_of, (std::vector{2, 2, 3, 3}));
  EXPECT_EQ(storage.metadata, 2);
  EXPECT_EQ(storage.model.open_latency, Seconds(1e-3));
  EXPECT_EQ(storage.model.stripe_size, Bytes(1024.0 * 1024));
}

TEST(StorageModel, RefusesWhatCannotBe)
{
  EXPECT_NE(problem_of("").find("hosts"), std::string::npos);
  EXPECT_NE(problem_of("hosts = [\"disk\"]").find("matches no host"), std::string::npos);
  EXPECT_NE(problem_of("hosts = [\"*\"]").find("at least one for ranks"), std::string::npos);
  EXPECT_NE(problem_of("hosts = [\"oss-0\", \"oss-*\"]").find("twice"), std::string::npos);
  EXPECT_NE(problem_of("hosts = [\"oss-0\"]\nstripe_count = 2").find("1 to 1"), std::string::npos);
  EXPECT_NE(problem_of("hosts = [\"oss-0\"]\nspeed = 2").find("speed"), std::string::npos);
}

TEST(DiskModel, TakesAnAbsoluteMount)
{
  const auto disk = [](const std::string& mount) {
    return read_disk(OptionTable::read_text("[disk]\n" + RATES + "mount = \"" + mount + "\"", "file").table("disk"));
  };
  EXPECT_EQ(disk("/local/").mount, "/local");
  EXPECT_THROW(disk("local"), UserError);
}

} // namespace
} // namespace weft
