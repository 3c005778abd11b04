// SPDX-License-Identifier: LGPL-2.1-only
/* Test that the SimGrid that runs is one whose private symbols and layouts weft knows. */
#pragma once

namespace weft {

/** Checks SimGrid's version, the functions that weft replaces, and fields that it reads. Takes less than a millisecond.
 * @throws UserError that names the first difference. */
void check_simgrid();

} // namespace weft
