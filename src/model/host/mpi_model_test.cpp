// SPDX-License-Identifier: LGPL-2.1-only
#include "model/host/mpi_model.hpp"

#include "base/share.hpp"
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

TEST(MpiModel, less_than_simgrid_can_tell_is_nothing)
{
  MpiModel model;
  model.send_copy_rate = BytesPerSecond(1e9);
  EXPECT_EQ(model.send_time(Bytes(0.5)).value(), 0);
  EXPECT_DOUBLE_EQ(model.send_time(Bytes(2)).value(), 2e-9);
}

TEST(MpiModel, larger_messages_have_overheads_of_their_own)
{
  MpiModel model = sample();
  MpiOverheads row;
  row.from             = Bytes(256);
  row.send_overhead    = Seconds(5e-6);
  row.send_copy_rate   = BytesPerSecond(1e8);
  row.receive_overhead = Seconds(6e-6);
  model.overheads.push_back(row);
  row      = MpiOverheads{};
  row.from = Bytes(512);
  model.overheads.push_back(row);
  EXPECT_DOUBLE_EQ(model.send_time(Bytes(255)).value(), 2e-6 + 255e-9);
  EXPECT_DOUBLE_EQ(model.send_time(Bytes(256)).value(), 5e-6 + 2.56e-6);
  EXPECT_DOUBLE_EQ(model.receive_time(Bytes(511)).value(), 6e-6);
  EXPECT_EQ(model.send_time(Bytes(1048576)).value(), 0);
  EXPECT_EQ(model.receive_time(Bytes(512)).value(), 0);
}

std::optional<MpiModel> read(const std::string& path)
{
  return read_mpi(OptionTable::read_file(path));
}

TEST(MpiModel, sizes_of_overheads_rise)
{
  const std::string rows = "[mpi]\nsend_overhead = '1us'\n[[mpi.overheads]]\nfrom = '256B'\nsend_overhead = '2us'\n";
  const std::optional<MpiModel> model = read(TestFile(rows).path());
  ASSERT_TRUE(model.has_value());
  EXPECT_DOUBLE_EQ(model->send_time(Bytes(1)).value(), 1e-6);
  EXPECT_DOUBLE_EQ(model->send_time(Bytes(300)).value(), 2e-6);
  EXPECT_EQ(message_about(rows + "[[mpi.overheads]]\nfrom = '256B'\n", read),
            "FILE: [mpi.overheads] from: found \"256B\"; allowed: more than in the [[mpi.overheads]] before, which is "
            "256B");
  EXPECT_EQ(message_about("[mpi]\n[[mpi.overheads]]\nsend_overhead = '2us'\n", read),
            "FILE: [mpi.overheads] from: is missing; it says: smallest message that its keys apply to, instead of "
            "those of [mpi]");
  EXPECT_EQ(message_about("[mpi]\n[[mpi.overheads]]\nfrom = '0B'\n", read),
            "FILE: [mpi.overheads] from: found \"0B\"; allowed: more than zero");
}

TEST(MpiModel, a_preset_gives_what_the_table_does_not)
{
  const std::string preset            = "[mpi]\npreset = 'openmpi-ucx-infiniband'\n";
  const std::optional<MpiModel> whole = read(TestFile(preset).path());
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->preset, "openmpi-ucx-infiniband");
  EXPECT_EQ(whole->overheads.size(), 4U);
  EXPECT_EQ(read(TestFile(preset + "eager_threshold = '1KiB'\n").path())->eager_threshold, Bytes(1024));
  const std::string rows = "[[mpi.overheads]]\nfrom = '256B'\nsend_overhead = '2us'\n";
  EXPECT_EQ(read(TestFile(preset + rows).path())->overheads.size(), 1U);
  EXPECT_EQ(message_about("[mpi]\npreset = 'openmpi-ucx-ro'\n", read),
            "FILE: [mpi] preset: found \"openmpi-ucx-ro\"; did you mean \"openmpi-ucx-roce\"? allowed: " +
                join(list_shared("presets/messages")));
}

} // namespace
} // namespace weft
