// SPDX-License-Identifier: LGPL-2.1-only
/* The strict reader of option files (TOML).
 *
 * OptionTable is one table of a file and knows its place, so that every message names file, table and key, the value
 * found and what is allowed. What a table may hold is said by rows (option.hpp).
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
  /** Read and parse a file. Throws UserError where it cannot be read or is no TOML (with line and column). */
  static OptionTable read_file(const std::string& path);
  /** Parse a text that stands at @p place, which messages begin with. */
  static OptionTable read_text(const std::string& text, const std::string& place);
  /** The same file with other values: each of @p changes is TABLE.KEY=VALUE, as "switch.slots=64". VALUE is TOML, or
   * else a text without quotes. Keys that the file lacks are added; of an array of tables, all get it. Messages about
   * such a key name the change. Throws UserError for a change that is not written so, or whose table is none in the
   * file. */
  OptionTable changed(std::span<const std::string> changes) const;

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
  /** The line of the value of a key that there is. */
  int line(const std::string& key) const;
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

} // namespace weft
