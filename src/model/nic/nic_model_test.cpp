// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/nic_model.hpp"

#include "base/share.hpp"
#include "base/test_file.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

NicModel read_lines(const std::string& lines)
{
  return read_nic(OptionTable::read_file(TestFile("[nic]\n" + lines).path()).table("nic"));
}

std::string nic_message(const std::string& lines)
{
  return message_about("[nic]\n" + lines,
                       [](const std::string& path) { read_nic(OptionTable::read_file(path).table("nic")); });
}

TEST(Nic, NeedsNoPreset)
{
  const NicModel nic = read_lines("offload_overhead = '2us'\nmessage_gap = '0s'\n");
  EXPECT_EQ(nic.preset, "");
  EXPECT_EQ(nic.offload_overhead, Seconds(2e-6));
  EXPECT_EQ(nic.message_gap, Seconds());
}

TEST(Nic, HasNoCopyRateByDefault)
{
  EXPECT_GT(read_lines("offload_overhead = '2us'\nmessage_gap = '0s'\n").offload_copy_rate, BytesPerSecond(1e300));
  EXPECT_EQ(read_lines("preset = 'connectx-6-dx'\noffload_copy_rate = '5GBps'\n").offload_copy_rate,
            BytesPerSecond(5e9));
}

TEST(Nic, RefusesImpossibleValues)
{
  EXPECT_EQ(nic_message("offload_overhead = '2us'\n"),
            "FILE: [nic] message_gap: is missing; it says: delay of an offloaded call per further rank of the host");
  EXPECT_EQ(nic_message("preset = 'connectx-6-dx'\nmessage_gap = '-1us'\n"),
            "FILE: [nic] message_gap: found \"-1us\"; allowed: zero or more");
  EXPECT_EQ(nic_message("preset = 'connectx-6-dx'\noffload_copy_rate = '0Bps'\n"),
            "FILE: [nic] offload_copy_rate: found \"0Bps\"; allowed: more than zero");
}

TEST(Nic, TablesSetTheCostsOfLargerCalls)
{
  const NicModel nic = read_lines("offload_overhead = '2us'\nmessage_gap = '0s'\npacket_copy_rate = '1GBps'\n"
                                  "[[nic.calls]]\nfrom = '1KiB'\noffload_overhead = '5us'\n"
                                  "[[nic.calls]]\nfrom = '1MiB'\noffload_overhead = '0s'\n"
                                  "offload_copy_rate = '3GBps'\n");
  EXPECT_DOUBLE_EQ(nic.costs(Bytes(1023)).offload_overhead.value(), 2e-6);
  EXPECT_EQ(nic.costs(Bytes(1023)).packet_copy_rate, BytesPerSecond(1e9));
  EXPECT_DOUBLE_EQ(nic.costs(Bytes(1024)).offload_overhead.value(), 5e-6);
  EXPECT_GT(nic.costs(Bytes(1024)).packet_copy_rate, BytesPerSecond(1e300)); // tables do not inherit
  EXPECT_EQ(nic.costs(Bytes(1 << 20)).offload_overhead, Seconds());
  EXPECT_EQ(nic.costs(Bytes(1 << 20)).offload_copy_rate, BytesPerSecond(3e9));
}

TEST(Nic, TablesMustHaveIncreasingSizes)
{
  const std::string calls = "[[nic.calls]]\nfrom = '1KiB'\noffload_overhead = '1us'\n";
  EXPECT_EQ(nic_message("preset = 'connectx-6-dx'\n" + calls + calls),
            "FILE: [nic.calls] from: found \"1KiB\"; allowed: more than in the [[nic.calls]] before, which is 1KiB");
  EXPECT_EQ(
      nic_message("preset = 'connectx-6-dx'\n[[nic.calls]]\noffload_overhead = '1us'\n"),
      "FILE: [nic.calls] from: is missing; it says: smallest call that its keys apply to, instead of those of [nic]");
  EXPECT_EQ(nic_message("preset = 'connectx-6-dx'\n[[nic.calls]]\nfrom = '1KiB'\n"),
            "FILE: [nic.calls] offload_overhead: is missing; it says: host and NIC time per offloaded call");
}

TEST(Nic, RegistersOnlyLargeMemory)
{
  const NicModel nic =
      read_lines("preset = 'connectx-6-dx'\nregistration_rate = '1GBps'\nregistration_from = '1000B'\n");
  EXPECT_EQ(nic.registration(Bytes(999)), Seconds());
  EXPECT_EQ(nic.registration(Bytes(1000)), Seconds(1e-6));
  EXPECT_EQ(read_lines("preset = 'connectx-6-dx'\n").registration(Bytes(1e9)), Seconds());
}

TEST(Nic, RefusesUnknownChoices)
{
  EXPECT_EQ(nic_message("preset = 'connectx-6-dx'\nreduce_scatter = 'ring'\n"),
            "FILE: [nic] reduce_scatter: found \"ring\"; allowed: parts, allreduce");
}

TEST(Nic, ShippedPresetsAreComplete)
{
  for (const std::string& name : list_shared("presets/nic")) {
    const NicModel nic = read_lines("preset = '" + name + "'\n");
    EXPECT_EQ(nic.preset, name);
    EXPECT_LT(nic.offload_overhead, Seconds(1e-4)) << name;
    EXPECT_LT(nic.message_gap, Seconds(1e-4)) << name;
  }
}

// Sources: data/tofino_osu_allreduce_4x1.csv, smallest sizes minus links and switch;
// tofino_micro_allreduce_vs_ranks.csv.
TEST(Nic, ConnectX6HasTheMeasuredOverhead)
{
  const NicModel nic = read_lines("preset = 'connectx-6-dx'\n");
  EXPECT_DOUBLE_EQ(nic.offload_overhead.value(), 1.44e-6);
  EXPECT_DOUBLE_EQ(nic.message_gap.value(), 8.913111e-6 - 7.228587e-6);
}

NicModel read_changed(const std::string& lines, const std::vector<std::string>& changes)
{
  return read_nic(OptionTable::read_file(TestFile("[nic]\n" + lines).path()).changed(changes).table("nic"));
}

// A cost in a file replaces its preset's costs for calls of all sizes.
TEST(Nic, CostsReplaceThoseOfThePresetsCalls)
{
  const NicModel nic = read_lines("preset = 'connectx-6-hdr100'\noffload_overhead = '7us'\n");
  ASSERT_FALSE(nic.calls.empty());
  const NicModel preset = read_lines("preset = 'connectx-6-hdr100'\n");
  for (std::size_t row = 0; row < nic.calls.size(); ++row) {
    EXPECT_EQ(nic.calls[row].offload_overhead, Seconds(7e-6));
    EXPECT_EQ(nic.calls[row].offload_copy_rate, preset.calls[row].offload_copy_rate);
    EXPECT_NE(preset.calls[row].offload_overhead, Seconds(7e-6));
  }
}

// A file's own [[nic.calls]] differ from its [nic]; --set changes all calls.
TEST(Nic, ChangesReachCallsOfAllSizes)
{
  const std::string lines = "offload_overhead = '2us'\nmessage_gap = '0s'\n[[nic.calls]]\nfrom = '1KiB'\n"
                            "offload_overhead = '3us'\noffload_copy_rate = '1GBps'\n";
  EXPECT_EQ(read_lines(lines).calls.front().offload_overhead, Seconds(3e-6));
  const NicModel overhead = read_changed(lines, {"nic.offload_overhead=9us"});
  EXPECT_EQ(overhead.offload_overhead, Seconds(9e-6));
  EXPECT_EQ(overhead.calls.front().offload_overhead, Seconds(9e-6));
  EXPECT_EQ(overhead.calls.front().offload_copy_rate, BytesPerSecond(1e9));
  const NicModel rates = read_changed(lines, {"nic.offload_copy_rate=2GBps", "nic.packet_copy_rate=4GBps"});
  EXPECT_EQ(rates.calls.front().offload_overhead, Seconds(3e-6));
  EXPECT_EQ(rates.calls.front().offload_copy_rate, BytesPerSecond(2e9));
  EXPECT_EQ(rates.calls.front().packet_copy_rate, BytesPerSecond(4e9));
}

TEST(Nic, MayLimitTheNumberOfMessages)
{
  EXPECT_FALSE(read_lines("preset = 'connectx-6-dx'\n").limits_messages());
  const NicModel nic = read_lines("preset = 'connectx-6-dx'\nmessage_rate = '82MHz'\n");
  EXPECT_TRUE(nic.limits_messages());
  EXPECT_EQ(nic.message_rate, Hertz(82e6));
}

} // namespace
} // namespace weft
