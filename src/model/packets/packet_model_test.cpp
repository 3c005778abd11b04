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
}

} // namespace
} // namespace weft
