// SPDX-License-Identifier: LGPL-2.1-only
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

namespace weft {
namespace {

constexpr double KIBI = 1024.0;

// Names and meanings follow SimGrid's platform files (its documentation, section "Units"): powers of ten, or of two
// with "i"; "bps" counts bits, "Bps" bytes. Each table is in increasing order, as required by to_text().
constexpr std::array SIZE_UNITS{Unit{"B", 1},
                                Unit{"kB", 1e3},
                                Unit{"KiB", KIBI},
                                Unit{"MB", 1e6},
                                Unit{"MiB", KIBI * KIBI},
                                Unit{"GB", 1e9},
                                Unit{"GiB", KIBI * KIBI * KIBI},
                                Unit{"TB", 1e12}};
constexpr std::array TIME_UNITS{Unit{"ps", 1e-12}, Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},
                                Unit{"m", 60},     Unit{"h", 3600},  Unit{"d", 86400}, Unit{"w", 604800}};
constexpr std::array RATE_UNITS{Unit{"bps", 0.125},
                                Unit{"Bps", 1},
                                Unit{"kbps", 125},
                                Unit{"kBps", 1e3},
                                Unit{"Mbps", 125e3},
                                Unit{"MBps", 1e6},
                                Unit{"Gbps", 125e6},
                                Unit{"GBps", 1e9},
                                Unit{"Tbps", 125e9},
                                Unit{"TBps", 1e12},
                                Unit{"KiBps", KIBI},
                                Unit{"MiBps", KIBI * KIBI},
                                Unit{"GiBps", KIBI * KIBI * KIBI}};
constexpr std::array SPEED_UNITS{Unit{"f", 1}, Unit{"kf", 1e3}, Unit{"Mf", 1e6}, Unit{"Gf", 1e9}, Unit{"Tf", 1e12}};
constexpr std::array FREQUENCY_UNITS{Unit{"Hz", 1}, Unit{"kHz", 1e3}, Unit{"MHz", 1e6}, Unit{"GHz", 1e9}};

[[noreturn]] void fail(std::string_view text, std::string_view kind, std::span<const Unit> units)
{
  std::string allowed;
  for (const Unit& unit : units)
    allowed += (allowed.empty() ? "" : ", ") + std::string(unit.name);
  throw UnitError("found \"" + std::string(text) + "\"; allowed: " + std::string(kind) +
                  ", a number and one of the units " + allowed);
}

/** Plausible range of a kind of quantity. Values outside are typos, and would make times overflow. */
struct Range {
  double least; // above zero; zero is always allowed here
  double most;
};
constexpr Range SIZES{0, 9007199254740992.0}; // 2^53: a double represents every whole number up to here
constexpr Range TIMES{1e-15, 1e6};
constexpr Range RATES{0.125, 1e18};
constexpr Range SPEEDS{1, 1e24};
constexpr Range FREQUENCIES{1, 1e15};

/** Returns @p value if it is in @p range. Zero and negative values pass: the key's constraint decides about signs. */
double in_range(std::string_view text, std::string_view kind, double value, Range range, std::span<const Unit> units)
{
  if (value == 0 || (std::abs(value) >= range.least && std::abs(value) <= range.most))
    return value;
  const std::string unit(std::ranges::find(units, 1.0, &Unit::factor)->name);
  std::array<char, 64> bounds{};
  std::snprintf(bounds.data(), bounds.size(), "%g%s to %g%s", range.least, unit.c_str(), range.most, unit.c_str());
  throw UnitError("found \"" + std::string(text) + "\"; allowed: " + std::string(kind) + " of " + bounds.data());
}

double read(std::string_view text, std::string_view kind, std::span<const Unit> units, Range range)
{
  double number         = 0;
  const char* const end = text.data() + text.size();
  auto [rest, error]    = std::from_chars(text.data(), end, number);
  if (error != std::errc())
    fail(text, kind, units);
  while (rest != end && *rest == ' ')
    ++rest;
  const std::string_view name(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& unit : units)
    if (unit.name == name && std::isfinite(number * unit.factor))
      return in_range(text, kind, number * unit.factor, range, units);
  fail(text, kind, units);
}

/** Returns the largest of @p preferred in which the value is at least one. */
std::string write(double value, std::span<const Unit> preferred)
{
  const Unit* best = &preferred.front();
  for (const Unit& unit : preferred)
    if (std::abs(value) >= unit.factor)
      best = &unit;
  std::array<char, 48> number{};
  std::snprintf(number.data(), number.size(), "%.6g", value / best->factor);
  return number.data() + std::string(best->name);
}

} // namespace

template <> Bytes parse<Bytes>(std::string_view text)
{
  const double size  = read(text, "a size", SIZE_UNITS, SIZES);
  const double whole = std::round(size); // "1.005kB" is 1005 except for the last digits
  if (std::abs(size - whole) > std::abs(whole) * 1e-12)
    throw UnitError("found \"" + std::string(text) + "\"; allowed: a whole number of bytes");
  return Bytes(whole);
}
template <> Seconds parse<Seconds>(std::string_view text)
{
  return Seconds(read(text, "a duration", TIME_UNITS, TIMES));
}
template <> BytesPerSecond parse<BytesPerSecond>(std::string_view text)
{
  return BytesPerSecond(read(text, "a bandwidth", RATE_UNITS, RATES));
}
template <> FlopsPerSecond parse<FlopsPerSecond>(std::string_view text)
{
  return FlopsPerSecond(read(text, "a speed", SPEED_UNITS, SPEEDS));
}
template <> Hertz parse<Hertz>(std::string_view text)
{
  return Hertz(read(text, "a frequency", FREQUENCY_UNITS, FREQUENCIES));
}

std::string quantity_example(Bytes)
{
  return "\"256B\"";
}
std::string quantity_example(Seconds)
{
  return "\"0.9us\"";
}
std::string quantity_example(BytesPerSecond)
{
  return "\"100Gbps\"";
}
std::string quantity_example(FlopsPerSecond)
{
  return "\"100Gf\"";
}
std::string quantity_example(Hertz)
{
  return "\"1.8GHz\"";
}

std::string to_text(Bytes size)
{
  static constexpr std::array UNITS{Unit{"B", 1}, Unit{"KiB", KIBI}, Unit{"MiB", KIBI * KIBI},
                                    Unit{"GiB", KIBI * KIBI * KIBI}};
  return write(size.value(), UNITS);
}
std::string to_text(Seconds duration)
{
  static constexpr std::array UNITS{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};
  return write(duration.value(), UNITS);
}
std::string to_text(BytesPerSecond rate)
{
  static constexpr std::array UNITS{Unit{"bps", 0.125}, Unit{"Mbps", 125e3}, Unit{"Gbps", 125e6}};
  return write(rate.value(), UNITS);
}
std::string to_text(FlopsPerSecond speed)
{
  return write(speed.value(), SPEED_UNITS);
}
std::string to_text(Hertz frequency)
{
  return write(frequency.value(), FREQUENCY_UNITS);
}

std::span<const Unit> units_of(Bytes)
{
  return SIZE_UNITS;
}
std::span<const Unit> units_of(Seconds)
{
  return TIME_UNITS;
}
std::span<const Unit> units_of(BytesPerSecond)
{
  return RATE_UNITS;
}
std::span<const Unit> units_of(FlopsPerSecond)
{
  return SPEED_UNITS;
}
std::span<const Unit> units_of(Hertz)
{
  return FREQUENCY_UNITS;
}

std::string grouped(std::int64_t count)
{
  constexpr int GROUP = 3;
  std::string text    = std::to_string(count);
  for (int end = static_cast<int>(text.size()) - GROUP; end > 0; end -= GROUP)
    text.insert(static_cast<std::size_t>(end), 1, ',');
  return text;
}

} // namespace weft
