// SPDX-License-Identifier: LGPL-2.1-only
/* What a switch can execute: collectives, and for those that reduce, on which datatypes and with which operations. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Why a switch does not execute a call; `none` where it does. */
enum class Unsupported { none, collective, datatype, operation };

/** Collectives that a switch can execute. Reductions are limited to datatypes and operations; the others move bytes,
 *  whatever those are. */
struct Capability {
  std::vector<std::string> collectives; ///< "allreduce", …
  std::vector<std::string> datatypes;   ///< MPI's names, "MPI_INT", or "all" alone; of reductions only
  std::vector<std::string> operations;  ///< MPI's names, "MPI_SUM", or "all" alone; of reductions only
  std::string conversion{};             ///< "fixed-point": the hosts convert float data there and back; else empty
  BytesPerSecond conversion_rate{std::numeric_limits<double>::infinity()}; ///< of that, by a host's core

  /** The first thing about a call that it lacks. */
  Unsupported lacks(const std::string& collective, const std::string& datatype, const std::string& operation) const;
};

/** The names of the collectives that a switch may execute. */
const std::vector<std::string>& offloadable_collectives();
/** The collectives that a table names at `collectives`, with "all" written out; throws where there is no such. */
std::vector<std::string> checked_collectives(const OptionTable& row, const std::vector<std::string>& names);

/** The keys of a [[switch.offload]] table, which describes a Capability. */
const std::vector<Option<Capability>>& capability_options();

/** The [[offload]] tables of a switch's: nothing where it has none. Throws UserError. */
std::optional<std::vector<Capability>> read_capabilities(const OptionTable& table);
/** What the offload rows in one text say, as src/binding/platform/switch_properties.hpp describes them. Throws
 * UserError that begins with @p place. */
std::vector<Capability> parse_capabilities(const std::string& text, const std::string& place);

} // namespace weft
