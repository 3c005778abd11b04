// SPDX-License-Identifier: LGPL-2.1-only
/* Declarations of the keys of a table in an option file, one row per key.
 *
 * A row binds a key to a member of an options struct, and states its meaning, whether it is required, and its allowed
 * values. The member determines the type, and its initial value is the default. The reader, its error messages, the
 * help and the reference in docs/ are derived from the rows.
 *
 * A table may name a preset (`preset = "tofino"`): a file with the same keys, which is read first. Keys in the table
 * override the preset.
 */
#pragma once

#include "base/named.hpp"
#include "base/option_file.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weft {

/** Presence of a key: required, or optional with the meaning of an absent key. */
class Need {
  bool required_ = false;
  std::string otherwise_;

public:
  // Lower case, since they read as words in the rows. Their strings are empty: nothing is allocated at start-up.
  // NOLINTBEGIN(readability-identifier-naming,bugprone-throwing-static-initialization)
  static const Need required;
  static const Need optional; ///< the member's default applies and needs no description
  // NOLINTEND(readability-identifier-naming,bugprone-throwing-static-initialization)
  /** Optional, with a description of the default if its value is not self-explanatory: "unlimited". */
  static Need otherwise(std::string_view what);
  bool is_required() const { return required_; }
  /** Returns the description of the default; empty if the value needs none. */
  const std::string& otherwise() const { return otherwise_; }
};

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-throwing-static-initialization)
inline const Need Need::required = [] {
  Need need;
  need.required_ = true;
  return need;
}();
inline const Need Need::optional{}; // NOLINT(readability-identifier-naming)

/** Constraint on the values of a key. */
class Allowed {
  bool zero_   = false; // numbers and quantities: allows zero; applies to each element of a list
  double most_ = std::numeric_limits<double>::infinity();
  std::vector<std::string> names_; // strings: the allowed values; empty: any

public:
  // NOLINTBEGIN(readability-identifier-naming): read as words in the rows, like those of Need
  static const Allowed positive; ///< numbers above zero; any string
  static const Allowed non_negative;
  // NOLINTEND(readability-identifier-naming)
  /** Allows zero to @p most. */
  static Allowed up_to(double most)
  {
    Allowed allowed;
    allowed.zero_ = true;
    allowed.most_ = most;
    return allowed;
  }
  static Allowed one_of(std::vector<std::string> names)
  {
    Allowed allowed;
    allowed.names_ = std::move(names);
    return allowed;
  }
  const std::vector<std::string>& names() const { return names_; }
  /** Returns the range of numbers as text: "more than zero". */
  std::string range_in_words() const;
  /** Returns the constraint as text for values of option type @p type: "more than zero"; empty if there is none. */
  std::string in_words(const std::string& type) const;
  /** Throws UserError unless @p value, found at @p key, is allowed. */
  void check(const OptionTable& table, const std::string& key, double value) const;
  void check(const OptionTable& table, const std::string& key, const std::string& value) const;
};

inline const Allowed Allowed::positive{}; // NOLINT(readability-identifier-naming)
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-throwing-static-initialization)
inline const Allowed Allowed::non_negative = Allowed::up_to(std::numeric_limits<double>::infinity());

/** Row of a schema as text, for help and documentation. */
struct OptionHelp {
  std::string key;
  std::string type;
  std::string meaning;
  bool required = false;
  std::string otherwise{};          ///< meaning of an absent key; empty for required keys
  std::string allowed{};            ///< constraint as text; empty if all values of the type are allowed
  std::vector<std::string> names{}; ///< strings: the allowed values; empty: any
};

/* Name, reader and text form of each type that a member can have. The last argument only selects the overload. */
namespace option_value {
std::string type(const int&);
std::string type(const double&);
std::string type(const Bytes&);
std::string type(const Seconds&);
std::string type(const BytesPerSecond&);
std::string type(const FlopsPerSecond&);
std::string type(const Hertz&);
std::string type(const std::string&);
std::string type(const std::vector<int>&);
std::string type(const std::vector<std::string>&);
template <Named E> std::string type(const E&)
{
  return type(std::string());
}

using Key = const std::string&;
std::optional<int> read(const OptionTable& table, Key key, const Allowed& allowed, const int&);
std::optional<double> read(const OptionTable& table, Key key, const Allowed& allowed, const double&);
std::optional<std::string> read(const OptionTable& table, Key key, const Allowed& allowed, const std::string&);
std::optional<std::vector<int>> read(const OptionTable& table, Key key, const Allowed& allowed,
                                     const std::vector<int>&);
std::optional<std::vector<std::string>> read(const OptionTable& table, Key key, const Allowed& allowed,
                                             const std::vector<std::string>&);
template <int B, int S, int F>
std::optional<Quantity<B, S, F>> read(const OptionTable& table, Key key, const Allowed& allowed,
                                      const Quantity<B, S, F>&)
{
  const auto value = table.quantity<Quantity<B, S, F>>(key);
  if (value)
    allowed.check(table, key, value->value());
  return value;
}
template <Named E> std::optional<E> read(const OptionTable& table, Key key, const Allowed& allowed, const E&)
{
  const std::optional<std::string> name = read(table, key, allowed, std::string());
  return name ? find_named<E>(*name) : std::nullopt;
}

std::string text(int value);
std::string text(double value);
std::string text(Bytes value);
std::string text(Seconds value);
std::string text(BytesPerSecond value);
std::string text(FlopsPerSecond value);
std::string text(Hertz value);
std::string text(const std::string& value);
std::string text(const std::vector<int>& values);
std::string text(const std::vector<std::string>& values);
template <Named E> std::string text(E value)
{
  return text(std::string(to_text(value)));
}

/* Values that are written as plain text, without the types of option files. Numbers of quantities without a unit are in
 * base units. Throw std::runtime_error with what was found and what is allowed. */
void parse(const std::string& text, int& into);
void parse(const std::string& text, std::string& into);
/** Returns whether @p text is a number without a unit. */
bool is_plain(const std::string& text);
/** Throws std::runtime_error with "found "TEXT"; allowed: ALLOWED". */
[[noreturn]] void refuse(const std::string& text, const std::string& allowed);
template <int B, int S, int F> void parse(const std::string& text, Quantity<B, S, F>& into)
{
  using Q = Quantity<B, S, F>;
  into    = is_plain(text) ? Q(std::stod(text)) : weft::parse<Q>(text);
  if (into < Q())
    refuse(text, "zero or more");
}
template <Named E> void parse(const std::string& text, E& into)
{
  const std::optional<E> value = find_named<E>(text);
  if (not value)
    refuse(text, join(names_of<E>()));
  into = *value;
}

/** Value without a unit: quantities in base units, named values by their names. */
using Plain = std::variant<int, double, std::string, std::vector<int>, std::vector<std::string>>;
template <class V> Plain plain(const V& value)
{
  if constexpr (Named<V>)
    return std::string(to_text(value));
  else if constexpr (requires { value.value(); })
    return value.value();
  else
    return value;
}
} // namespace option_value

/** Row of a schema: a key of a table, its meaning, and the member of @p T that it sets. */
template <class T> struct Option {
  std::string key;
  std::string meaning; ///< one line, with the source of the model where there is one
  Need need;
  Allowed allowed;
  std::string type;
  std::function<bool(const OptionTable&, T&)> read; ///< sets the member and returns true, if the key is present
  std::function<std::string(const T&)> text;        ///< formats the member's value for help
  std::function<option_value::Plain(const T&)> plain;
  /// Sets the member to a value outside option files; throws std::runtime_error. Empty for numbers and lists.
  std::function<void(const std::string&, T&)> parse;

  // Out of line, and with references, as copies in each row took much of the time of compiling the tables.
  // NOLINTBEGIN(modernize-pass-by-value)
  template <class V>
  [[gnu::noinline]] Option(std::string_view its_key, std::string_view its_meaning, V T::* member,
                           const Need& whether = Need::required, const Allowed& values = Allowed::positive)
      : key(its_key), meaning(its_meaning), need(whether), allowed(values), type(option_value::type(V()))
  // NOLINTEND(modernize-pass-by-value)
  {
    if constexpr (Named<V>)
      allowed = Allowed::one_of(names_of<V>());
    read = [key = key, allowed = allowed, member](const OptionTable& table, T& into) {
      const auto value = option_value::read(table, key, allowed, V());
      if (value)
        into.*member = *value;
      return value.has_value();
    };
    text  = [member](const T& from) { return option_value::text(from.*member); };
    plain = [member](const T& from) { return option_value::plain(from.*member); };
    if constexpr (requires(V& value) { option_value::parse(std::string(), value); })
      parse = [member](const std::string& given, T& into) { option_value::parse(given, into.*member); };
  }

  OptionHelp help() const
  {
    OptionHelp row{key, type, meaning, need.is_required()};
    if (not row.required)
      row.otherwise = need.otherwise().empty() ? text(T()) : need.otherwise();
    row.allowed = allowed.in_words(type);
    row.names   = allowed.names();
    return row;
  }
};

// ---- Reading tables by rows ----

/** Sets the members whose keys are in @p table and returns these keys. @p others: keys that other code reads. */
template <class T>
std::set<std::string> read_options(const OptionTable& table, const std::vector<Option<T>>& rows,
                                   std::vector<std::string> others, T& into)
{
  std::vector<std::string> known = std::move(others);
  known.reserve(known.size() + rows.size());
  for (const Option<T>& row : rows)
    known.push_back(row.key);
  table.allow_only(known);

  std::set<std::string> given;
  for (const Option<T>& row : rows)
    if (row.read(table, into))
      given.insert(row.key);
  return given;
}

/** Required key that a table lacks. */
struct MissingKey {
  std::string key;
  std::string meaning;
};
/** Throws MissingError unless @p missing is empty. */
void fail_missing(const OptionTable& table, const std::vector<MissingKey>& missing);

/** Throws MissingError, naming all required keys that are not in @p given. */
template <class T>
void require_options(const OptionTable& table, const std::vector<Option<T>>& rows, const std::set<std::string>& given)
{
  std::vector<MissingKey> missing;
  for (const Option<T>& row : rows)
    if (row.need.is_required() && not given.contains(row.key))
      missing.push_back({row.key, row.meaning});
  fail_missing(table, missing);
}

/** Returns the rows as text, in order. */
template <class T> std::vector<OptionHelp> describe_options(const std::vector<Option<T>>& rows)
{
  std::vector<OptionHelp> help;
  help.reserve(rows.size());
  for (const Option<T>& row : rows)
    help.push_back(row.help());
  return help;
}

/** Reads the shipped file of a preset. If there is none called @p name, throws UserError, which lists the presets of
 * that kind. */
OptionTable read_preset(const OptionTable& table, const std::string& kind, const std::string& name);

/** Reads a table that may name a preset. The preset (in presets/@p kind/), or @p standard if there is none, provides
 * the values that the table does not set. Throws MissingError if a required key is set in neither. @p others: keys of
 * the table that other code reads. @p read_more(table, device) is called for the preset and for the table, to read
 * values that rows cannot describe. */
template <class T, class ReadMore>
T read_device(const OptionTable& table, const std::string& kind, const std::vector<Option<T>>& rows,
              std::vector<std::string> others, ReadMore&& read_more, const T* standard = nullptr)
{
  T device = standard ? *standard : T();
  std::set<std::string> given;
  if (const std::optional<std::string> preset = table.text("preset")) {
    const OptionTable file = read_preset(table, kind, *preset);
    device                 = T();
    given                  = read_options(file, rows, others, device);
    read_more(file, device);
    device.preset = *preset;
    standard      = nullptr;
  }
  others.emplace_back("preset");
  given.merge(read_options(table, rows, others, device));
  read_more(table, device);
  if (not standard)
    require_options(table, rows, given);
  return device;
}

/** Overload for devices that rows describe completely. */
template <class T> T read_device(const OptionTable& table, const std::string& kind, const std::vector<Option<T>>& rows)
{
  return read_device<T>(table, kind, rows, {}, [](const OptionTable&, T&) {});
}

} // namespace weft
