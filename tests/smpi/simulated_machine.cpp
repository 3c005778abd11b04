// SPDX-License-Identifier: LGPL-2.1-only
// Prints the name and the number of processors of the machine as C++ programs ask for them, also on a thread.
#include <cstdio>
#include <mpi.h>
#include <string>
#include <thread>
#include <unistd.h>

static std::string name()
{
  std::string text(256, '\0');
  gethostname(text.data(), text.size());
  return text.c_str();
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string on_thread;
  unsigned processors = 0;
  std::thread other([&] {
    on_thread  = name();
    processors = std::thread::hardware_concurrency();
  });
  other.join();
  std::printf("rank %d: %s %s %u %u\n", rank, name().c_str(), on_thread.c_str(), std::thread::hardware_concurrency(),
              processors);
  MPI_Finalize();
}
