// SPDX-License-Identifier: LGPL-2.1-only
/* The broadcast sequencer of the multicast Allgather (Khalilov et al., SC '24, appendix A).
 *
 * P roots in some order are cut into M chains of R = P / M neighbours; all chains run at once, and in a chain one root
 * after the other multicasts: in step i the active group is {P_i, P_(R+i), …, P_((M-1)R+i)}. Where M does not divide P,
 * the first P mod M chains have one root more, and take one step more.
 */
#pragma once

#include <span>
#include <vector>

namespace weft {

/** Cut @p roots into @p chains chains, the longer ones first; as many as there are roots where those are fewer. */
std::vector<std::vector<int>> cut_into_chains(std::span<const int> roots, int chains);

/** One chain for all roots of the same group, in the order in which groups and roots come. @p groups: by root. */
std::vector<std::vector<int>> chain_by_group(std::span<const int> roots, std::span<const int> groups);

} // namespace weft
