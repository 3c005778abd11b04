// SPDX-License-Identifier: LGPL-2.1-only
/* Check that the loaded SimGrid has the private symbols and layouts that weft expects. */
#pragma once

namespace weft {

/** Checks SimGrid's version, the functions on which weft interposes, and the fields that it reads. Takes less than a
 * millisecond.
 * @throws UserError that names the first difference. */
void check_simgrid();

} // namespace weft
