// SPDX-License-Identifier: LGPL-2.1-only
/* Attributes and info hints of windows (MPI 4.1, 12.2.1 and 12.2.6). SMPI lacks the flavour and the model, stores other
 * attributes where the next call overwrites them, and drops earlier hints when it gets new ones. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Records which function created a window, if @p result is a success. @return @p result */
int note_flavor(int result, const MPI_Win* win, int flavor);
/** Removes the attributes of a freed window. */
void forget_attributes(MPI_Win win);

} // namespace weft
