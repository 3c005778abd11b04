// SPDX-License-Identifier: LGPL-2.1-only
/* Order of the file effects of Fortran's statements. libgfortran holds locks while it calls the C library, so a rank
 * lets others run before and after a statement instead. */
#pragma once

namespace weft {

/** Enables the ordering of Fortran's statements. */
void order_fortran_statements();

} // namespace weft
