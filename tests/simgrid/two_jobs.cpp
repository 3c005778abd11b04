// SPDX-License-Identifier: LGPL-2.1-only
/* Two MPI programs in one simulation, on separate hosts: `two_jobs PLATFORM FIRST SECOND`, with the numbers of their
 * ranks.
 *
 * Each program executes two Allreduces, whose lengths differ from those of the second program, over its own
 * MPI_COMM_WORLD and over a duplicate of it, and prints "PROGRAM RANK SUM SUM".
 */
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

int sum_over(MPI_Comm comm, int length, int own)
{
  std::vector<int> send(static_cast<std::size_t>(length), own);
  std::vector<int> receive(send.size());
  MPI_Allreduce(send.data(), receive.data(), length, MPI_INT, MPI_SUM, comm);
  for (const int element : receive)
    if (element != receive.front())
      return -1;
  return receive.front();
}

void run(const std::string& name, int length, int base)
{
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int first = sum_over(MPI_COMM_WORLD, length, base + rank);
  MPI_Comm copy   = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int second = sum_over(copy, length, 10 * base + rank);
  MPI_Comm_free(&copy);
  std::printf("%s %d %d %d\n", name.c_str(), rank, first, second);
  MPI_Finalize();
}

} // namespace

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  if (argc != 4)
    return 64;
  engine.load_platform(argv[1]);
  SMPI_init();
  const std::vector<sg4::Host*> all = engine.get_all_hosts();
  const auto middle                 = all.begin() + std::atoi(argv[2]);
  const auto end                    = middle + std::atoi(argv[3]);
  SMPI_app_instance_start("first", [] { run("first", 100, 1); }, {all.begin(), middle});
  SMPI_app_instance_start("second", [] { run("second", 3000, 100); }, {middle, end});
  engine.run();
  SMPI_finalize();
  return 0;
}
