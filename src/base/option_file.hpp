// SPDX-License-Identifier: LGPL-2.1-only
/* The strict reader of option files (TOML).
 *
 * An OptionTable is one table of a file. It stores its location, so that every error names file, table, key, the value
 * found and the values allowed. Rows declare the keys (option.hpp).
 */
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

class OptionTable {
  struct Node; // keeps the TOML library out of this header
  std::shared_ptr<const Node> node_;
  explicit OptionTable(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

public:
  /** Reads and parses a file. Throws UserError, with line and column, if it cannot be read or is not TOML. */
  static OptionTable read_file(const std::string& path);
  /** Parses @p text. Errors begin with @p place. */
  static OptionTable read_text(const std::string& text, const std::string& place);
  /** Returns the file with @p changes applied, each TABLE.KEY=VALUE such as "switch.slots=64". VALUE is TOML or an
   * unquoted string. Missing keys are added; in an array of tables, all elements change. Errors about a changed key
   * name the change. Throws UserError if a change is malformed or names a table that the file does not have. */
  OptionTable changed(std::span<const std::string> changes) const;
  /** Returns whether a change set @p key of this table. */
  bool is_changed(const std::string& key) const;

  const std::string& file() const;
  bool has(const std::string& key) const;
  /** Returns the table at @p key; an empty one if the key is absent. */
  OptionTable table(const std::string& key) const;
  /** Returns the array of tables at @p key ([[key]]); empty if the key is absent. */
  std::vector<OptionTable> tables(const std::string& key) const;

  /** Returns the string at @p key. @p allowed describes the expected value in errors about values of other types. */
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

  /** Throws UserError if the table has a key that is not in @p known; suggests the nearest known key. */
  void allow_only(std::span<const std::string> known) const;
  /** Returns the value of a present key as written in the file, truncated for error messages. */
  std::string found(const std::string& key) const;
  /** Returns the line of a present key's value. */
  int line(const std::string& key) const;
  /** Returns the location of a key as error messages write it: "FILE: [table] key". */
  std::string place(const std::string& key) const;
  /** Throws UserError if @p value, found at @p key, contains control characters or line breaks. */
  void check_text(const std::string& key, const std::string& value) const;
  /** Throws UserError with the one-line message "PLACE: PROBLEM". */
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const;
};

/** Error for missing required keys. */
class MissingError : public UserError {
public:
  using UserError::UserError;
};

/** Collects the missing keys of several tables, to report them in a single error. */
class Missing {
  std::vector<std::string> problems_;

public:
  /** Calls @p read and returns its result. If keys are missing, records them and returns @p otherwise. */
  template <class T, class Read> T read(T otherwise, Read&& read)
  {
    try {
      return read();
    } catch (const MissingError& error) {
      problems_.emplace_back(error.what());
    }
    return otherwise;
  }
  /** Throws one MissingError about all recorded keys, if there are any. */
  void rethrow() const;
};

/** Throws UserError unless @p name, found at @p key of @p table, is in @p known. */
void check_name(const OptionTable& table, const std::string& key, const std::string& name,
                std::span<const std::string> known);

} // namespace weft
