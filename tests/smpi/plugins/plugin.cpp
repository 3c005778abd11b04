// SPDX-License-Identifier: LGPL-2.1-only
/* Plugin with static objects, which depends on a library, and on symbols of the program that loads it. */
#include <dlfcn.h>
#include <mpi.h>

extern "C" int offset; // defined by the program
extern "C" void note(const char* what, int value);
extern "C" int next_part();

namespace {
struct Lifetime {
  int rank = -1;
  Lifetime()
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    note("constructed", rank + offset);
  }
  ~Lifetime() { note("destroyed", rank); }
} const lifetime;
int calls;
} // namespace

extern "C" int call()
{
  return ++calls;
}
extern "C" int call_part()
{
  return next_part();
}
extern "C" int find_offset()
{
  return *static_cast<int*>(dlsym(RTLD_DEFAULT, "offset"));
}
extern "C" void* load_nested()
{
  return dlopen("nested.so", RTLD_NOW); // in the same folder as this library, whose run path names it
}
