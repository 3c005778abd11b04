// SPDX-License-Identifier: LGPL-2.1-only
/* The type of JSON in the record. Headers name it only: what makes JSON includes json_rows.hpp, which takes a second to
 * compile. */
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace weft {

using Json = nlohmann::ordered_json; // keeps fields in insertion order

} // namespace weft
