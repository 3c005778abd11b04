// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid's settings: those that weft chooses where the user has not, and those that weft goes by. */
#pragma once

#include <xbt/config.hpp>

namespace weft {

template <class T> void set_unless_chosen(const char* option, T value)
{
  if (simgrid::config::is_default(option))
    simgrid::config::set_value<T>(option, value);
}

/** With more ranks memory is what a run lacks first: stacks are small, and equal messages go as one. */
constexpr int MANY_RANKS = 32768;

/** Tells how many ranks the jobs of the run have, before settings that depend on it are asked for. */
void expect_ranks(int ranks);

/** Whether ranks may share SimGrid's actions: with more than MANY_RANKS, unless somebody looks at single actions
 * (SimGrid's tracing or a plugin of it), or links have no room for more than so many, or do not contend. Tests choose
 * by WEFT_RANK_FLOWS. */
bool actions_are_shared();

/** Whether all ranks' memory can be reached at any time. With privatization by mmap, a rank's global variables are
 * mapped only while it runs. */
bool memory_is_shared();

/** Whether SMPI's functions do nothing for a right call but to call the algorithm, or to wait. */
bool smpi_only_checks();

/** Whether messages share links; without (WEFT_CONTENTION is "no"), each has every link on its way to itself. */
bool links_contend();

/** Whether SMPI says at the end which handles the program has not freed (smpi_cfg_display_alloc() in its
 * src/smpi/internals/smpi_config.cpp). */
bool handles_are_listed();

} // namespace weft
