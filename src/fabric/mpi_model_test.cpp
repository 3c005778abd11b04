// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/mpi_model.hpp"

#include "base/test_file.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

MpiModel sample()
{
  MpiModel model;
  model.eager_threshold   = Bytes(1024);
  model.send_overhead     = Seconds(2e-6);
  model.send_copy_rate    = BytesPerSecond(1e9);
  model.receive_overhead  = Seconds(3e-6);
  model.receive_copy_rate = BytesPerSecond(2e9);
  return model;
}

TEST(MpiModel, an_eager_message_is_copied)
{
  EXPECT_DOUBLE_EQ(sample().send_time(Bytes(1000)).value(), 3e-6);
  EXPECT_DOUBLE_EQ(sample().receive_time(Bytes(1000)).value(), 3.5e-6);
}

TEST(MpiModel, rendezvous_begins_at_the_threshold_and_copies_nothing)
{
  EXPECT_DOUBLE_EQ(sample().send_time(Bytes(1023)).value(), 2e-6 + 1023e-9);
  EXPECT_DOUBLE_EQ(sample().send_time(Bytes(1024)).value(), 2e-6);
  EXPECT_DOUBLE_EQ(sample().receive_time(Bytes(1 << 20)).value(), 3e-6);
}

TEST(MpiModel, without_overheads_nothing_is_spent)
{
  EXPECT_EQ(MpiModel{}.send_time(Bytes(1000)).value(), 0);
  EXPECT_EQ(MpiModel{}.receive_time(Bytes(0)).value(), 0);
}

} // namespace
} // namespace weft
