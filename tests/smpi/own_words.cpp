// SPDX-License-Identifier: LGPL-2.1-only
/* Names of C library functions as a program's own identifiers in C++; see own_words.c. */
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

struct Pool {
  void* malloc(int count, int size) { return std::malloc(static_cast<std::size_t>(count * size)); }
  void free(void* data) { std::free(data); }
  int exit() { return 3; }
  void sleep(int /*a*/, int /*b*/) {}
};

namespace own {
int getopt(int number)
{
  return number;
}
int getpid(int number)
{
  return number;
}
} // namespace own

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Pool pool;
  pool.free(pool.malloc(2, 3));
  const std::unique_ptr<char, decltype(&std::free)> text(static_cast<char*>(std::malloc(3)), &std::free);
  pool.sleep(1, 2);
  const double before = MPI_Wtime();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::printf("%d %d %d; %.3f\n", pool.exit(), own::getopt(5), own::getpid(4), MPI_Wtime() - before);
  MPI_Finalize();
  std::exit(0);
}
