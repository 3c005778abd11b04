// SPDX-License-Identifier: LGPL-2.1-only
#include "model/mechanism/mechanism_kind.hpp"

namespace weft {
namespace {

constexpr MechanismKind INSTANT{.name = "instant", .meaning = "all data at once, 1 ms after the last rank has called"};
const bool ADDED = add_mechanism_kind(INSTANT);

} // namespace
} // namespace weft
