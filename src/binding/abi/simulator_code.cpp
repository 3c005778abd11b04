// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/abi/simulator_code.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <span>
#include <string_view>

namespace weft {
namespace {

struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end   = 0;
};

/** Address ranges of the simulator's code. No vector: allocators call this while they start. */
struct SimulatorCode {
  std::array<CodeRange, 32> ranges{};
  std::size_t size = 0;
};

bool is_simulators(std::string_view library)
{
  constexpr std::array<std::string_view, 5> NAMES{"/ld-linux", "/libsimgrid", "/libweft", "/weft-malloc",
                                                  "/weft-mimalloc"};
  return library.empty() || std::ranges::any_of(NAMES, [library](std::string_view name) {
           return library.find(name, library.rfind('/')) != std::string_view::npos;
         });
}

int note_code(dl_phdr_info* library, std::size_t /*size*/, void* into)
{
  auto& code = *static_cast<SimulatorCode*>(into);
  if (not is_simulators(library->dlpi_name))
    return 0;
  for (const auto& segment : std::span(library->dlpi_phdr, library->dlpi_phnum))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && code.size < code.ranges.size())
      code.ranges[code.size++] = {library->dlpi_addr + segment.p_vaddr,
                                  library->dlpi_addr + segment.p_vaddr + segment.p_memsz};
  return 0;
}

/** Libraries that the program uses, by their treatment. */
enum class LibraryKind : std::uintptr_t { program, openmp, threads };

bool begins_with_one(std::string_view name, std::span<const std::string_view> beginnings)
{
  return std::ranges::any_of(beginnings, [name](std::string_view one) { return name.starts_with(one); });
}

LibraryKind find_library_kind(const void* address)
{
  constexpr std::array<std::string_view, 3> OPENMP{"libgomp.so", "libomp", "libiomp5"};
  constexpr std::array<std::string_view, 5> THREADS{"libopenblas", "libblis", "libmkl_", "libtbb", "libarmpl"};
  Dl_info library{};
  if (dladdr(address, &library) == 0 || not library.dli_fname)
    return LibraryKind::program;
  const std::string_view path = library.dli_fname;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (begins_with_one(name, OPENMP))
    return LibraryKind::openmp;
  return begins_with_one(name, THREADS) ? LibraryKind::threads : LibraryKind::program;
}

/** Cached form of find_library_kind(). Programs read the clock often, from few call sites: the answer for a call site
 * is cached in the low bits of its address. */
LibraryKind library_kind(const void* address)
{
  constexpr std::size_t KEPT         = 1024;
  constexpr unsigned MIXED           = 12;
  constexpr unsigned KIND_BITS       = 2;
  constexpr std::uintptr_t KIND_MASK = (1U << KIND_BITS) - 1;
  static std::array<std::atomic<std::uintptr_t>, KEPT> answers{};
  const auto at      = reinterpret_cast<std::uintptr_t>(address);
  auto& kept         = answers[(at ^ (at >> MIXED)) % KEPT];
  const auto known   = kept.load(std::memory_order_relaxed);
  const auto shifted = at << KIND_BITS;
  if ((known & ~KIND_MASK) == shifted)
    return static_cast<LibraryKind>(known & KIND_MASK);
  const LibraryKind found = find_library_kind(address);
  kept.store(shifted | static_cast<std::uintptr_t>(found), std::memory_order_relaxed);
  return found;
}

} // namespace

bool is_in_simulator(const void* address)
{
  static const SimulatorCode CODE = [] {
    SimulatorCode code;
    dl_iterate_phdr(note_code, &code);
    return code;
  }();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::ranges::any_of(std::span(CODE.ranges).first(CODE.size),
                             [at](const CodeRange& range) { return range.begin <= at && at < range.end; });
}

bool is_in_openmp(const void* address)
{
  return library_kind(address) == LibraryKind::openmp;
}

bool is_in_thread_library(const void* address)
{
  return library_kind(address) != LibraryKind::program;
}

} // namespace weft
