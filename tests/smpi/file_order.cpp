// SPDX-License-Identifier: LGPL-2.1-only
/* Every rank opens a file as a stream; the first one computes and writes. */
#include <fstream>
#include <iostream>
#include <mpi.h>
#include <string>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ofstream file("result");
  if (rank == 0) {
    volatile double sum = 0;
    for (long each = 1; each < 30'000'000; ++each)
      sum = sum + 1.0 / static_cast<double>(each);
    file << "computed" << std::endl;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  file.close();
  if (rank == 0) {
    std::string text;
    std::getline(std::ifstream("result"), text);
    std::cout << text << std::endl;
  }
  MPI_Finalize();
}
