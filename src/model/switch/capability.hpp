// SPDX-License-Identifier: LGPL-2.1-only
/* Capabilities of a switch: the collectives that it executes and, for reductions, the datatypes and operations. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Reason why a switch does not support a call; `none` if it does. */
enum class Unsupported { none, collective, datatype, operation };

/** Set of calls that a switch supports. Datatypes and operations restrict reductions only; other collectives move
 * bytes.
 */
struct Capability {
  std::vector<std::string> collectives; ///< "allreduce", …
  std::vector<std::string> datatypes;   ///< MPI's names, "MPI_INT", or "all" alone; reductions only
  std::vector<std::string> operations;  ///< MPI's names, "MPI_SUM", or "all" alone; reductions only
  std::string conversion{};             ///< "fixed-point": hosts convert float data to integers and back; empty: none
  BytesPerSecond conversion_rate{std::numeric_limits<double>::infinity()}; ///< conversion rate of a host's core

  /** Returns the first property of a call that the switch does not support. */
  Unsupported lacks(const std::string& collective, const std::string& datatype, const std::string& operation) const;
};

/** Returns the names of the collectives that a switch may support. */
const std::vector<std::string>& offloadable_collectives();
/** Returns the collectives in a table's key `collectives`, with "all" expanded. Throws UserError for unknown names. */
std::vector<std::string> checked_collectives(const OptionTable& row, const std::vector<std::string>& names);

/** Returns the keys of a [[switch.offload]] table, which describes a Capability. */
const std::vector<Option<Capability>>& capability_options();

/** Reads the [[offload]] tables of a switch table. Returns nothing if there are none. Throws UserError. */
std::optional<std::vector<Capability>> read_capabilities(const OptionTable& table);
/** Parses offload rows in the one-line format of src/binding/platform/switch_properties.hpp. Throws UserError, whose
 * message begins with @p place. */
std::vector<Capability> parse_capabilities(const std::string& text, const std::string& place);

} // namespace weft
