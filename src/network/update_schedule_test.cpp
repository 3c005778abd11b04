// SPDX-License-Identifier: LGPL-2.1-only
#include "network/update_schedule.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr Seconds PACKET(1e-6);
constexpr std::size_t MANY = UpdateSchedule::CROWD + 1;

TEST(UpdateSchedule, NothingWaitsIfItIsExact)
{
  UpdateSchedule updates;
  EXPECT_TRUE(updates.is_exact());
  EXPECT_FALSE(updates.is_paced(MANY));
  EXPECT_FALSE(updates.has_crowd(MANY));
  EXPECT_FALSE(updates.merges(0));
}

TEST(UpdateSchedule, ACrowdIsUpdatedAPartOfItsTimeLater)
{
  UpdateSchedule updates;
  updates.set_resolution({PACKET, true});
  EXPECT_FALSE(updates.is_paced(UpdateSchedule::CROWD));
  ASSERT_TRUE(updates.is_paced(MANY));
  EXPECT_DOUBLE_EQ(updates.end_update(1, 64e-3), 1e-3);
  EXPECT_TRUE(updates.waits(1.0009));
  EXPECT_FALSE(updates.waits(1.001));
  EXPECT_DOUBLE_EQ(updates.end_update(2, 1e-9), PACKET.value()); // not before a packet's transmission time
}

TEST(UpdateSchedule, AResolutionAppliesToFewFlowsToo)
{
  UpdateSchedule updates;
  updates.set_resolution({PACKET, false});
  EXPECT_TRUE(updates.is_paced(1));
  EXPECT_FALSE(updates.has_crowd(1));
  EXPECT_DOUBLE_EQ(updates.end_update(1, 1), PACKET.value());
}

TEST(UpdateSchedule, AnUpdateAppliesFromTheMeanTimeOfWhatHasWaited)
{
  UpdateSchedule updates;
  updates.set_resolution({PACKET, false});
  updates.note_change(3);
  EXPECT_FALSE(updates.begin_update(3).has_value()); // immediate
  updates.note_change(4);
  updates.note_change(6);
  EXPECT_DOUBLE_EQ(updates.begin_update(7).value(), 5);
  EXPECT_FALSE(updates.begin_update(8).has_value());
}

TEST(UpdateSchedule, AnUpdateIsPutOnTheAgendaOnce)
{
  UpdateSchedule updates;
  updates.set_resolution({PACKET, false});
  updates.end_update(1, 0);
  EXPECT_DOUBLE_EQ(updates.to_put_on_agenda().value(), 1 + PACKET.value());
  EXPECT_FALSE(updates.to_put_on_agenda().has_value());
  updates.clear();
  EXPECT_TRUE(updates.to_put_on_agenda().has_value());
}

} // namespace
} // namespace weft
