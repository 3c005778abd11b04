// SPDX-License-Identifier: LGPL-2.1-only
/* Order of what Fortran's statements do to files. libgfortran holds locks while it calls the C library, so a rank lets
 * others run before and after a statement instead. */
#pragma once

namespace weft {

/** Brings Fortran's statements in order from now on. */
void order_fortran_statements();

} // namespace weft
