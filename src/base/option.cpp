// SPDX-License-Identifier: LGPL-2.1-only
#include "base/option.hpp"

#include "base/share.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace weft {

void Allowed::check(const OptionTable& table, const std::string& key, double value) const
{
  if (std::isfinite(value) && (value > 0 || (value == 0 && zero_)) && value <= most_)
    return;
  table.fail(key, "found " + table.found(key) + "; allowed: " + range_in_words() +
                      (std::isfinite(value) ? "" : ", and finite"));
}

void Allowed::check(const OptionTable& table, const std::string& key, const std::string& value) const
{
  if (names_.size() == 1 && value != names_.front())
    table.fail(key, "found \"" + value + "\"; allowed: \"" + names_.front() + "\"");
  if (not names_.empty())
    check_name(table, key, value, names_);
}

Need Need::otherwise(std::string_view what)
{
  Need need;
  need.otherwise_ = what;
  return need;
}

std::string Allowed::range_in_words() const
{
  if (std::isfinite(most_))
    return "0 to " + option_value::text(most_);
  return zero_ ? "zero or more" : "more than zero";
}

std::string Allowed::in_words(const std::string& type) const
{
  if (type != "text" && type != "texts")
    return range_in_words();
  std::string text;
  for (const std::string& name : names_)
    text += (text.empty() ? "" : ", ") + option_value::text(name);
  return text;
}

namespace option_value {

std::string type(const int&)
{
  return "integer";
}
std::string type(const double&)
{
  return "number";
}
std::string type(const Bytes&)
{
  return "size";
}
std::string type(const Seconds&)
{
  return "duration";
}
std::string type(const BytesPerSecond&)
{
  return "bandwidth";
}
std::string type(const FlopsPerSecond&)
{
  return "speed";
}
std::string type(const Hertz&)
{
  return "frequency";
}
std::string type(const std::string&)
{
  return "text";
}
std::string type(const std::vector<int>&)
{
  return "integers";
}
std::string type(const std::vector<std::string>&)
{
  return "texts";
}

std::optional<int> read(const OptionTable& table, Key key, const Allowed& allowed, const int&)
{
  const std::optional<int> value = table.integer(key);
  if (value)
    allowed.check(table, key, static_cast<double>(*value));
  return value;
}

std::optional<double> read(const OptionTable& table, Key key, const Allowed& allowed, const double&)
{
  const std::optional<double> value = table.number(key);
  if (value)
    allowed.check(table, key, *value);
  return value;
}

std::optional<std::string> read(const OptionTable& table, Key key, const Allowed& allowed, const std::string&)
{
  std::optional<std::string> value = table.text(key);
  if (value)
    allowed.check(table, key, *value);
  return value;
}

std::optional<std::vector<int>> read(const OptionTable& table, Key key, const Allowed& allowed, const std::vector<int>&)
{
  std::optional<std::vector<int>> values = table.integers(key);
  for (const int value : values.value_or(std::vector<int>()))
    allowed.check(table, key, static_cast<double>(value));
  return values;
}

std::optional<std::vector<std::string>> read(const OptionTable& table, Key key, const Allowed& allowed,
                                             const std::vector<std::string>&)
{
  std::optional<std::vector<std::string>> values = table.texts(key);
  for (const std::string& value : values.value_or(std::vector<std::string>()))
    allowed.check(table, key, value);
  return values;
}

namespace {

/** Formats a default: zero in its base unit, infinity as "no limit". */
template <class Q> std::string quantity_text(Q value, const std::string& base_unit)
{
  if (value == Q())
    return "0" + base_unit;
  return std::isinf(value.value()) ? "unlimited" : to_text(value);
}

} // namespace

bool is_plain(const std::string& text)
{
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && not text.empty() &&
         text.find_first_not_of("0123456789.eE+-") == text.npos;
}

void refuse(const std::string& text, const std::string& allowed)
{
  throw std::runtime_error("found \"" + text + "\"; allowed: " + allowed);
}

void parse(const std::string& text, int& into)
{
  const bool digits = not text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  if (not digits || std::stoi(text) == 0)
    refuse(text, "an integer above zero");
  into = std::stoi(text);
}

void parse(const std::string& text, std::string& into)
{
  into = text;
}

std::string text(int value)
{
  return std::to_string(value);
}

std::string text(double value)
{
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%g", value);
  return number.data();
}

std::string text(Bytes value)
{
  const std::string units = quantity_text(value, "B");
  const bool exact        = units.find('.') == std::string::npos;
  return exact ? units : std::to_string(static_cast<std::int64_t>(value.value())) + "B";
}

std::string text(Seconds value)
{
  return quantity_text(value, "s");
}
std::string text(BytesPerSecond value)
{
  return quantity_text(value, "bps");
}
std::string text(FlopsPerSecond value)
{
  return quantity_text(value, "f");
}
std::string text(Hertz value)
{
  return quantity_text(value, "Hz");
}

std::string text(const std::string& value)
{
  return value.empty() ? "" : '"' + value + '"';
}

std::string text(const std::vector<int>& values)
{
  std::string list;
  for (const int value : values)
    list += (list.empty() ? "" : ", ") + text(value);
  return "[" + list + "]";
}

std::string text(const std::vector<std::string>& values)
{
  std::string list;
  for (const std::string& value : values)
    list += (list.empty() ? "" : ", ") + text(value);
  return "[" + list + "]";
}

} // namespace option_value

namespace {

std::string said(const MissingKey& key)
{
  return "; it says: " + key.meaning;
}

} // namespace

void fail_missing(const OptionTable& table, const std::vector<MissingKey>& missing)
{
  if (missing.empty())
    return;
  std::string text = table.place(missing.front().key) + ": is missing" + said(missing.front());
  for (std::size_t k = 1; k < missing.size(); ++k)
    text += "; " + missing[k].key + " is missing too" + said(missing[k]);
  throw MissingError(on_one_line(std::move(text)));
}

OptionTable read_preset(const OptionTable& table, const std::string& kind, const std::string& name)
{
  const std::string folder = "presets/" + kind;
  if (const std::optional<std::string> path = find_shared(folder, name))
    return OptionTable::read_file(*path);
  const std::vector<std::string> known = list_shared(folder);
  table.fail("preset", "found \"" + name + "\"; " + did_you_mean(name, known) + "allowed: " + join(known));
}

} // namespace weft
