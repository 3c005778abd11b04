/* SPDX-License-Identifier: LGPL-2.1-only */
/* Included before everything else in sources that `weft cc` and `weft cxx` compile. Replaces system
 * functions by SMPI's in a simulated program.
 *
 * SMPI's own header defines macros for this, which also rewrite a program's own members and
 * variables of these names. Here the names remain, and the compiler emits other symbols for them.
 * -trace-call-location needs the macros.
 */
#ifndef WEFT_PROGRAM_H
#define WEFT_PROGRAM_H
#pragma GCC system_header

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#ifdef TRACE_CALL_LOCATION
#undef SMPI_HELPERS_H
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

#ifndef SMPI_NO_OVERRIDE_MALLOC
#pragma redefine_extname malloc weft_program_malloc
#pragma redefine_extname calloc weft_program_calloc
#pragma redefine_extname realloc weft_program_realloc
#pragma redefine_extname free smpi_shared_free

/* SMPI identifies memory that ranks share (smpi/auto-shared-malloc-thresh) by its allocation site. Its
 * macros use file and line; here it is the offset of the call from these functions, which is the
 * same in each rank's copy. */
#ifdef __cplusplus
extern "C" {
#endif

void* smpi_shared_malloc_intercept(__SIZE_TYPE__ size, const char* file, int line);
void* smpi_shared_calloc_intercept(__SIZE_TYPE__ count, __SIZE_TYPE__ size, const char* file, int line);
void* smpi_shared_realloc_intercept(void* data, __SIZE_TYPE__ size, const char* file, int line);

#define WEFT_IN_PROGRAM __attribute__((weak, noinline, visibility("hidden")))
#define WEFT_CALLER (int)((char*)__builtin_return_address(0) - (char*)&weft_program_malloc)

WEFT_IN_PROGRAM void* weft_program_malloc(__SIZE_TYPE__ size)
{
  return smpi_shared_malloc_intercept(size, "malloc", WEFT_CALLER);
}

WEFT_IN_PROGRAM void* weft_program_calloc(__SIZE_TYPE__ count, __SIZE_TYPE__ size)
{
  return smpi_shared_calloc_intercept(count, size, "calloc", WEFT_CALLER);
}

WEFT_IN_PROGRAM void* weft_program_realloc(void* data, __SIZE_TYPE__ size)
{
  return smpi_shared_realloc_intercept(data, size, "realloc", WEFT_CALLER);
}

#undef WEFT_IN_PROGRAM
#undef WEFT_CALLER

#ifdef __cplusplus
} // extern "C"
#endif
#endif

#endif
#endif
