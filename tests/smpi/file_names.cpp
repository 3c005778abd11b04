// SPDX-License-Identifier: LGPL-2.1-only
/* MPI and C++ streams see the same files. Prints "N wrong". */
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mpi.h>
#include <string>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank  = 0;
  int wrong = 0;
  MPI_File file;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "by-mpi", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (rank == 0)
    MPI_File_write(file, "word", 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  std::string found;
  std::ifstream("by-mpi") >> found;
  wrong += found != "word" || std::filesystem::file_size("by-mpi") != 4;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::ofstream("by-stream") << "streamed";
    std::filesystem::remove("by-mpi");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  char read[9] = "";
  wrong += MPI_File_open(MPI_COMM_WORLD, "by-mpi", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS;
  MPI_File_open(MPI_COMM_WORLD, "by-stream", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_all(file, read, 8, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  wrong += std::string(read) != "streamed";
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::cout << wrong << " wrong" << std::endl;
  MPI_Finalize();
}
