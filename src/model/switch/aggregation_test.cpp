// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/aggregation.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr int JOB = 0;

SwitchModel two_channels()
{
  SwitchModel model;
  model.channels = 2;
  model.slots    = 4;
  model.payload  = Bytes(100);
  return model;
}

class Aggregating : public testing::Test {
protected:
  const SwitchModel model = two_channels();
  Aggregation aggregation{model};

  const SwitchCounters& counters() const { return aggregation.counters(); }
};

TEST_F(Aggregating, CountsNothingAtFirst)
{
  EXPECT_EQ(counters().offloaded, 0);
  EXPECT_EQ(counters().packets_reduced, 0);
  EXPECT_EQ(counters().bytes_reduced, 0);
  EXPECT_EQ(counters().bytes_multicast, 0);
  EXPECT_EQ(counters().slots_used_max, 0);
  EXPECT_EQ(counters().channels_used_max, 0);
  EXPECT_EQ(&aggregation.model(), &model);
}

TEST_F(Aggregating, ChannelsRunOut)
{
  EXPECT_TRUE(aggregation.acquire_channel(-1, JOB));
  EXPECT_TRUE(aggregation.acquire_channel(7, JOB));
  EXPECT_FALSE(aggregation.acquire_channel(8, JOB));
  EXPECT_EQ(counters().channels_used_max, 2);
}

TEST_F(Aggregating, AChannelThatIsHeldIsGivenAgain)
{
  EXPECT_TRUE(aggregation.acquire_channel(1, JOB));
  EXPECT_TRUE(aggregation.acquire_channel(1, JOB));
  EXPECT_EQ(counters().channels_used_max, 1);
  EXPECT_TRUE(aggregation.acquire_channel(2, JOB));
  EXPECT_TRUE(aggregation.acquire_channel(1, JOB)); // no channel is free; this communicator holds one
}

TEST_F(Aggregating, AskingForAChannelTakesNone)
{
  EXPECT_EQ(aggregation.channel_for(1, JOB), ChannelGrant::granted);
  EXPECT_EQ(counters().channels_used_max, 0);
  aggregation.acquire_channel(1, JOB);
  aggregation.acquire_channel(2, JOB);
  EXPECT_EQ(aggregation.channel_for(1, JOB), ChannelGrant::granted);
  EXPECT_EQ(aggregation.channel_for(3, JOB), ChannelGrant::all_taken);
}

TEST(ChannelSharing, AQuotaLimitsEachJob)
{
  SwitchModel model     = two_channels();
  model.channels        = 4;
  model.channel_sharing = ChannelSharing::quota;
  model.job_channels    = 2;
  Aggregation aggregation(model);
  EXPECT_TRUE(aggregation.acquire_channel(1, 0));
  EXPECT_TRUE(aggregation.acquire_channel(2, 0));
  EXPECT_EQ(aggregation.channel_for(3, 0), ChannelGrant::over_quota);
  EXPECT_EQ(aggregation.channel_for(2, 0), ChannelGrant::granted); // communicator 2 holds one
  EXPECT_TRUE(aggregation.acquire_channel(4, 1));
  EXPECT_TRUE(aggregation.acquire_channel(5, 2));
  EXPECT_EQ(aggregation.channel_for(6, 2), ChannelGrant::all_taken);
  aggregation.release_channel(1);
  EXPECT_TRUE(aggregation.acquire_channel(3, 0));
}

TEST(ChannelSharing, OneJobLocksTheSwitch)
{
  SwitchModel model     = two_channels();
  model.channel_sharing = ChannelSharing::exclusive;
  Aggregation aggregation(model);
  EXPECT_TRUE(aggregation.acquire_channel(1, 0));
  EXPECT_EQ(aggregation.channel_for(2, 1), ChannelGrant::locked);
  EXPECT_TRUE(aggregation.acquire_channel(3, 0));
  EXPECT_EQ(aggregation.channel_for(4, 0), ChannelGrant::all_taken);
  aggregation.release_channel(1);
  EXPECT_EQ(aggregation.channel_for(2, 1), ChannelGrant::locked);
  aggregation.release_channel(3);
  EXPECT_TRUE(aggregation.acquire_channel(2, 1));
  EXPECT_EQ(aggregation.channel_for(1, 0), ChannelGrant::locked);
}

TEST(ChannelSharing, AReservationLastsAsLongAsTheJob)
{
  SwitchModel model     = two_channels();
  model.channels        = 5; // two jobs with two channels each, and one channel left over
  model.channel_sharing = ChannelSharing::reserved;
  model.job_channels    = 2;
  Aggregation aggregation(model);
  EXPECT_TRUE(aggregation.acquire_channel(1, 0));
  EXPECT_TRUE(aggregation.acquire_channel(2, 1));
  EXPECT_EQ(aggregation.channel_for(3, 2), ChannelGrant::reserved);
  EXPECT_TRUE(aggregation.acquire_channel(4, 1));
  EXPECT_EQ(aggregation.channel_for(5, 1), ChannelGrant::over_quota);
  aggregation.release_channel(1);
  EXPECT_EQ(aggregation.channel_for(3, 2), ChannelGrant::reserved);
  aggregation.release_job(0);
  EXPECT_TRUE(aggregation.acquire_channel(3, 2));
  EXPECT_EQ(aggregation.channel_for(1, 0), ChannelGrant::reserved);
}

TEST(ChannelSharing, PacketsShareOnePoolOfSlots)
{
  SwitchModel model     = two_channels(); // 8 slots
  model.channel_sharing = ChannelSharing::best_effort;
  Aggregation aggregation(model);
  for (int communicator = 0; communicator < 5; ++communicator)
    EXPECT_TRUE(aggregation.acquire_channel(communicator, communicator));
  EXPECT_EQ(aggregation.taken(), 0);
  aggregation.begin(Bytes(1000));
  EXPECT_EQ(aggregation.taken(), 0.5);
  aggregation.begin(Bytes(200), 0.5); // it holds 1 of its 2 slots
  EXPECT_EQ(aggregation.taken(), 0.625);
  EXPECT_EQ(aggregation.counters().slots_used_max, 5);
  aggregation.end(Bytes(200), {}, {}, 0.5);
  aggregation.end(Bytes(1000), {}, {});
  EXPECT_EQ(aggregation.taken(), 0);
  EXPECT_EQ(aggregation.counters().packets_reduced, 11);
  EXPECT_EQ(aggregation.counters().packets_passed_on, 1);
  model.total_slots = 16;
  aggregation.begin(Bytes(1000));
  EXPECT_EQ(aggregation.taken(), 0.25);
}

TEST(ChannelSharing, AnIdealSwitchHasMoreSlotsThanAnIntCounts)
{
  SwitchModel model     = two_channels();
  model.channels        = 1000000;
  model.slots           = 1000000;
  model.channel_sharing = ChannelSharing::best_effort;
  Aggregation aggregation(model);
  aggregation.begin(Bytes(1000));
  EXPECT_GT(aggregation.taken(), 0);
  EXPECT_LT(aggregation.taken(), 1e-9);
}

TEST_F(Aggregating, ChannelsHaveSlotsOfTheirOwn)
{
  aggregation.begin(Bytes(1000));
  EXPECT_EQ(aggregation.taken(), 0);
}

TEST(StreamSharing, AJobLocksItsLinks)
{
  SwitchModel model    = two_channels();
  model.stream_sharing = StreamSharing::locked;
  Aggregation aggregation(model);
  aggregation.lock(0, 7);
  EXPECT_TRUE(aggregation.may_stream(0, 7));
  EXPECT_FALSE(aggregation.may_stream(1, 7));
  EXPECT_TRUE(aggregation.may_stream(1, 8));
  aggregation.lock(1, 7); // changes nothing
  EXPECT_TRUE(aggregation.may_stream(0, 7));
  aggregation.release_job(0);
  EXPECT_TRUE(aggregation.may_stream(1, 7));
}

TEST(StreamSharing, LinksOfAllJobsAreNotLocked)
{
  const SwitchModel model = two_channels();
  Aggregation aggregation(model);
  aggregation.lock(0, 7);
  EXPECT_TRUE(aggregation.may_stream(1, 7));
}

TEST_F(Aggregating, AChannelThatIsGivenBackIsFree)
{
  EXPECT_TRUE(aggregation.acquire_channel(1, JOB));
  EXPECT_TRUE(aggregation.acquire_channel(2, JOB));
  aggregation.release_channel(1);
  aggregation.release_channel(1); // no longer holds any
  EXPECT_TRUE(aggregation.acquire_channel(3, JOB));
  EXPECT_FALSE(aggregation.acquire_channel(1, JOB));
  EXPECT_EQ(counters().channels_used_max, 2);
}

TEST_F(Aggregating, ARefusedChannelLeavesTheCountersAlone)
{
  aggregation.acquire_channel(1, JOB);
  aggregation.acquire_channel(2, JOB);
  aggregation.acquire_channel(3, JOB);
  EXPECT_EQ(counters().channels_used_max, 2);
  EXPECT_EQ(counters().offloaded, 0);
}

TEST_F(Aggregating, CountsACollectiveWhenItHasEnded)
{
  aggregation.begin(Bytes(250));
  EXPECT_EQ(counters().offloaded, 0);
  EXPECT_EQ(counters().bytes_reduced, 0);
  EXPECT_EQ(counters().slots_used_max, 3);
  aggregation.end(Bytes(250), Bytes(250) * 8, Bytes(250) * 8);
  EXPECT_EQ(counters().offloaded, 1);
  EXPECT_EQ(counters().packets_reduced, 3);
  EXPECT_EQ(counters().bytes_reduced, 2000);
  EXPECT_EQ(counters().bytes_multicast, 2000);
}

TEST_F(Aggregating, AddsCollectivesUp)
{
  for (int call = 0; call < 3; ++call) {
    aggregation.begin(Bytes(100));
    aggregation.end(Bytes(100), Bytes(100) * 2, Bytes(100) * 2);
  }
  EXPECT_EQ(counters().offloaded, 3);
  EXPECT_EQ(counters().packets_reduced, 3);
  EXPECT_EQ(counters().bytes_reduced, 600);
  EXPECT_EQ(counters().slots_used_max, 1); // one at a time
}

TEST_F(Aggregating, ALongMessageHoldsOneChannelsSlots)
{
  aggregation.begin(Bytes(1e6));
  EXPECT_EQ(counters().slots_used_max, 4);
  aggregation.end(Bytes(1e6), Bytes(1e6) * 2, Bytes(1e6) * 2);
  EXPECT_EQ(counters().packets_reduced, 10'000);
}

TEST_F(Aggregating, CollectivesInFlightHoldTheirSlotsTogether)
{
  aggregation.begin(Bytes(300));
  aggregation.begin(Bytes(200));
  EXPECT_EQ(counters().slots_used_max, 5);
  aggregation.end(Bytes(300), Bytes(300) * 2, Bytes(300) * 2);
  aggregation.begin(Bytes(100));
  EXPECT_EQ(counters().slots_used_max, 5);
  aggregation.end(Bytes(200), Bytes(200) * 2, Bytes(200) * 2);
  aggregation.end(Bytes(100), Bytes(100) * 2, Bytes(100) * 2);
  EXPECT_EQ(counters().offloaded, 3);
}

TEST_F(Aggregating, WhatHasNotBegunCannotEnd)
{
  EXPECT_THROW(aggregation.end(Bytes(1), Bytes(1) * 2, Bytes(1) * 2), std::logic_error);
}

} // namespace
} // namespace weft
