// SPDX-License-Identifier: LGPL-2.1-only
// Allocates more memory than any machine has: `no_memory` catches the C++ exception, `no_memory
// die` does not.
#include <cstdio>
#include <mpi.h>
#include <new>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  constexpr std::size_t TOO_MUCH = std::size_t{1} << 46U;
  if (argc > 1)
    std::printf("%p\n", static_cast<void*>(new char[TOO_MUCH]));
  try {
    std::printf("%p\n", static_cast<void*>(new char[TOO_MUCH]));
  } catch (const std::bad_alloc&) {
    std::puts("std::bad_alloc");
  }
  MPI_Finalize();
}
