/* SPDX-License-Identifier: LGPL-2.1-only */
/* Included first in sources that `weft cc` and `weft cxx` compile. Replaces system functions by SMPI's in a simulated
 * program.
 *
 * SMPI's own header defines macros for this, which also rewrite a program's own members and
 * variables of these names. Here the names remain, and the compiler emits different symbols for them. This header
 * declares reserved names only, and does not define feature macros.
 * -trace-call-location needs the macros.
 */
#ifndef __WEFT_PROGRAM
#define __WEFT_PROGRAM
#pragma GCC system_header

#ifdef TRACE_CALL_LOCATION
#include <smpi/smpi_helpers.h>
#else

#pragma redefine_extname sleep weft_own_sleep
#pragma redefine_extname usleep weft_own_usleep
#pragma redefine_extname nanosleep weft_own_nanosleep
#pragma redefine_extname gettimeofday weft_own_gettimeofday
#pragma redefine_extname clock_gettime weft_own_clock_gettime
#pragma redefine_extname getopt weft_own_getopt
#pragma redefine_extname getopt_long weft_own_getopt_long
#pragma redefine_extname getopt_long_only weft_own_getopt_long_only
#pragma redefine_extname getpid weft_own_getpid
#pragma redefine_extname exit weft_own_exit

#endif
#endif
