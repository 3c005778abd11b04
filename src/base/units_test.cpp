// SPDX-License-Identifier: LGPL-2.1-only
#include "base/units.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Units, ReadsSimGridsUnits)
{
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("100Gbps").value(), 12.5e9);
  EXPECT_DOUBLE_EQ(parse<BytesPerSecond>("1GBps").value(), 1e9);
  EXPECT_DOUBLE_EQ(parse<Seconds>("0.9us").value(), 0.9e-6);
  EXPECT_DOUBLE_EQ(parse<Seconds>("2h").value(), 7200);
  EXPECT_DOUBLE_EQ(parse<Seconds>("1.5d").value(), 129600);
  EXPECT_DOUBLE_EQ(parse<Seconds>("1w").value(), 604800);
  EXPECT_DOUBLE_EQ(parse<Bytes>("64KiB").value(), 65536);
  EXPECT_DOUBLE_EQ(parse<Bytes>("64 kB").value(), 64000);
  EXPECT_DOUBLE_EQ(parse<FlopsPerSecond>("100Gf").value(), 1e11);
  EXPECT_DOUBLE_EQ(parse<Hertz>("1.8GHz").value(), 1.8e9);
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
    EXPECT_STREQ(
        error.what(),
        "found \"3 fortnights\"; allowed: a duration, a number and one of the units ps, ns, us, ms, s, m, h, d, w");
  }
}

TEST(Units, RefusesWhatIsNotFinite)
{
  EXPECT_THROW(parse<BytesPerSecond>("1e300TBps"), UnitError);
  EXPECT_THROW(parse<Seconds>("1e999s"), UnitError);
}

TEST(Units, SizesAreWholeBytes)
{
  EXPECT_EQ(parse<Bytes>("1.005kB").value(), 1005); // 1.005 * 1000 is a little less
  EXPECT_EQ(parse<Bytes>("0.5KiB").value(), 512);
  EXPECT_EQ(parse<Bytes>("0B").value(), 0);
  EXPECT_EQ(parse<Bytes>("-4B").value(), -4); // the reader decides which values are allowed
  try {
    parse<Bytes>("0.5B");
    FAIL();
  } catch (const UnitError& error) {
    EXPECT_STREQ(error.what(), "found \"0.5B\"; allowed: a whole number of bytes");
  }
}

TEST(Units, ExamplesAreOfTheirKind)
{
  const auto unquoted = [](const std::string& example) { return example.substr(1, example.size() - 2); };
  EXPECT_GT(parse<Bytes>(unquoted(quantity_example(Bytes()))).value(), 0);
  EXPECT_GT(parse<Seconds>(unquoted(quantity_example(Seconds()))).value(), 0);
  EXPECT_GT(parse<BytesPerSecond>(unquoted(quantity_example(BytesPerSecond()))).value(), 0);
  EXPECT_GT(parse<FlopsPerSecond>(unquoted(quantity_example(FlopsPerSecond()))).value(), 0);
  EXPECT_GT(parse<Hertz>(unquoted(quantity_example(Hertz()))).value(), 0);
}

TEST(Units, DimensionsFollowArithmetic)
{
  Seconds sum = Seconds(1) + Seconds(2) - Seconds(0.5);
  sum += 2.0 * Seconds(1) / 4.0;
  EXPECT_DOUBLE_EQ(sum.value(), 3);
  EXPECT_LT(Bytes(1), Bytes(2));
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
  EXPECT_EQ(to_text(Hertz(1.8e9)), "1.8GHz");
  EXPECT_EQ(to_text(Seconds()), "0ns");
  EXPECT_EQ(to_text(Seconds(-2e-6)), "-2us");
  EXPECT_DOUBLE_EQ(parse<Seconds>(to_text(Seconds(495.5e-9))).value(), 495.5e-9);
}

} // namespace
TEST(Units, ValuesThatNoMachineHasAreRefused)
{
  for (const char* text : {"1e-300s", "1e300s", "1e7s"})
    EXPECT_THROW(parse<Seconds>(text), UnitError) << text;
  for (const char* text : {"1e-300bps", "1e200Gbps"})
    EXPECT_THROW(parse<BytesPerSecond>(text), UnitError) << text;
  EXPECT_THROW(parse<FlopsPerSecond>("1e30Gf"), UnitError);
  EXPECT_THROW(parse<Hertz>("1e30GHz"), UnitError);
  EXPECT_THROW(parse<Bytes>("1e17B"), UnitError);
  EXPECT_EQ(parse<Seconds>("0s"), Seconds());
  try {
    parse<Seconds>("1e300s");
  } catch (const UnitError& error) {
    EXPECT_STREQ(error.what(), "found \"1e300s\"; allowed: a duration of 1e-15s to 1e+06s");
  }
}

TEST(Units, CountsHaveACommaEveryThreeDigits)
{
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(65536), "65,536");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

} // namespace weft
