// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/congestion/round_trip.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>
#include <string>

namespace weft {
namespace {

// Links of 1 GB/s and 1 us; switches of 0.25 us.
Seconds round_trip_of(const std::string& topology, const std::string& keys)
{
  return base_round_trip(fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", topology) +
                                   "[network]\nmodel = \"packets\"\npacket = '1000B'\n" + keys));
}

TEST(RoundTrip, IsThatOfTheLongestRoute)
{
  const std::string stored = "switching = 'store-and-forward'\n";
  const std::string star   = "kind = \"star\"\nhosts = 4";
  EXPECT_NEAR(round_trip_of(star, stored).value(), 2 * 2.25e-6 + 2 * 1.064e-6, 1e-15);
  EXPECT_NEAR(round_trip_of(star, "").value(), 2 * 2.25e-6 + 1.064e-6, 1e-15);
  const std::string tree = "kind = \"fat_tree\"\ndown = [2, 2, 4]\nup = [1, 2, 2]";
  EXPECT_NEAR(round_trip_of(tree, stored).value(), 2 * (6e-6 + 5 * 0.25e-6) + 6 * 1.064e-6, 1e-15);
}

TEST(RoundTrip, AFileMayStateIt)
{
  EXPECT_NEAR(round_trip_of("kind = \"star\"\nhosts = 4", "[network.nscc]\nbase_round_trip = '20us'\n").value(), 20e-6,
              1e-15);
}

} // namespace
} // namespace weft
