// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/file/calibration_intervals.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string intervals(const std::string& lines)
{
  return FABRIC + "[calibration.intervals]\n" + lines;
}

TEST(CalibrationIntervals, DoNotChangeTheFabric)
{
  const Fabric fabric = fabric_of(intervals("\"host.copy_rate\" = [\"1GBps\", \"3GBps\"]\n"
                                            "\"mpi.eager_threshold\" = [\"4KiB\", \"4KiB\"]\n"));
  EXPECT_EQ(fabric.host().copy_rate, fabric_of(FABRIC).host().copy_rate);
}

TEST(CalibrationIntervals, MustFitTheKey)
{
  const std::string place = "FILE: [calibration.intervals] host.copy_rate: ";
  const auto message      = [](const std::string& lines) { return fabric_message(intervals(lines)); };
  EXPECT_EQ(message("\"host.copy_rate\" = [\"3GBps\", \"1GBps\"]\n"),
            place + "found [ \"3GBps\", \"1GBps\" ]; allowed: the lower value first, zero or more");
  EXPECT_EQ(message("\"host.copy_rate\" = [\"3GBps\"]\n"),
            place + "found [ \"3GBps\" ]; allowed: two values, as [\"1.9GBps\", \"2.4GBps\"]");
  EXPECT_TRUE(message("\"host.copy_rate\" = [\"3us\", \"4us\"]\n").starts_with(place)) << "not a rate";
  EXPECT_TRUE(message("\"host.copy_rate\" = 3\n").starts_with(place)) << "not a list";
  EXPECT_NE(message("\"host.copyrate\" = [\"1GBps\", \"3GBps\"]\n").find("host.copy_rate"), std::string::npos);
  EXPECT_NE(message("\"fabric.name\" = [\"a\", \"b\"]\n"), "") << "a text has no interval";
  EXPECT_NE(fabric_message(FABRIC + "[calibration]\nfold = 3\n"), "") << "no such part";
}

} // namespace
} // namespace weft
