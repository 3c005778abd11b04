// SPDX-License-Identifier: LGPL-2.1-only
/* Broadcast sequencer of the multicast Allgather (Khalilov et al., SC '24, appendix A).
 *
 * P roots in some order are divided into M chains of R = P / M neighbours. All chains run concurrently, and the roots
 * of a chain multicast one after the other: in step i the active group is {P_i, P_(R+i), …, P_((M-1)R+i)}. If M does
 * not divide P, the first P mod M chains have one more root and take one more step.
 */
#pragma once

#include "collective/multicast/plan.hpp"

#include <span>
#include <vector>

namespace weft {

/** Divides @p roots into @p chains chains, the longer ones first; at most one chain per root. */
std::vector<std::vector<int>> cut_into_chains(std::span<const int> roots, int chains);

/** Returns one chain per group of roots, in order of appearance. @p groups: group of each root. */
std::vector<std::vector<int>> chain_by_group(std::span<const int> roots, std::span<const int> groups);

/** Chains blocks as MulticastModel::chain_map says. @p roots: rank by block. */
std::vector<std::vector<int>> chain_blocks(const MulticastModel& model, const MulticastGroup& group,
                                           std::span<const int> roots);

} // namespace weft
