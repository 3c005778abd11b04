// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/switch_model.hpp"

#include "base/test_file.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

const std::string SWITCH = R"([switch]
max_ports = 8
forwarding_latency = "50ns"
[switch.forwarding]
)";
const std::string CACHE  = R"(kind = "cache"
hit_latency = "1ns"
tcam_latency = "10ns"
)";

SwitchModel switch_of(const std::string& forwarding)
{
  return read_switch(OptionTable::read_file(TestFile(SWITCH + forwarding).path()).table("switch"));
}

std::string refusal(const std::string& forwarding)
{
  const std::string message = message_about(
      SWITCH + forwarding, [](const std::string& path) { read_switch(OptionTable::read_file(path).table("switch")); });
  return message.substr(std::min(message.size(), std::string("FILE: [switch.forwarding] ").size()));
}

TEST(Forwarding, AddsLookupLatencyToHopLatency)
{
  EXPECT_DOUBLE_EQ(switch_of("kind = \"tcam\"\ntcam_latency = \"10ns\"").hop_latency().value(), 60e-9);
  EXPECT_DOUBLE_EQ(switch_of(CACHE).hop_latency().value(), 51e-9);
}

TEST(Forwarding, DefaultsToTheCacheOfThePaper)
{
  const ForwardingModel model = switch_of(CACHE).forwarding;
  EXPECT_EQ(model.shape().entries, 2048);
  EXPECT_EQ(model.shape().ways, 4);
  EXPECT_EQ(model.shape().replacement, Replacement::lru);
  EXPECT_EQ(model.hash, "auto");
}

TEST(Forwarding, OverridesSingleValuesOfAPreset)
{
  const TestFile file("[switch]\npreset = \"cache\"\n[switch.forwarding]\nentries = 64\n");
  const ForwardingModel model = read_switch(OptionTable::read_file(file.path()).table("switch")).forwarding;
  EXPECT_EQ(model.entries, 64);
  EXPECT_DOUBLE_EQ(model.miss_penalty().value(), 10e-9);
}

TEST(Forwarding, AKindReplacesThePreset)
{
  const TestFile file("[switch]\npreset = \"cache\"\n[switch.forwarding]\nkind = \"tcam\"\ntcam_latency = \"9ns\"\n");
  const SwitchModel model = read_switch(OptionTable::read_file(file.path()).table("switch"));
  EXPECT_DOUBLE_EQ(model.hop_latency().value(), 59e-9);
  EXPECT_EQ(model.forwarding.interval, Seconds());
}

TEST(Forwarding, PresetsHaveTheLatenciesOfThePaper)
{
  EXPECT_DOUBLE_EQ(find_switch_preset("tcam")->hop_latency().value(), 60e-9);
  EXPECT_DOUBLE_EQ(find_switch_preset("cache")->hop_latency().value(), 51e-9);
}

TEST(Forwarding, RefusesKeysOfTheOtherKind)
{
  EXPECT_EQ(refusal("tcam_latency = \"1ns\""), "kind: is missing; it says: " + forwarding_options().front().meaning);
  EXPECT_EQ(refusal("kind = \"cam\"\ntcam_latency = \"1ns\""),
            "kind: found \"cam\"; did you mean \"tcam\"? allowed: tcam, cache");
  EXPECT_EQ(refusal("kind = \"cache\"\ntcam_latency = \"1ns\""), "hit_latency: is missing; kind = \"cache\" needs it");
  EXPECT_EQ(refusal("kind = \"tcam\"\ntcam_latency = \"1ns\"\nways = 2"),
            "ways: found 2; allowed only with kind = \"cache\"; leave it out");
  EXPECT_EQ(refusal(CACHE + "entries = 2048\nways = 3"),
            "ways: found 3 ways of 2048 entries; allowed: ways that divide the entries");
  EXPECT_EQ(refusal(CACHE + "replacement = \"lfu\""),
            "replacement: found \"lfu\"; did you mean \"lru\"? allowed: lru, fifo, random");
  EXPECT_EQ(refusal(CACHE + "hash = \"crc32\""),
            "hash: found \"crc32\"; allowed: auto, crc, cube, fat_tree, dragonfly");
}

// ---- Line rate: figures of Hirasawa et al. (CLUSTER 2021)

constexpr Bytes SHORTEST(84); // the shortest frame, 64 B, with preamble and inter-frame gap
constexpr Bytes LONGEST(1518);

double gbps(Seconds interval, Bytes frame)
{
  return line_rate(interval, frame).value() * 8e-9;
}

TEST(LineRate, TcamFiguresOfThePaper)
{
  EXPECT_DOUBLE_EQ(gbps(lookup_interval(Seconds(4e-9), 1), SHORTEST), 168);
  EXPECT_NEAR(gbps(lookup_interval(Seconds(4e-9), 1), LONGEST), 3.0e3, 0.05e3);
  EXPECT_NEAR(gbps(lookup_interval(Seconds(4e-9), 1), Bytes(1024)), 2.0e3, 0.05e3);
}

TEST(LineRate, CacheFiguresOfThePaper)
{
  EXPECT_DOUBLE_EQ(gbps(lookup_interval(Seconds(2e-9), 1), SHORTEST), 336); // second-level cache
  EXPECT_DOUBLE_EQ(gbps(lookup_interval(Seconds(2e-9), 2), SHORTEST), 672); // pipelined in two stages
  EXPECT_NEAR(gbps(lookup_interval(Seconds(0.41e-9), 1), SHORTEST), 1.64e3, 0.005e3);
  EXPECT_NEAR(gbps(lookup_interval(Seconds(3 * 0.72e-9), 3), SHORTEST), 933, 0.5);
}

TEST(LineRate, LooksUpEachFrameOfAMessage)
{
  ForwardingModel model;
  EXPECT_EQ(packets_of(model, Bytes(1)), 1);
  EXPECT_EQ(packets_of(model, Bytes(1518)), 1);
  EXPECT_EQ(packets_of(model, Bytes(1519)), 2);
}

} // namespace
} // namespace weft
