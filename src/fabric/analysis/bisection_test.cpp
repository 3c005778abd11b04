// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/bisection.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Returns the bisection of a shipped fabric, in links. */
double links_across(const std::string& name)
{
  const Fabric fabric = Fabric::load(name, {"link.bandwidth=1GBps"});
  return bisection_bandwidth(fabric).value() / 1e9;
}

TEST(Bisection, of_a_star_is_half_its_hosts)
{
  EXPECT_DOUBLE_EQ(links_across("star-8"), 4);
  EXPECT_DOUBLE_EQ(bisection_per_host(Fabric::load("star-8", {"link.bandwidth=1GBps"})).value(), 1e9);
}

TEST(Bisection, of_a_full_fat_tree_is_half_its_hosts)
{
  EXPECT_DOUBLE_EQ(links_across("fat-tree-1024"), 512);
}

TEST(Bisection, of_a_tapered_fat_tree_follows_the_taper)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, R"(kind = "star"
hosts = 4)",
                                           R"(kind = "fat_tree"
down = [4, 2]
up = [1, 1])"));
  EXPECT_DOUBLE_EQ(bisection_bandwidth(fabric).value(), 1e9); // the leaf's only uplink
}

// W. J. Dally, B. Towles: Principles and Practices of Interconnection Networks, 2004, equation 5.3: 2 N / k channels
// in each direction for even k.
TEST(Bisection, of_a_torus_is_that_of_the_literature)
{
  EXPECT_DOUBLE_EQ(links_across("torus-4x4x4x4"), 2 * 256 / 4);
}

TEST(Bisection, of_a_ring_is_two_links)
{
  EXPECT_DOUBLE_EQ(links_across("ring-6"), 2);
}

TEST(Bisection, needs_two_hosts)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, "hosts = 4", "hosts = 1"));
  EXPECT_THROW(static_cast<void>(bisection_bandwidth(fabric)), std::logic_error);
}

} // namespace
} // namespace weft
