// SPDX-License-Identifier: LGPL-2.1-only
#include "base/option_file.hpp"

#include "base/share.hpp"
#include "base/text_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <sstream>

#include <toml++/toml.h>

namespace weft {

struct OptionTable::Node {
  std::shared_ptr<const toml::table> root; // owns the nodes to which `table` points
  const toml::table* table;
  std::string file;
  std::string name; // as in the file: "switch", "topology", …; empty for the root table
  /** Changes of keys by "table.key"; null if the file is unchanged. */
  std::shared_ptr<const std::map<std::string, std::string>> changes;

  /** Returns the remark for errors about @p path ("table.key") if a change set it, its parent or a child; otherwise
   * "". */
  std::string change_of(std::string path) const
  {
    if (not changes)
      return "";
    if (const auto within = changes->lower_bound(path + ".");
        within != changes->end() && within->first.starts_with(path + "."))
      return " with " + within->second;
    while (not path.empty()) {
      if (const auto change = changes->find(path); change != changes->end())
        return " with " + change->second;
      const std::size_t outer = path.rfind('.');
      path.resize(outer == std::string::npos ? 0 : outer);
    }
    return "";
  }
};

namespace {

/** Formats a value as the file writes it, on one line. */
std::string shown(const toml::node& node)
{
  constexpr std::size_t LONGEST = 80;
  if (node.is_table())
    return "a table";
  if (node.is_array_of_tables())
    return "a list of tables";
  std::ostringstream text;
  if (const auto* string = node.as_string())
    text << '"' << string->get() << '"';
  else
    node.visit([&text](const auto& value) { text << toml::toml_formatter(value, toml::format_flags::none); });
  std::string all = text.str();
  if (all.size() <= LONGEST)
    return all;
  std::size_t end = LONGEST;
  while ((static_cast<unsigned char>(all[end]) & 0xC0U) == 0x80U) // inside a UTF-8 character
    --end;
  return all.substr(0, end) + "...";
}

std::optional<int> as_int(const toml::node& node)
{
  const auto* value = node.as_integer();
  if (not value || value->get() > std::numeric_limits<int>::max() || value->get() < std::numeric_limits<int>::min())
    return std::nullopt;
  return static_cast<int>(value->get());
}

/** Returns the name of the table @p key in the table @p outer, as a file writes it. */
std::string nested(const std::string& outer, const std::string& key)
{
  return outer.empty() ? key : outer + "." + key;
}

std::string position(const toml::source_region& where)
{
  return "line " + std::to_string(where.begin.line) + ", column " + std::to_string(where.begin.column);
}

/** Returns whether @p text contains C0 or C1 control characters other than line breaks, which a terminal would
 * interpret. */
bool commands_terminal(std::string_view text)
{
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7F || (byte == 0xC2 && next >= 0x80 && next < 0xA0))
      return true;
  }
  return false;
}

// ---- Changes

/** Change of one key in a nested table. */
struct Change {
  std::string path; // "table.key"
  std::vector<std::string> tables;
  std::string key;
  toml::table value; // with the key alone
};

constexpr std::string_view CHANGE_FORM = "allowed: TABLE.KEY=VALUE, as switch.slots=64 or link.bandwidth=400Gbps";

/** Returns a table with @p key only. @p text is parsed as TOML; if that fails (units such as 400Gbps), it is a string.
 */
toml::table read_value(const std::string& key, const std::string& text)
{
  toml::table as_text;
  as_text.insert(key, text);
  if (text.find_first_of("\n\r#") != std::string::npos)
    return as_text;
  try {
    return toml::parse(key + " = " + text);
  } catch (const toml::parse_error&) {
    return as_text;
  }
}

bool is_bare_key(std::string_view name)
{
  return not name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  });
}

Change read_change(const std::string& file, const std::string& text)
{
  const std::size_t equals = text.find('=');
  Change change{text.substr(0, equals), {}, "", {}};
  std::istringstream names(change.path);
  for (std::string name; std::getline(names, name, '.');)
    change.tables.push_back(name);
  const bool well_formed = equals != std::string::npos && equals + 1 < text.size() && change.path.back() != '.' &&
                           change.tables.size() > 1 && std::ranges::all_of(change.tables, is_bare_key);
  if (not well_formed)
    throw UserError(on_one_line(file + ": found the change \"" + text + "\"; " + std::string(CHANGE_FORM)));
  change.key = change.tables.back();
  change.tables.pop_back();
  change.value = read_value(change.key, text.substr(equals + 1));
  return change;
}

/** Applies the change to @p node, or to each element of an array of tables. @p depth is the number of tables
 * entered. */
void apply(const std::string& file, toml::node& node, const Change& change, std::size_t depth = 0)
{
  if (node.is_array_of_tables()) {
    for (toml::node& element : *node.as_array())
      apply(file, element, change, depth);
    return;
  }
  toml::table* table = node.as_table();
  if (not table)
    throw UserError(on_one_line(file + " with " + change.path + ": found " + shown(node) +
                                " where the change needs a table; " + std::string(CHANGE_FORM)));
  if (depth == change.tables.size()) {
    table->insert_or_assign(change.key, *change.value.get(change.key));
    return;
  }
  const std::string& next = change.tables[depth];
  if (not table->contains(next))
    table->insert(next, toml::table());
  apply(file, *table->get(next), change, depth + 1);
}

} // namespace

OptionTable OptionTable::read_file(const std::string& path)
{
  return read_text(read_text_file(path, "a TOML file of tables and keys"), name_of_file(path));
}

OptionTable OptionTable::read_text(const std::string& text, const std::string& path)
{
  try {
    auto root               = std::make_shared<const toml::table>(toml::parse(text, path));
    const toml::table* base = root.get();
    return OptionTable(std::make_shared<Node>(Node{std::move(root), base, path, "", nullptr}));
  } catch (const toml::parse_error& error) {
    throw UserError(path + ": " + position(error.source()) + ": invalid TOML: " + std::string(error.description()));
  }
}

OptionTable OptionTable::changed(std::span<const std::string> changes) const
{
  if (changes.empty())
    return *this;
  auto root = std::make_shared<toml::table>(*node_->root);
  std::map<std::string, std::string> made;
  for (const std::string& text : changes) {
    const Change change = read_change(node_->file, text);
    apply(node_->file, *root, change);
    made[change.path] = text;
  }
  const toml::table* base = root.get();
  return OptionTable(std::make_shared<Node>(
      Node{std::move(root), base, node_->file, "", std::make_shared<const std::map<std::string, std::string>>(made)}));
}

bool OptionTable::is_changed(const std::string& key) const
{
  return node_->changes && node_->changes->contains(nested(node_->name, key));
}

const std::string& OptionTable::file() const
{
  return node_->file;
}

bool OptionTable::has(const std::string& key) const
{
  return node_->table->contains(key);
}

int OptionTable::line(const std::string& key) const
{
  return static_cast<int>(node_->table->at(key).source().begin.line);
}

std::string OptionTable::place(const std::string& key) const
{
  std::string text = node_->file + node_->change_of(nested(node_->name, key)) + ": ";
  if (not node_->name.empty())
    text += "[" + node_->name + "] ";
  return text + key;
}

void OptionTable::fail(const std::string& key, const std::string& problem) const
{
  std::string message = place(key) + ": " + problem;
  throw UserError(on_one_line(std::move(message)));
}

OptionTable OptionTable::table(const std::string& key) const
{
  static const toml::table EMPTY;
  const toml::node* found = node_->table->get(key);
  if (found && not found->is_table())
    fail(key, "found " + shown(*found) + "; allowed: a table, written as [" + nested(node_->name, key) + "]");
  return OptionTable(std::make_shared<Node>(
      Node{node_->root, found ? found->as_table() : &EMPTY, node_->file, nested(node_->name, key), node_->changes}));
}

std::vector<OptionTable> OptionTable::tables(const std::string& key) const
{
  std::vector<OptionTable> result;
  const toml::node* found = node_->table->get(key);
  if (not found)
    return result;
  const toml::array* array = found->as_array();
  if (not array || (not array->empty() && not array->is_homogeneous<toml::table>()))
    fail(key, "found " + shown(*found) + "; allowed: tables, each written as [[" + nested(node_->name, key) + "]]");
  for (const toml::node& element : *array)
    result.push_back(OptionTable(std::make_shared<Node>(
        Node{node_->root, element.as_table(), node_->file, nested(node_->name, key), node_->changes})));
  return result;
}

std::string OptionTable::found(const std::string& key) const
{
  const toml::node* value = node_->table->get(key);
  if (not value)
    throw std::logic_error(place(key) + " is not there to be shown");
  return shown(*value);
}

void OptionTable::check_text(const std::string& key, const std::string& value) const
{
  const bool lines = value.find('\n') != std::string::npos && key != "description";
  if (lines || commands_terminal(value))
    fail(key, "found " + found(key) + "; allowed: a single line of text, without control characters");
}

std::optional<std::string> OptionTable::text(const std::string& key, const std::string& allowed) const
{
  const toml::node* found = node_->table->get(key);
  if (not found)
    return std::nullopt;
  if (const auto* value = found->as_string()) {
    check_text(key, value->get());
    return value->get();
  }
  fail(key, "found " + shown(*found) + "; allowed: " + allowed);
}

std::optional<std::vector<std::string>> OptionTable::texts(const std::string& key) const
{
  const toml::node* found = node_->table->get(key);
  if (not found)
    return std::nullopt;
  const toml::array* array = found->as_array();
  if (not array || array->empty() || not array->is_homogeneous<std::string>())
    fail(key, "found " + shown(*found) + "; allowed: a list of texts, as [\"MPI_INT\"]");
  std::vector<std::string> values;
  for (const toml::node& element : *array)
    values.push_back(element.as_string()->get());
  for (const std::string& value : values)
    check_text(key, value);
  return values;
}

std::optional<int> OptionTable::integer(const std::string& key) const
{
  const toml::node* found = node_->table->get(key);
  if (not found)
    return std::nullopt;
  if (const std::optional<int> value = as_int(*found))
    return value;
  fail(key,
       "found " + shown(*found) + "; allowed: an integer" + (found->is_integer() ? " between -2^31 and 2^31 - 1" : ""));
}

std::optional<std::vector<int>> OptionTable::integers(const std::string& key) const
{
  const toml::node* found = node_->table->get(key);
  if (not found)
    return std::nullopt;
  const toml::array* array = found->as_array();
  std::vector<int> values;
  if (array) {
    for (const toml::node& element : *array)
      if (const std::optional<int> value = as_int(element))
        values.push_back(*value);
  }
  if (not array || array->empty() || values.size() != array->size())
    fail(key, "found " + shown(*found) + "; allowed: a list of integers, as [4, 4]");
  return values;
}

std::optional<double> OptionTable::number(const std::string& key) const
{
  const toml::node* found = node_->table->get(key);
  if (not found)
    return std::nullopt;
  if (const std::optional<double> value = found->value<double>(); value && found->is_number())
    return value;
  fail(key, "found " + shown(*found) + "; allowed: a number");
}

void OptionTable::allow_only(std::span<const std::string> known) const
{
  for (const auto& [key, value] : *node_->table) {
    const std::string found(key.str());
    if (std::ranges::find(known, found) == known.end())
      fail(found, "unknown key; " + did_you_mean(found, known) + "allowed: " + join(known));
  }
}

void Missing::rethrow() const
{
  if (not problems_.empty())
    throw MissingError(join(problems_, "; "));
}

void check_name(const OptionTable& table, const std::string& key, const std::string& name,
                std::span<const std::string> known)
{
  if (std::ranges::find(known, name) == known.end())
    table.fail(key, "found \"" + name + "\"; " + did_you_mean(name, known) + "allowed: " + join(known));
}

} // namespace weft
