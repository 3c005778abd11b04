// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/deadlock/credit_cycles.hpp"

#include "packets/packet_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

std::string of_kind(const std::string& topology, const std::string& keys = "")
{
  return replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", topology), "max_ports = 8", "max_ports = 64") +
         "[network]\nmodel = \"packets\"\n" + keys;
}

std::vector<LinkId> cycle_of(const Fabric& fabric, bool equal)
{
  return find_credit_cycle(fabric.topology(), fabric.links().size(), equal);
}

std::string packets_message(const Fabric& fabric)
{
  return message_of([&fabric] { check_packets(fabric); });
}

const std::string TREE = "kind = \"fat_tree\"\ndown = [2, 2, 2]\nup = [1, 2, 2]";
const std::string RING = "kind = \"torus\"\ndimensions = [5]";
const std::string MESH = "kind = \"torus\"\ndimensions = [2, 2]";

TEST(CreditCycles, TreesHaveNone)
{
  EXPECT_TRUE(cycle_of(fabric_of(of_kind(TREE)), false).empty());
  EXPECT_TRUE(cycle_of(fabric_of(of_kind(TREE)), true).empty());
  EXPECT_TRUE(cycle_of(packet_star(8, ""), true).empty());
}

TEST(CreditCycles, ARingHasOne)
{
  const Fabric fabric             = fabric_of(of_kind(RING));
  const std::vector<LinkId> cycle = cycle_of(fabric, false);
  ASSERT_EQ(cycle.size(), 5U); // around it
  for (std::size_t at = 0; at < cycle.size(); ++at)
    EXPECT_EQ(fabric.link(cycle[at]).to, fabric.link(cycle[(at + 1) % cycle.size()]).from);
  const std::string message = packets_message(fabric);
  EXPECT_NE(message.find("[network] flow_control: found \"credits\", with which routes can deadlock"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(fabric.link(cycle.front()).name + ", "), std::string::npos) << message;
}

TEST(CreditCycles, DimensionOrderWithoutLongRingsHasNone)
{
  EXPECT_TRUE(cycle_of(fabric_of(of_kind(MESH)), false).empty());
  EXPECT_EQ(packets_message(fabric_of(of_kind(MESH))), "");
}

TEST(CreditCycles, LostPacketsCannotDeadlock)
{
  EXPECT_EQ(packets_message(fabric_of(of_kind(RING, "flow_control = 'none'\n"))), "");
}

TEST(CreditCycles, WhatOnlyFlowsModelIsRefused)
{
  const Fabric fabric = fabric_of(replaced(of_kind(TREE), "[link]\n", "[link]\nsharing = \"host\"\n"));
  EXPECT_NE(packets_message(fabric).find("[network] model: found \"packets\", but [link] sharing = \"host\""),
            std::string::npos)
      << packets_message(fabric);
}

} // namespace
} // namespace weft
