// SPDX-License-Identifier: LGPL-2.1-only
/* Strong types for physical quantities.
 *
 * A Quantity carries its dimension (powers of byte, second and flop) in its type: a size cannot be passed as a
 * duration, and bytes divided by bytes per second are seconds. Values are in base units (bytes, seconds, flops). Files
 * write quantities as strings with SimGrid's units ("100Gbps", "0.9us", "256B", "100Gf"), which parse() reads and
 * to_text() writes.
 */
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

template <int ByteExponent, int SecondExponent, int FlopExponent> class Quantity {
  double value_ = 0.0;

public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  /** Returns the value in base units. */
  constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other)
  {
    value_ += other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.value_ / divisor); }
};

/** Quotient of two quantities; a plain number if their dimensions are equal. */
template <int B1, int S1, int F1, int B2, int S2, int F2>
constexpr auto operator/(Quantity<B1, S1, F1> a, Quantity<B2, S2, F2> b)
{
  if constexpr (B1 == B2 && S1 == S2 && F1 == F2)
    return a.value() / b.value();
  else
    return Quantity<B1 - B2, S1 - S2, F1 - F2>(a.value() / b.value());
}

template <int B1, int S1, int F1, int B2, int S2, int F2>
  requires(B1 + B2 != 0 || S1 + S2 != 0 || F1 + F2 != 0)
constexpr auto operator*(Quantity<B1, S1, F1> a, Quantity<B2, S2, F2> b)
{
  return Quantity<B1 + B2, S1 + S2, F1 + F2>(a.value() * b.value());
}

using Bytes          = Quantity<1, 0, 0>;
using Seconds        = Quantity<0, 1, 0>;
using BytesPerSecond = Quantity<1, -1, 0>;
using FlopsPerSecond = Quantity<0, -1, 1>;
using Hertz          = Quantity<0, -1, 0>;

/** String that is not a quantity of the expected kind; what() gives the string and the allowed units. */
class UnitError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/** Parses a number followed by a unit of @p Q's kind. Throws UnitError. */
template <class Q> Q parse(std::string_view text);
template <> Bytes parse<Bytes>(std::string_view text);
template <> Seconds parse<Seconds>(std::string_view text);
template <> BytesPerSecond parse<BytesPerSecond>(std::string_view text);
template <> FlopsPerSecond parse<FlopsPerSecond>(std::string_view text);
template <> Hertz parse<Hertz>(std::string_view text);

/** Returns an example of the argument's kind as written in files, for error messages. */
std::string quantity_example(Bytes);
std::string quantity_example(Seconds);
std::string quantity_example(BytesPerSecond);
std::string quantity_example(FlopsPerSecond);
std::string quantity_example(Hertz);

/** Formats a quantity in the unit that gives the shortest readable number, e.g. "7.8us". */
std::string to_text(Bytes size);
std::string to_text(Seconds duration);
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond speed);
std::string to_text(Hertz frequency);

/** Unit of a kind of quantity; units_of() lists them by increasing factor. */
struct Unit {
  std::string_view name;
  double factor;
};
std::span<const Unit> units_of(Bytes);
std::span<const Unit> units_of(Seconds);
std::span<const Unit> units_of(BytesPerSecond);
std::span<const Unit> units_of(FlopsPerSecond);
std::span<const Unit> units_of(Hertz);

/** Formats a non-negative count with thousands separators: "65,536". */
std::string grouped(std::int64_t count);

} // namespace weft
