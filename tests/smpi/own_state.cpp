// SPDX-License-Identifier: LGPL-2.1-only
/* Process state of the C++ library; see own_state.c. */
#ifdef ALONE
#define SYNC()
#else
#include <mpi.h>
#define SYNC() MPI_Barrier(MPI_COMM_WORLD)
#endif
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

static int rank;

struct Static {
  std::string name;
  ~Static() { std::cout << "rank " + std::to_string(rank) + ": " + name + " goes\n"; }
};

static Static object{"static"};

static void numbers()
{
  std::srand(static_cast<unsigned>(rank));
  SYNC();
  const int first = std::rand();
  SYNC();
  std::ostringstream line;
  line << "rank " << rank << ": std::rand " << first << ' ' << std::rand() << '\n';
  std::cout << line.str();
}

static void streams()
{
  if (rank == 1)
    std::cout << std::hex << std::setprecision(3) << std::showbase;
  if (rank == 2)
    std::cout.setstate(std::ios_base::failbit);
  SYNC();
  // A single write per rank, since output of other ranks could interleave.
  std::ostringstream line;
  line.copyfmt(std::cout);
  line << "rank " + std::to_string(rank) + ": " << 255 << ' ' << 3.14159265 << ' ' << std::cout.good() << '\n';
  std::cout.clear();
  std::cout << line.str();
  std::ostringstream own;
  std::streambuf* const before = rank % 2 ? std::cout.rdbuf(own.rdbuf()) : nullptr;
  if (before) // output of other ranks goes to the common stream
    std::cout << "mine";
  SYNC();
  if (before)
    std::cout << "mine";
  if (before)
    std::cout.rdbuf(before);
  std::cout << "rank " + std::to_string(rank) + ": " + own.str() + "\n";
  std::cout.copyfmt(std::ios(nullptr));
}

static void exceptions()
{
  try {
    throw std::runtime_error("first of " + std::to_string(rank));
  } catch (const std::exception&) {
    SYNC();
    std::string second;
    try {
      SYNC();
      throw std::logic_error("second of " + std::to_string(rank));
    } catch (const std::logic_error& error) {
      if (rank % 2)
        SYNC();
      second = error.what();
    }
    if (rank % 2 == 0)
      SYNC();
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::runtime_error& error) {
      std::cout << "rank " + std::to_string(rank) + ": " + error.what() + ", " + second + ", " +
                       std::to_string(std::uncaught_exceptions()) + "\n";
    }
  }
}

int main(int argc, char** argv)
{
#ifdef ALONE
  rank = std::atoi(argv[argc - 1]);
#else
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
  numbers();
  streams();
  exceptions();
  static Static local{"local of main"};
  SYNC();
#ifndef ALONE
  MPI_Finalize();
#endif
  try {
    Static automatic{"automatic"};
    if (rank == 3)
      throw 1;
    std::exit(0); // does not destroy automatic variables
  } catch (...) {
    std::exit(0);
  }
}
