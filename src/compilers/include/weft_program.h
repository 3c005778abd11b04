/* SPDX-License-Identifier: LGPL-2.1-only */
/* Included before everything else in sources that `weft cc` and `weft cxx` compile. Replaces system
 * functions by SMPI's in a simulated program.
 *
 * SMPI's own header defines macros for this, which also rewrite a program's own members and
 * variables of these names. Here the names remain, and the compiler emits other symbols for them. This
 * header declares reserved names only, and leaves feature macros to the program.
 * -trace-call-location needs the macros.
 */
#ifndef __WEFT_PROGRAM
#define __WEFT_PROGRAM
#pragma GCC system_header

#ifdef TRACE_CALL_LOCATION
#include <smpi/smpi_helpers.h>
#else

#pragma redefine_extname sleep smpi_sleep
#pragma redefine_extname usleep smpi_usleep
#pragma redefine_extname nanosleep smpi_nanosleep
#pragma redefine_extname gettimeofday smpi_gettimeofday
#pragma redefine_extname clock_gettime smpi_clock_gettime
#pragma redefine_extname getopt smpi_getopt
#pragma redefine_extname getopt_long smpi_getopt_long
#pragma redefine_extname getopt_long_only smpi_getopt_long_only
#pragma redefine_extname getpid smpi_getpid
#pragma redefine_extname exit smpi_exit

#endif
#endif
