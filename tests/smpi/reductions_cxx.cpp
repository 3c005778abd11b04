// SPDX-License-Identifier: LGPL-2.1-only
// Integer sums from C++: vectors, objects with constructors at file scope, an exception caught
// between two calls.
#include <iostream>
#include <mpi.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

std::vector<int> at_file_scope(1000, 1);

std::vector<int> sum(const std::vector<int>& own, MPI_Comm comm)
{
  std::vector<int> result(own.size());
  MPI_Allreduce(own.data(), result.data(), static_cast<int>(own.size()), MPI_INT, MPI_SUM, comm);
  return result;
}

int place_in(MPI_Comm comm)
{
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm)
{
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

bool check(const std::vector<int>& found, int first, int step)
{
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != first + step * static_cast<int>(i))
      return false;
  return true;
}

} // namespace

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int rank  = place_in(MPI_COMM_WORLD);
  const int ranks = ranks_of(MPI_COMM_WORLD);

  std::vector<int> own(777);
  std::iota(own.begin(), own.end(), rank);
  bool right = check(sum(own, MPI_COMM_WORLD), ranks * (ranks - 1) / 2, ranks);
  try {
    throw std::runtime_error("caught");
  } catch (const std::runtime_error&) {
    right = right && check(sum(at_file_scope, MPI_COMM_WORLD), ranks, 0);
  }
  MPI_Allreduce(MPI_IN_PLACE, at_file_scope.data(), 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  right = right && at_file_scope[9] == ranks && at_file_scope[10] == 1;

  std::cout << "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + (right ? ": right\n" : ": WRONG\n");
  MPI_Finalize();
  return right ? 0 : 1;
}
