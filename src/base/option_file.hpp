/* The strict reader of option files (TOML).
 *
 * OptionTable is one table of a file and knows its place, so that every message names file, table and key, the value
 * found and what is allowed. What a table may hold is said once, as rows (Option<T>) that bind a key to a member of an
 * options struct; reading, the refusal of unknown keys, the check for missing ones and the printed schema all derive
 * from those rows. A table may name a preset (`preset = "tofino"`): a file of the same keys, read first, whose values
 * the table's own override.
 */
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weft {

class OptionTable {
  struct Node; // keeps the TOML library out of this header
  std::shared_ptr<const Node> node_;
  explicit OptionTable(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

public:
  /** Read and parse a file. Throws UserError where it cannot be read or is no TOML (with line and column). */
  static OptionTable read_file(const std::string& path);
  /** Parse a text that stands at @p place, which messages begin with. */
  static OptionTable read_text(const std::string& text, const std::string& place);

  const std::string& file() const;
  bool has(const std::string& key) const;
  /** The table at @p key; an empty one where there is none. */
  OptionTable table(const std::string& key) const;
  /** The array of tables at @p key ([[key]]); empty where there is none. */
  std::vector<OptionTable> tables(const std::string& key) const;

  /** @p allowed is what a message calls for where the value is no text. */
  std::optional<std::string> text(const std::string& key, const std::string& allowed = "a text in quotes") const;
  std::optional<std::vector<std::string>> texts(const std::string& key) const;
  std::optional<int> integer(const std::string& key) const;
  std::optional<std::vector<int>> integers(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
  template <class Q> std::optional<Q> quantity(const std::string& key) const
  {
    const std::optional<std::string> value =
        text(key, "a quantity in quotes, with its unit, as " + quantity_example(Q()));
    if (not value)
      return std::nullopt;
    try {
      return parse<Q>(*value);
    } catch (const UnitError& error) {
      fail(key, error.what());
    }
  }

  /** Throws where the table holds a key that is not in @p known; suggests the one that was probably meant. */
  void allow_only(std::span<const std::string> known) const;
  /** The value of a key that there is, for messages: as the file writes it, long ones cut short. */
  std::string found(const std::string& key) const;
  /** "FILE: [table] key", where a message is about. */
  std::string place(const std::string& key) const;
  /** Throws unless @p value, found at @p key, can be shown: no control characters, one line. */
  void check_text(const std::string& key, const std::string& value) const;
  /** Throws "PLACE: PROBLEM", in one line. */
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const;
};

/** Required keys that a table lacks. */
class MissingError : public UserError {
public:
  using UserError::UserError;
};

/** Gathers what several tables lack, so that all of it is told at once. */
class Missing {
  std::vector<std::string> problems_;

public:
  /** What @p read returns, or @p otherwise where keys are missing; these are kept. */
  template <class T, class Read> T read(T otherwise, Read&& read)
  {
    try {
      return read();
    } catch (const MissingError& error) {
      problems_.emplace_back(error.what());
    }
    return otherwise;
  }
  /** Throws one MissingError about all that was kept. */
  void rethrow() const;
};

/** Throws at @p key of @p table unless @p name, found there, is among @p known. */
void check_name(const OptionTable& table, const std::string& key, const std::string& name,
                std::span<const std::string> known);

/** Which values a number may take. */
enum class Bound { positive, non_negative };
enum class Need { required, optional };

/** One row of a schema: a key of a table, what it means, and the member of @p T that it sets. */
template <class T> struct Option {
  std::string key;
  std::string meaning; ///< one line, with the source of the model where there is one
  std::variant<int T::*, double T::*, Bytes T::*, Seconds T::*, BytesPerSecond T::*, FlopsPerSecond T::*, Hertz T::*,
               std::string T::*, std::vector<int> T::*, std::vector<std::string> T::*>
      member;
  Need need   = Need::required;
  Bound bound = Bound::positive;
};

/** One row of a schema as text, for help and documentation. */
struct OptionHelp {
  std::string key;
  std::string type;
  std::string meaning;
  bool required = false;
};

namespace detail {
inline double to_number(int value)
{
  return value;
}
inline double to_number(double value)
{
  return value;
}
template <int B, int S, int F> double to_number(Quantity<B, S, F> value)
{
  return value.value();
}

inline std::optional<int> read_value(const OptionTable& table, const std::string& key, const int&)
{
  return table.integer(key);
}
inline std::optional<double> read_value(const OptionTable& table, const std::string& key, const double&)
{
  return table.number(key);
}
inline std::optional<std::string> read_value(const OptionTable& table, const std::string& key, const std::string&)
{
  return table.text(key);
}
inline std::optional<std::vector<int>> read_value(const OptionTable& table, const std::string& key,
                                                  const std::vector<int>&)
{
  return table.integers(key);
}
inline std::optional<std::vector<std::string>> read_value(const OptionTable& table, const std::string& key,
                                                          const std::vector<std::string>&)
{
  return table.texts(key);
}
template <int B, int S, int F>
std::optional<Quantity<B, S, F>> read_value(const OptionTable& table, const std::string& key, const Quantity<B, S, F>&)
{
  return table.quantity<Quantity<B, S, F>>(key);
}

struct MissingKey {
  std::string key;
  std::string meaning;
};
/** Throws MissingError unless @p missing is empty. */
void fail_missing(const OptionTable& table, const std::vector<MissingKey>& missing);

/** Throws unless @p value is finite and satisfies @p bound. */
void check_bound(const OptionTable& table, const std::string& key, double value, Bound bound);

template <class V> void check_value(const OptionTable& table, const std::string& key, const V& value, Bound bound)
{
  check_bound(table, key, to_number(value), bound);
}
inline void check_value(const OptionTable& table, const std::string& key, const std::vector<int>& values, Bound bound)
{
  for (const int value : values)
    check_bound(table, key, value, bound);
}
/** Texts have no bounds. */
inline void check_value(const OptionTable&, const std::string&, const std::string&, Bound) {}
inline void check_value(const OptionTable&, const std::string&, const std::vector<std::string>&, Bound) {}

inline std::string type_name(const int&)
{
  return "integer";
}
inline std::string type_name(const double&)
{
  return "number";
}
inline std::string type_name(const std::string&)
{
  return "text";
}
inline std::string type_name(const std::vector<int>&)
{
  return "integers";
}
inline std::string type_name(const std::vector<std::string>&)
{
  return "texts";
}
inline std::string type_name(const Bytes&)
{
  return "size";
}
inline std::string type_name(const Seconds&)
{
  return "duration";
}
inline std::string type_name(const BytesPerSecond&)
{
  return "bandwidth";
}
inline std::string type_name(const FlopsPerSecond&)
{
  return "speed";
}
inline std::string type_name(const Hertz&)
{
  return "frequency";
}
} // namespace detail

/** Set the members that @p table gives; returns the keys that it gave. @p others are keys read elsewhere. */
template <class T>
std::set<std::string> read_options(const OptionTable& table, const std::vector<Option<T>>& rows,
                                   std::vector<std::string> others, T& into)
{
  std::vector<std::string> known = std::move(others);
  for (const Option<T>& row : rows)
    known.push_back(row.key);
  table.allow_only(known);

  std::set<std::string> given;
  for (const Option<T>& row : rows) {
    std::visit(
        [&](auto member) {
          auto value = detail::read_value(table, row.key, into.*member);
          if (not value)
            return;
          detail::check_value(table, row.key, *value, row.bound);
          into.*member = *value;
          given.insert(row.key);
        },
        row.member);
  }
  return given;
}

/** Throws where required rows are not among the keys @p given; names them all. */
template <class T>
void require_options(const OptionTable& table, const std::vector<Option<T>>& rows, const std::set<std::string>& given)
{
  std::vector<detail::MissingKey> missing;
  for (const Option<T>& row : rows)
    if (row.need == Need::required && not given.contains(row.key))
      missing.push_back({row.key, row.meaning});
  detail::fail_missing(table, missing);
}

/** The rows as text, in order. */
template <class T> std::vector<OptionHelp> describe_options(const std::vector<Option<T>>& rows)
{
  std::vector<OptionHelp> help;
  const T sample{};
  for (const Option<T>& row : rows)
    std::visit(
        [&](auto member) {
          help.push_back({row.key, detail::type_name(sample.*member), row.meaning, row.need == Need::required});
        },
        row.member);
  return help;
}

/** The file of a preset, found by name from anywhere. Throws UserError with the names that exist. */
OptionTable read_preset(const OptionTable& table, const std::string& kind, const std::string& name);

/** Read a table that may name a preset: the preset (below presets/@p kind/) or else @p standard first, then the table's
 *  own values over it. Where neither gives a required value, throws. @p others are keys of the table that something
 * else reads; @p read_more(table, device) reads what the rows cannot say, from the preset and from the table. */
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

} // namespace weft
