// SPDX-License-Identifier: LGPL-2.1-only
#include "network/job_traffic.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(JobTrafficTest, CountsMessagesAndBytesOfEachJob)
{
  JobTraffic traffic({{0, 1}, {2}}, 4, 1000);
  traffic.count_message(0, Bytes(100));
  traffic.count_message(0, Bytes(50));
  traffic.count_bytes(0, 999, Bytes(150));
  traffic.count_bytes(1, 999, Bytes(1));
  EXPECT_EQ(traffic.sent(0).messages, 2);
  EXPECT_EQ(traffic.sent(0).bytes, 150);
  EXPECT_EQ(traffic.sent(1).messages, 0);
  EXPECT_EQ(traffic.bytes_on_link(0, 999), 150);
  EXPECT_EQ(traffic.bytes_on_link(1, 999), 1);
  EXPECT_EQ(traffic.bytes_on_link(0, 998), 0);
  EXPECT_EQ(traffic.bytes_on_link(1, 0), 0);
}

TEST(JobTrafficTest, IgnoresTrafficOfUnknownJobs)
{
  JobTraffic traffic({{0}}, 2, 1);
  traffic.count_message(JobTraffic::UNKNOWN, Bytes(1));
  traffic.count_bytes(JobTraffic::UNKNOWN, 0, Bytes(1));
  traffic.count_bytes(7, 0, Bytes(1));
  EXPECT_EQ(traffic.sent(0).messages, 0);
  EXPECT_EQ(traffic.bytes_on_link(0, 0), 0);
}

TEST(JobTrafficTest, FindsTheJobOfAMessageByItsHosts)
{
  const JobTraffic traffic({{0, 1}, {1, 2}}, 4, 1);
  EXPECT_EQ(traffic.job_between(0, 3), 0);
  EXPECT_EQ(traffic.job_between(3, 2), 1); // a reply from storage
  EXPECT_EQ(traffic.job_between(1, 0), JobTraffic::UNKNOWN);
  EXPECT_EQ(traffic.job_between(3, 3), JobTraffic::UNKNOWN);
  EXPECT_EQ(traffic.job_between(9, 0), 0); // from a switch
}

} // namespace
} // namespace weft
