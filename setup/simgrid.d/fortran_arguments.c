// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI calls this in place of _gfortran_set_args, before it loads the program. weft has libgfortran loaded by then
 * where the program needs it (python/weft/runs/privatization/libraries.py); elsewhere it is not missed. Its name is the same since
 * GCC 8. */
#define _GNU_SOURCE
#include <dlfcn.h>

void weft_gfortran_set_args(int count, char** arguments);

void weft_gfortran_set_args(int count, char** arguments)
{
  void* const libgfortran = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
  if (!libgfortran)
    return;
  void (*set_args)(int, char**);
  *(void**)&set_args = dlsym(libgfortran, "_gfortran_set_args");
  if (set_args)
    set_args(count, arguments);
  dlclose(libgfortran);
}
