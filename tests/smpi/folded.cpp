// SPDX-License-Identifier: LGPL-2.1-only
// Bytes of memory that a rank's array of 4 MiB takes, by the function that allocates it: folded FUNCTION. Linux counts
// a page that ranks share once (proportional set size; files depend on other processes, and are left out). Also whether
// the memory has the contents and the alignment that the function promises, and whether libraries can free and enlarge
// it.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr std::size_t SIZE = std::size_t{4} << 20U;

/** Returns the memory of the process, in bytes. */
long size_of_process()
{
  char line[256];
  long all      = 0;
  long size     = 0;
  std::FILE* in = std::fopen("/proc/self/smaps_rollup", "r");
  while (in && std::fgets(line, sizeof line, in))
    if (std::sscanf(line, "Pss_Anon: %ld kB", &size) == 1 || std::sscanf(line, "Pss_Shmem: %ld kB", &size) == 1)
      all += size;
  std::fclose(in);
  return all * 1024;
}

void* zeroed_by_two_calls()
{
  void* const data = std::malloc(SIZE);
  if (data)
    std::memset(data, 0, SIZE); // GCC would merge malloc and memset into calloc
  return data;
}

void* grown()
{
  return std::realloc(std::malloc(SIZE / 1024), SIZE);
}

void* shrunk()
{
  return std::realloc(std::malloc(2 * SIZE), SIZE);
}

template <std::size_t alignment> void* by_posix_memalign()
{
  void* data = nullptr;
  return posix_memalign(&data, alignment, SIZE) == 0 ? data : nullptr;
}

using Make = void* (*)();

const std::map<std::string, Make>& makers()
{
  static const std::map<std::string, Make> ALL{
      {"malloc", [] { return std::malloc(SIZE); }},
      {"calloc", [] { return std::calloc(SIZE / 8, 8); }},
      {"malloc+memset", zeroed_by_two_calls},
      {"realloc", grown},
      {"realloc-smaller", shrunk},
      {"reallocarray", [] { return reallocarray(nullptr, SIZE / 8, 8); }},
      {"aligned_alloc", [] { return aligned_alloc(64, SIZE); }},
      {"posix_memalign", by_posix_memalign<4096>},
      {"posix_memalign-2MiB", by_posix_memalign<(1U << 21U)>},
      {"memalign", [] { return memalign(128, SIZE); }},
      {"valloc", [] { return valloc(SIZE); }},
      {"new", [] { return ::operator new(SIZE); }},
      {"new[]", []() -> void* { return new char[SIZE]; }},
      {"new-nothrow", []() -> void* { return new (std::nothrow) char[SIZE]; }},
      {"new-aligned", [] { return ::operator new(SIZE, static_cast<std::align_val_t>(64)); }},
      {"new-aligned-nothrow",
       [] { return ::operator new[](SIZE, static_cast<std::align_val_t>(1U << 21U), std::nothrow); }},
      {"vector", []() -> void* { return (new std::vector<char>(SIZE))->data(); }},
      {"make_unique", []() -> void* { return std::make_unique<char[]>(SIZE).release(); }},
      {"pointer", [] {
         void* (*volatile make)(std::size_t) = std::malloc;
         return make(SIZE);
       }}};
  return ALL;
}

std::uintptr_t alignment_of(const std::string& name)
{
  if (name.find("2MiB") != std::string::npos || name == "new-aligned-nothrow")
    return 1U << 21U;
  return name == "posix_memalign" || name == "valloc" ? 4096 : name == "memalign" ? 128 : 16;
}

/** Frees memory by its matching function, writes to it in a library, and lets a library enlarge it. */
bool survives_libraries()
{
  auto* line       = static_cast<char*>(std::malloc(SIZE));
  std::size_t size = SIZE;
  std::FILE* in    = std::fopen("/proc/self/status", "r");
  const bool read  = line && in && getline(&line, &size, in) > 0 && std::strncmp(line, "Name:", 5) == 0;
  std::fclose(in);
  std::free(line);
  auto* small = static_cast<char*>(std::malloc(100));
  std::strcpy(small, "kept");
  auto* large     = static_cast<char*>(std::realloc(small, SIZE));
  const bool kept = std::strcmp(large, "kept") == 0 && malloc_usable_size(large) >= SIZE;
  large           = static_cast<char*>(std::realloc(large, 100));
  const bool back = std::strcmp(large, "kept") == 0;
  std::free(large);
  char* copy = strdup("copy");
  const std::string text(SIZE, 'x');
  const bool grown = (text + "y").size() == SIZE + 1 && std::strcmp(copy, "copy") == 0;
  std::free(copy);
  ::operator delete(::operator new(SIZE), SIZE);
  delete[] new (std::nothrow) char[SIZE];
  ::operator delete(::operator new(SIZE, std::align_val_t{4096}), SIZE, std::align_val_t{4096});
  return read && kept && back && grown;
}

} // namespace

int main(int argc, char** argv)
{
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int one = 1; one < argc; ++one) {
    const std::string name = argv[one];
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = rank == 0 ? size_of_process() : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    auto* const data = static_cast<volatile char*>(makers().at(name)());
    const bool clean = (name.find("calloc") == std::string::npos && name.find("memset") == std::string::npos) ||
                       (data[0] == 0 && data[SIZE / 2] == 0 && data[SIZE - 1] == 0);
    MPI_Barrier(MPI_COMM_WORLD); // other ranks write
    for (std::size_t at = 0; at < SIZE; at += 4096)
      data[at] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      std::printf("%s %ld\n", name.c_str(), (size_of_process() - before) / ranks);
    if (not clean || reinterpret_cast<std::uintptr_t>(data) % alignment_of(name) != 0)
      std::printf("WRONG: %s\n", name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc == 1 && not survives_libraries())
    std::puts("WRONG: libraries");
  MPI_Finalize();
  return 0;
}
