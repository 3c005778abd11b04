// SPDX-License-Identifier: LGPL-2.1-only
/* Values of NCCL_ALGO and NCCL_PROTO: "ring,tree", "^nvls", "allreduce:tree;broadcast:ring" (parseList in
 * src/graph/tuning.cc). */
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weft {

/** Returns whether @p text allows @p name for a collective, given by NCCL's name for it. Case is ignored. */
bool nccl_allows(std::string_view text, std::string_view collective, std::string_view name);
/** Throws UserError if @p text, the value of @p variable, contains a name that is not in @p known, or a collective that
 * NCCL does not have. */
void check_nccl_list(std::string_view variable, std::string_view text, std::span<const std::string> known);

} // namespace weft
