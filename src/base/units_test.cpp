#include "base/units.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Units, ReadsSimGridsUnits)
{
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("100Gbps").value(), 12.5e9);
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("1GBps").value(), 1e9);
  EXPECT_DOUBLE_EQ(parse<Seconds>("0.9us").value(), 0.9e-6);
  EXPECT_DOUBLE_EQ(parse<Bytes>("64KiB").value(), 65536);
  EXPECT_DOUBLE_EQ(parse<Bytes>("64 kB").value(), 64000);
  EXPECT_DOUBLE_EQ(parse<FlopsPerSecond>("100Gf").value(), 1e11);
}

TEST(Units, RefusesWhatIsNoQuantityOfTheKind)
{
  for (const char* wrong : {"", "5", "us", "1.2.3us", "5parsec", "5 Gbps x", "nan us", "infus"})
    EXPECT_THROW(parse<Seconds>(wrong), UnitError) << wrong;
  EXPECT_THROW(parse<Bytes>("5us"), UnitError);
}

TEST(Units, MessageNamesWhatWasFoundAndWhatIsAllowed)
{
  try {
    parse<Seconds>("3 fortnights");
    FAIL();
  } catch (const UnitError& error) {
    EXPECT_STREQ(error.what(),
                 "found \"3 fortnights\"; allowed: a duration, a number and one of the units ps, ns, us, ms, s, m");
  }
}

TEST(Units, DimensionsFollowArithmetic)
{
  const Seconds time = Bytes(1000) / BytesPerSecond(500);
  EXPECT_DOUBLE_EQ(time.value(), 2);
  const Bytes size = BytesPerSecond(500) * Seconds(4);
  EXPECT_DOUBLE_EQ(size.value(), 2000);
  const double ratio = Seconds(6) / Seconds(3);
  EXPECT_DOUBLE_EQ(ratio, 2);
}

TEST(Units, TextIsReadableAndReadsBack)
{
  EXPECT_EQ(to_text(Seconds(7.8e-6)), "7.8us");
  EXPECT_EQ(to_text(BytesPerSecond(12.5e9)), "100Gbps");
  EXPECT_EQ(to_text(Bytes(65536)), "64KiB");
  EXPECT_EQ(to_text(FlopsPerSecond(1e11)), "100Gf");
  EXPECT_DOUBLE_EQ(parse<Seconds>(to_text(Seconds(495.5e-9))).value(), 495.5e-9);
}

} // namespace
} // namespace weft
