// SPDX-License-Identifier: LGPL-2.1-only
#include "model/packets/packet_model.hpp"

#include "base/test_file.hpp"

#include <gtest/gtest.h>
#include <string>

namespace weft {
namespace {

PacketModel packets_of(const std::string& keys)
{
  return read_packets(OptionTable::read_text("[network]\n" + keys, "FILE").table("network"), {"resolution"});
}

std::string packets_problem(const std::string& keys)
{
  return message_of([&keys] { packets_of(keys); });
}

TEST(PacketModel, ReadsItsKeys)
{
  EXPECT_FALSE(packets_of("").carries());
  const PacketModel model = packets_of("model = 'packets'\nresolution = 0\npacket = '16KiB'\nflow_control = 'pfc'\n"
                                       "xoff = '64KiB'\nxon = '32KiB'\ncongestion_control = 'dcqcn'\n"
                                       "[network.dcqcn]\nadditive_increase = '5Mbps'\n");
  EXPECT_TRUE(model.carries());
  EXPECT_EQ(model.packet, Bytes(16384));
  EXPECT_EQ(model.flow_control, FlowControl::pfc);
  EXPECT_TRUE(model.marks());
  EXPECT_FALSE(model.acknowledges());
  EXPECT_DOUBLE_EQ(model.dcqcn.additive_increase.value(), 5e6 / 8);
  EXPECT_TRUE(packets_of("flow_control = 'none'").acknowledges());
  EXPECT_TRUE(packets_of("congestion_control = 'swift'").acknowledges());
  EXPECT_TRUE(packets_of("congestion_control = 'timely'").acknowledges());
}

TEST(PacketModel, NsccChangesDefaults)
{
  const PacketModel model =
      packets_of("flow_control = 'none'\noverflow = 'trim'\ncongestion_control = 'nscc'\n[network.nscc]\neta = 0.3\n");
  EXPECT_TRUE(model.trims() && model.marks() && not model.notifies());
  EXPECT_EQ(model.retransmission, Retransmission::selective);
  EXPECT_EQ(model.ecn_probability, 1);
  EXPECT_EQ(model.nscc.eta, 0.3);
  EXPECT_EQ(packets_of("").ecn_probability, 0.2);
}

TEST(PacketModel, InfinibandReadsItsTable)
{
  const std::string keys  = "congestion_control = 'infiniband'\n[network.infiniband]\nccti_timer = '150us'\n";
  const PacketModel model = packets_of(keys);
  EXPECT_TRUE(model.marks_roots() && model.marks() && model.notifies() && not model.acknowledges());
  EXPECT_EQ(model.infiniband.limit(), 127);
  const InfinibandModel given = packets_of(keys + "cct = '0:0,3:3,0:7'\n").infiniband;
  EXPECT_EQ(given.delays, (std::vector<double>{0, 0.375, 7}));
  EXPECT_EQ(given.limit(), 2);
  EXPECT_EQ(packets_of(keys + "ccti_limit = 1\ncct = '0:0,3:3,0:7'\n").infiniband.limit(), 1);
}

TEST(PacketModel, InfinibandRefusesWhatContradictsItself)
{
  const std::string control = "congestion_control = 'infiniband'\n";
  const auto refused        = [](const std::string& keys, const std::string& why) {
    EXPECT_NE(packets_problem(keys).find(why), std::string::npos) << packets_problem(keys);
  };
  refused(control, "[network.infiniband] ccti_timer: is missing");
  for (const std::string other : {"pfc", "none"})
    refused("flow_control = '" + other + "'\n" + control,
            "[network] congestion_control: found \"infiniband\" with flow_control = \"" + other +
                "\"; allowed: flow_control = \"credits\", or another congestion control");
  const std::string table = "[network.infiniband]\n";
  refused(table + "threshold = 16", "[network.infiniband] threshold: found 16; allowed: 0 to 15");
  refused(table + "ccti_limit = 128", "ccti_limit: found 128, but the last entry of cct is 127");
  refused(table + "ccti_min = 128", "ccti_min: found 128, which is more than ccti_limit (127)");
  refused(table + "cct = '0:0'", "cct: found \"0:0\", which has fewer than two entries");
  for (const std::string entry : {"4:1", "0:16384", "0:-1", "1", "0:1x", ""})
    refused(table + "cct = '0:0," + entry + ",0:1'", "cct: found \"" + entry + "\" in entry 1; allowed: shift:");
}

TEST(PacketModel, RefusesWhatContradictsItself)
{
  const auto refused = [](const std::string& keys, const std::string& why) {
    EXPECT_NE(packets_problem(keys).find(why), std::string::npos) << packets_problem(keys);
  };
  refused("buffer = '1kB'", "[network] buffer: found \"1kB\", which is less than a packet (4KiB)");
  refused("flow_control = 'pfc'\nxoff = '32KiB'\nxon = '64KiB'", "[network] xon: found \"64KiB\", which is more than");
  refused("flow_control = 'pfc'\nxoff = '32KiB'", "[network] xoff: found without xon");
  refused("congestion_control = 'dcqcn'\necn_min = '4KiB'", "ecn_min: found alone");
  refused("congestion_control = 'dcqcn'\necn_min = '4KiB'\necn_max = '1KiB'", "[network] ecn_min: found \"4KiB\"");
  refused("[network.swift]\nbeta = 1.5", "[network.swift] beta");
  refused("flow_control = 'drops'", "credits");
  refused("overflow = 'trim'", "[network] overflow: found \"trim\" with flow_control = \"credits\"");
  const std::string trims = "flow_control = 'none'\noverflow = 'trim'\n";
  const std::string nscc  = "congestion_control = 'nscc'\n";
  refused(trims + "retransmission = 'go-back-n'", "retransmission: found \"go-back-n\" with overflow = \"trim\"");
  refused(nscc, "[network] congestion_control: found \"nscc\" with overflow = \"drop\"; allowed: overflow = \"trim\"");
  refused(
      trims + nscc + "buffer = '40KiB'\necn_min = '40KiB'\necn_max = '48KiB'",
      "[network] ecn_min: found \"40KiB\", above which no queue gets with buffer = \"40KiB\"; allowed: less than that");
  refused(trims + nscc + "ecn_probability = 0",
          "[network] ecn_probability: found 0 with congestion_control = \"nscc\"");
  refused("[network.timely]\nlow = '1ms'", "[network.timely] low: found \"1ms\", which is more than high (500us)");
  refused("[network.nscc]\ngamma = 1.5", "[network.nscc] gamma");
}

} // namespace
} // namespace weft
