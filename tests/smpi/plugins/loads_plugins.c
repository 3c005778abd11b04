/* SPDX-License-Identifier: LGPL-2.1-only */
/* Each rank loads libraries itself, and prints the results that a separate process would get. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int offset;
static int rank;

void note(const char* what, int value)
{
  printf("rank %d: %s %d\n", rank, what, value);
}

static int call(void* library, const char* name)
{
  int (*function)(void) = (int (*)(void))dlsym(library, name);
  return function ? function() : -1;
}

static void print_error(void)
{
  const char* const error = dlerror();
  if (rank == 0)
    printf("%s\n", error);
}

int main(int argc, char* argv[])
{
  char path[4096];
  Dl_info place;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  offset = 100 * rank;
  note("loaded before", dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) != NULL);
  void* const plugin = dlopen("./plugin.so", RTLD_NOW);
  if (!plugin) {
    printf("%s\n", dlerror());
    return 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  note("calls", call(plugin, "call"));
  MPI_Barrier(MPI_COMM_WORLD);
  note("calls", call(plugin, "call"));
  note("parts", call(plugin, "call_part"));
  note("parts", call(dlopen("parts/libpart.so", RTLD_NOW), "next_part"));
  note("offset", call(plugin, "find_offset"));
  note("offset by the program", *(int*)dlsym(dlopen(NULL, RTLD_NOW), "offset"));
  void* const again = dlopen(realpath("plugin.so", path), RTLD_NOW | RTLD_GLOBAL);
  note("same handle", again == plugin);
  note("same without loading", dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) == plugin);
  dladdr(dlsym(plugin, "call"), &place);
  note("named", !strcmp(realpath(place.dli_fname, path), realpath("plugin.so", path + 2000)));
  void* const nested = ((void* (*)(void))dlsym(plugin, "load_nested"))();
  note("calls by another", nested ? call(nested, "call_twice") : -1);
  note("global", dlsym(RTLD_DEFAULT, "call") == dlsym(plugin, "call"));
  note("cosine of a system library", (int)((double (*)(double))dlsym(dlopen("libm.so.6", RTLD_NOW), "cos"))(0));
  note("broken", dlopen("./broken.so", RTLD_NOW) != NULL);
  print_error();
  note("told again", dlerror() != NULL);
  note("missing", dlopen("./missing.so", RTLD_NOW) != NULL);
  print_error();
  if (rank == 1 && fork() == 0) {
    void* const own = dlopen("./second.so", RTLD_NOW);
    _exit(own ? call(own, "call") : 0);
  }
  if (rank == 1) {
    int status;
    wait(&status);
    note("calls in a child", WEXITSTATUS(status));
  }
  void* const second = dlopen("./second.so", RTLD_NOW);
  note("calls of a second", call(second, "call"));
  dlopen("second.so", RTLD_NOW | RTLD_NOLOAD); /* null, since its folder is not searched */
  dlopen("./second.so", RTLD_NOW);
  dlclose(second);
  note("calls after the first close", call(second, "call"));
  dlclose(second);
  note("loaded after the last close", dlopen("./second.so", RTLD_NOW | RTLD_NOLOAD) != NULL);
  note("calls after opening", call(dlopen("./second.so", RTLD_NOW), "call"));
  MPI_Finalize();
  return 0;
}
