// SPDX-License-Identifier: LGPL-2.1-only
/* Attributes and info hints of windows (MPI 4.1, 12.2.1 and 12.2.6). SMPI lacks the flavour and the model, keeps the
 * others where the next call overwrites them, and forgets earlier hints when it gets new ones. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Notes which function has created a window, if @p result is a success. @return @p result */
int note_flavor(int result, const MPI_Win* win, int flavor);
/** Forgets a freed window. */
void forget_attributes(MPI_Win win);

} // namespace weft
