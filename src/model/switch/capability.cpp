// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/capability.hpp"

#include "model/collective/collective_kind.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <tuple>

namespace weft {

namespace {

constexpr std::string_view ALL         = "all";
constexpr std::string_view FIXED_POINT = "fixed-point";

bool holds(const std::vector<std::string>& names, std::string_view name)
{
  return std::ranges::find(names, name) != names.end();
}

bool allows(const std::vector<std::string>& names, const std::string& name)
{
  return holds(names, ALL) || holds(names, name);
}

/** Returns the collectives that reduce data. */
const std::vector<std::string>& reductions()
{
  static const std::vector<std::string> NAMES =
      collective_names([](const CollectiveKind& kind) { return kind.offloadable() && kind.reduces; });
  return NAMES;
}

bool is_reduction(const std::string& name)
{
  return holds(reductions(), name);
}

} // namespace

const std::vector<std::string>& offloadable_collectives()
{
  static const std::vector<std::string> NAMES =
      collective_names([](const CollectiveKind& kind) { return kind.offloadable(); });
  return NAMES;
}

Unsupported Capability::lacks(const std::string& collective, const std::string& datatype,
                              const std::string& operation) const
{
  if (not holds(collectives, collective))
    return Unsupported::collective;
  if (not is_reduction(collective))
    return Unsupported::none;
  if (not allows(datatypes, datatype))
    return Unsupported::datatype;
  // A replayed trace may not name the operation.
  return operation.empty() || allows(operations, operation) ? Unsupported::none : Unsupported::operation;
}

const std::vector<Option<Capability>>& capability_options()
{
  using M = Capability;
  static const std::vector<Option<M>> ROWS{
      {"collectives", "collectives that a switch executes: " + join(offloadable_collectives()) + "; or \"all\"",
       &M::collectives},
      {"datatypes", "reductions: supported datatypes by MPI name, or \"all\"", &M::datatypes,
       Need::otherwise("required for reductions")},
      {"operations", "reductions: supported operations by MPI name, or \"all\"", &M::operations,
       Need::otherwise("required for reductions")},
      {"conversion", "reductions: the hosts convert MPI_FLOAT to integers and back", &M::conversion,
       Need::otherwise("none"), Allowed::one_of({std::string(FIXED_POINT)})},
      {"conversion_rate", "conversion rate of a host, for both directions together", &M::conversion_rate,
       Need::otherwise("required for a conversion")},
  };
  return ROWS;
}

namespace {

/** Return MPI's predefined datatypes and operations (MPI 4.1, sections 3.2.2 and 6.9.2). Switches do not support
 * user-defined ones. */
const std::vector<std::string>& known_datatypes()
{
  static const std::vector<std::string> NAMES{"MPI_CHAR",
                                              "MPI_SHORT",
                                              "MPI_INT",
                                              "MPI_LONG",
                                              "MPI_LONG_LONG",
                                              "MPI_SIGNED_CHAR",
                                              "MPI_UNSIGNED_CHAR",
                                              "MPI_UNSIGNED_SHORT",
                                              "MPI_UNSIGNED",
                                              "MPI_UNSIGNED_LONG",
                                              "MPI_UNSIGNED_LONG_LONG",
                                              "MPI_FLOAT",
                                              "MPI_DOUBLE",
                                              "MPI_LONG_DOUBLE",
                                              "MPI_WCHAR",
                                              "MPI_C_BOOL",
                                              "MPI_CXX_BOOL",
                                              "MPI_INT8_T",
                                              "MPI_INT16_T",
                                              "MPI_INT32_T",
                                              "MPI_INT64_T",
                                              "MPI_UINT8_T",
                                              "MPI_UINT16_T",
                                              "MPI_UINT32_T",
                                              "MPI_UINT64_T",
                                              "MPI_BYTE",
                                              "MPI_C_FLOAT_COMPLEX",
                                              "MPI_C_DOUBLE_COMPLEX",
                                              "MPI_C_LONG_DOUBLE_COMPLEX",
                                              "MPI_AINT",
                                              "MPI_OFFSET",
                                              "MPI_COUNT",
                                              "MPI_FLOAT_INT",
                                              "MPI_LONG_INT",
                                              "MPI_DOUBLE_INT",
                                              "MPI_SHORT_INT",
                                              "MPI_2INT",
                                              "MPI_LONG_DOUBLE_INT",
                                              "MPI_2FLOAT",
                                              "MPI_2DOUBLE",
                                              "MPI_2LONG",
                                              "MPI_REAL",
                                              "MPI_REAL4",
                                              "MPI_REAL8",
                                              "MPI_REAL16",
                                              "MPI_COMPLEX8",
                                              "MPI_COMPLEX16",
                                              "MPI_COMPLEX32",
                                              "MPI_INTEGER1",
                                              "MPI_INTEGER2",
                                              "MPI_INTEGER4",
                                              "MPI_INTEGER8",
                                              "MPI_INTEGER16"};
  return NAMES;
}

const std::vector<std::string>& known_operations()
{
  static const std::vector<std::string> NAMES{"MPI_SUM",  "MPI_PROD", "MPI_MAX",    "MPI_MIN",
                                              "MPI_LAND", "MPI_LOR",  "MPI_LXOR",   "MPI_BAND",
                                              "MPI_BOR",  "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  return NAMES;
}

/** Throws UserError at the first of @p names, found at @p key, that is not in @p known; @p allowed describes the known
 * names. "all" must be the only name. */
void check_names(const OptionTable& row, const std::string& key, const std::vector<std::string>& names,
                 const std::vector<std::string>& known, const std::string& allowed)
{
  for (const std::string& name : names) {
    if (name == ALL && names.size() > 1)
      row.fail(key, R"(found "all" beside other names; allowed: ["all"] alone, or names without it)");
    if (name != ALL && not holds(known, name))
      row.fail(key, "found \"" + name + "\"; " + did_you_mean(name, known).append("allowed: ").append(allowed));
  }
}

/** Throws UserError unless datatypes and operations are given for reductions, and only for them. */
void check_limits(const OptionTable& row, const Capability& capability)
{
  const bool reduces        = std::ranges::any_of(capability.collectives, is_reduction);
  const std::string allowed = "MPI's names of what is predefined, as ";
  for (const auto& [key, names, known] : {std::tuple{"datatypes", &capability.datatypes, &known_datatypes()},
                                          std::tuple{"operations", &capability.operations, &known_operations()}}) {
    if (reduces && names->empty())
      row.fail(key, "is missing; a row with a reduction (" + join(reductions()) + ") needs it");
    if (not reduces && not names->empty())
      row.fail(key, "found " + row.found(key) + "; allowed only in a row with a reduction (" + join(reductions()) +
                        "): other collectives move bytes of any type; leave it out");
    check_names(row, key, *names, *known, allowed + known->front() + "; or \"all\"");
  }
}

/** Throws UserError if a conversion applies to anything but sums of single-precision numbers
 * (model/switch/fixed_point.hpp). */
void check_conversion(const OptionTable& row, const Capability& capability)
{
  const bool converts = not capability.conversion.empty();
  if (converts != row.has("conversion_rate"))
    row.fail(converts ? "conversion_rate" : "conversion",
             "is missing; conversion and conversion_rate require each other");
  if (not converts)
    return;
  const std::vector<std::string> floats{"MPI_FLOAT", "MPI_REAL", "MPI_REAL4"};
  if (not std::ranges::all_of(capability.collectives, is_reduction))
    row.fail("collectives", "found " + row.found("collectives") + "; allowed with a conversion: reductions (" +
                                join(reductions()) + "); put the others into a separate row");
  if (not std::ranges::all_of(capability.datatypes, [&](const std::string& name) { return holds(floats, name); }))
    row.fail("datatypes", "found " + row.found("datatypes") + "; allowed with a conversion: " + join(floats));
  if (capability.operations != std::vector<std::string>{"MPI_SUM"})
    row.fail("operations", "found " + row.found("operations") + "; allowed with a conversion: [\"MPI_SUM\"]");
}

} // namespace

std::vector<std::string> checked_collectives(const OptionTable& row, const std::vector<std::string>& names)
{
  check_names(row, "collectives", names, offloadable_collectives(), join(offloadable_collectives()) + "; or \"all\"");
  return holds(names, ALL) ? offloadable_collectives() : names;
}

namespace {

Capability read_capability(const OptionTable& row)
{
  Capability capability;
  require_options(row, capability_options(), read_options(row, capability_options(), {}, capability));
  capability.collectives = checked_collectives(row, capability.collectives);
  check_limits(row, capability);
  check_conversion(row, capability);
  return capability;
}

} // namespace

std::optional<std::vector<Capability>> read_capabilities(const OptionTable& table)
{
  if (not table.has("offload"))
    return std::nullopt;
  std::vector<Capability> capabilities;
  for (const OptionTable& row : table.tables("offload"))
    capabilities.push_back(read_capability(row));
  return capabilities;
}

namespace {

/** Returns @p words, or throws if they contain characters that are special in TOML; MPI's names do not. */
std::string checked_words(const std::string& words, const std::string& place)
{
  constexpr std::string_view ALLOWED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-,";
  if (words.find_first_not_of(ALLOWED) != std::string::npos)
    throw UserError(place + ": found \"" + words + "\"; allowed: names separated by commas, as MPI_INT,MPI_LONG");
  return words;
}

/** Converts "a,b" to a TOML array. */
std::string toml_list(const std::string& words, const std::string& place)
{
  std::string list;
  std::istringstream text(checked_words(words, place));
  for (std::string name; std::getline(text, name, ',');)
    list.append(list.empty() ? "[\"" : ", \"").append(name).append("\"");
  return list.empty() ? "[]" : list + "]";
}

/** Converts a row of the text to a TOML table. */
std::string toml_row(const std::string& row, const std::string& place)
{
  std::istringstream text(row);
  const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  if (words.size() != 1 && words.size() != 3 && words.size() != 5)
    throw UserError(
        place + ": found \"" + row +
        "\"; allowed: rows separated by semicolons, each with collectives, or with collectives, datatypes and "
        "operations, optionally followed by a conversion and its rate: \"allreduce,reduce MPI_INT MPI_SUM; barrier\"");
  std::string toml = "[[offload]]\ncollectives = " + toml_list(words[0], place) + "\n";
  if (words.size() > 1)
    toml += "datatypes = " + toml_list(words[1], place) + "\noperations = " + toml_list(words[2], place) + "\n";
  if (words.size() > 3) {
    if (words[4].find_first_not_of("0123456789.eE+-kKMGTiBbps") != std::string::npos)
      throw UserError(place + ": found \"" + words[4] + "\"; allowed: a bandwidth, as 9.9GBps");
    const bool plain = words[4].find_first_not_of("0123456789.eE+-") == std::string::npos;
    toml += "conversion = \"" + checked_words(words[3], place) + "\"\n";
    toml += "conversion_rate = \"" + words[4] + (plain ? "Bps" : "") + "\"\n";
  }
  return toml;
}

} // namespace

std::vector<Capability> parse_capabilities(const std::string& text, const std::string& place)
{
  std::string toml;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';');)
    toml += toml_row(row, place);
  return read_capabilities(OptionTable::read_text(toml, place)).value_or(std::vector<Capability>());
}

} // namespace weft
