// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_test.hpp"
#include "base/share.hpp"
#include "fabric/analysis/description.hpp"
#include "fabric/route_check.hpp"

#include <cctype>
#include <map>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Fabric, LatencyIsTheSumOfLinksAndSwitches)
{
  const Fabric fabric = fabric_of(FABRIC);
  Route route;
  fabric.route(0, 3, route);
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 2.25e-6);
  route.clear();
  fabric.route(0, 4, route); // the switch is the destination
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 1e-6);
  route.clear();
  fabric.route(4, 2, route);
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 1e-6);
}

TEST(Segments, ApplyFromTheirSizeOn)
{
  const Fabric fabric = fabric_of(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 1\nbandwidth_factor = 2\n"
                                           "[[point_to_point]]\nfrom = '1KiB'\nlatency_factor = 3\n"
                                           "bandwidth_factor = 4\n"
                                           "[[point_to_point]]\nfrom = '1MiB'\nlatency_factor = 5\n"
                                           "bandwidth_factor = 6\n");
  const std::map<double, double> factors{{0, 1},    {1, 1},       {1023, 1},    {1024, 3},
                                         {1025, 3}, {1048575, 3}, {1048576, 5}, {1e15, 5}};
  for (const auto& [size, factor] : factors) {
    EXPECT_EQ(fabric.segment(Bytes(size)).latency_factor, factor) << size;
    EXPECT_EQ(fabric.segment(Bytes(size)).bandwidth_factor, factor + 1) << size;
  }
}

// ---- Shipped fabrics

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, FabricIsReadAndProven)
{
  const Fabric fabric = Fabric::load(GetParam());
  EXPECT_EQ(fabric.name(), GetParam());
  EXPECT_FALSE(fabric.description().empty());
  const std::string proven = check(fabric);
  EXPECT_NE(proven.find("each is connected end to end"), std::string::npos) << proven;
  const std::string text = describe(fabric);
  EXPECT_EQ(text.find(fabric.name() + ": " + fabric.description() + "\n"), 0) << text;
  std::string plain = text; // counts contain commas
  std::erase(plain, ',');
  EXPECT_NE(plain.find(std::to_string(fabric.host_count()) + " hosts"), std::string::npos) << text;
}

TEST_P(Shipped, FabricIsFoundByItsPathToo)
{
  EXPECT_EQ(Fabric::load(*find_shared("fabrics", GetParam())).name(), GetParam());
}

/** Returns the name of a fabric without characters that GoogleTest rejects. */
std::string test_name(const testing::TestParamInfo<std::string>& fabric)
{
  std::string name = fabric.param;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Shipped, testing::ValuesIn(list_shared("fabrics")), test_name);

} // namespace
} // namespace weft
