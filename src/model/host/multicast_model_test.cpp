// SPDX-License-Identifier: LGPL-2.1-only
#include "model/host/multicast_model.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

MulticastModel model_of(const std::string& lines)
{
  return fabric_of(FABRIC + "[multicast]\n" + lines).multicast();
}

std::string message(const std::string& lines)
{
  return fabric_message(FABRIC + "[multicast]\n" + lines);
}

TEST(Multicast, DefaultsToDatagramsOfOneMtu)
{
  const MulticastModel model = fabric_of(FABRIC).multicast();
  EXPECT_EQ(model.transport, Transport::ud);
  EXPECT_EQ(model.chunk, Bytes(4096));
  EXPECT_EQ(model.packet_overhead, Bytes(78));
  EXPECT_EQ(model_of("mtu = '1KiB'").chunk, Bytes(1024));
  EXPECT_EQ(model_of("transport = 'uc'").packet_overhead, Bytes(86));
}

TEST(Multicast, CutsBlocksIntoPackets)
{
  EXPECT_EQ(model_of("").packets(Bytes(1)), 1);
  EXPECT_EQ(model_of("").packets(Bytes(8193)), 3);
  const MulticastModel long_messages = model_of("transport = 'uc'\nmtu = '1KiB'\nchunk = '2500B'");
  EXPECT_EQ(long_messages.packets(Bytes(2500)), 3);
  EXPECT_EQ(long_messages.packets(Bytes(5000)), 6); // each message begins a packet
  EXPECT_EQ(long_messages.packets(Bytes(5001)), 7);
}

TEST(Multicast, ReadsDropRules)
{
  const std::vector<DropRule> drops = model_of("[[multicast.drops]]\nprobability = 0.25\nlink = 'host-*.down'\n"
                                               "[[multicast.drops]]\ncall = 0\nroot = 1\nreceiver = 2\nchunks = [0, 7]")
                                          .drops;
  ASSERT_EQ(drops.size(), 2);
  EXPECT_EQ(drops[0].probability, 0.25);
  EXPECT_EQ(drops[0].link, "host-*.down");
  EXPECT_EQ(drops[0].receiver, -1);
  EXPECT_EQ(drops[1].probability, 1);
  EXPECT_EQ(drops[1].chunks, (std::vector<int>{0, 7}));
}

TEST(Multicast, RefusesWrongValues)
{
  EXPECT_EQ(message("transport = 'rc'"),
            "FILE: [multicast] transport: found \"rc\"; did you mean \"uc\"? allowed: ud, uc");
  EXPECT_EQ(message("chunk = '8KiB'"), "FILE: [multicast] chunk: found \"8KiB\"; allowed with transport \"ud\": at "
                                       "most the mtu, 4KiB; transport \"uc\" allows longer messages");
  EXPECT_EQ(message("chain_map = 'rows'"), "FILE: [multicast] chain_map: found \"rows\"; allowed: ranks, racks, pods");
  EXPECT_EQ(message("chains = 2\nchain_map = 'pods'"),
            "FILE: [multicast] chains: cannot be combined with chain_map \"pods\", which makes as many as there are");
  EXPECT_EQ(message("port_buffer = '1MiB'\nslow_branch = 'pause'"),
            "FILE: [multicast] port_buffer: cannot be combined with slow_branch \"pause\": full ports drop packets, or "
            "pause roots");
  EXPECT_EQ(message("[[multicast.drops]]\nprobability = 1.5"),
            "FILE: [multicast.drops] probability: found 1.5; allowed: 0 to 1");
  EXPECT_NE(message("[[multicast.drops]]\nprobability = -0.5"), "");
  EXPECT_NE(message("chains = 0"), "");
}

} // namespace
} // namespace weft
