// SPDX-License-Identifier: LGPL-2.1-only
/* Prints the contents that a rank reads from system files about its machine and its program, in rank order. */
#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mpi.h>
#include <string>
#include <unistd.h>

namespace {

std::string content(const std::string& path)
{
  std::ifstream file(path);
  std::string all{std::istreambuf_iterator<char>(file), {}};
  std::ranges::replace(all, '\0', ' ');
  return all.substr(0, all.find_last_not_of(" \n") + 1);
}

std::string link_of(const std::string& path)
{
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length < 0 ? "none" : std::filesystem::path(std::string(target.data(), length)).filename();
}

long processors()
{
  std::ifstream file("/proc/cpuinfo");
  long found = 0;
  for (std::string line; std::getline(file, line);)
    found += line.starts_with("processor\t") ? 1 : 0;
  return found;
}

} // namespace

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank  = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string own = "/proc/" + std::to_string(getpid());
  char* const resolved  = realpath("/proc/self/exe", nullptr);
  for (int turn = 0; turn < ranks; ++turn) {
    if (turn == rank)
      std::cout << content("/etc/hostname") << '|' << content("/proc/sys/kernel/hostname") << '|' << processors() << '|'
                << content("/sys/devices/system/cpu/online") << '|' << link_of("/proc/self/exe") << '|'
                << link_of(own + "/exe") << '|' << std::filesystem::path(resolved).filename().string() << '|'
                << content("/proc/self/comm") << '|' << content(own + "/cmdline") << '|'
                << content(own + "/statm").empty() << std::endl;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::free(resolved);
  MPI_Finalize();
  return 0;
}
