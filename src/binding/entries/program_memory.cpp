// SPDX-License-Identifier: LGPL-2.1-only
/* Allocation functions of the simulated program, called by the definitions that `weft cc` links into it
 * (compilers/program_memory.cpp). From a size of smpi/auto-shared-malloc-thresh bytes, all ranks share the memory
 * ("folding").
 *
 * SMPI folds memory of malloc and calloc. Here realloc, aligned memory and C++'s new are folded too. Most of the memory
 * is SMPI's, which then recognises it and does not copy messages to and from it. SMPI aligns to pages, so memory with
 * larger alignments is mapped here. Zeros are written once per block, rather than through each of its mappings.
 *
 * Libraries free and enlarge folded memory of the program (getline, std::string), so weft's allocator asks about
 * pointers that neither of its parts can have allocated. */
#include "binding/abi/original.hpp"

#include <smpi/smpi.h>
#include <smpi/smpi_helpers_internal.h>
#include <xbt/config.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t PAGE = 4096;

/** SMPI's settings of shared memory. */
struct Sharing {
  std::size_t threshold = 0;     ///< size in bytes from which memory is folded; 0: no folding
  bool by_place         = false; ///< each allocation site of the program shares whole arrays of its own
  std::size_t block     = 0;
  bool lists            = false; ///< SMPI lists allocations at the end, and must see each

  Sharing()
      : threshold(static_cast<std::size_t>(simgrid::config::get_value<double>("smpi/auto-shared-malloc-thresh"))),
        block(static_cast<std::size_t>(simgrid::config::get_value<double>("smpi/shared-malloc-blocksize"))),
        lists(simgrid::config::get_value<bool>("smpi/display-allocs") ||
              simgrid::config::get_value<int>("smpi/list-leaks") != -1)
  {
    const auto mode = simgrid::config::get_value<std::string>("smpi/shared-malloc");
    by_place        = mode == "local";
    if (not by_place && mode != "on" && mode != "global" && mode != "yes" && mode != "true" && mode != "1")
      threshold = 0;
  }
  bool folds(std::size_t size) const { return threshold != 0 && size >= threshold; }
};

const Sharing& sharing()
{
  static const Sharing THE_SHARING;
  return THE_SHARING;
}

/** Mapping made here, for an alignment larger than a page. */
struct Mapping {
  void* start      = nullptr; ///< null for SMPI's memory
  std::size_t size = 0;
};

/** Returns an address range of @p size bytes, aligned to @p alignment, which is larger than a page. */
void* reserve(std::size_t size, std::size_t alignment)
{
  void* const all = mmap(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return nullptr;
  char* const begin  = static_cast<char*>(all);
  const auto before  = static_cast<std::size_t>(-reinterpret_cast<std::uintptr_t>(all)) % alignment;
  char* const result = begin + before;
  if (before > 0)
    munmap(begin, before);
  munmap(result + size, alignment - before);
  return result;
}

/** The program's folded memory. */
class FoldedMemory {
  struct Piece {
    std::size_t size;
    Mapping mapping;
  };
  std::mutex mutex_; // of the program's threads
  std::unordered_map<const void*, Piece> pieces_;
  std::map<long, std::pair<int, std::size_t>> files_; // by allocation site: file and its size

  /** Returns the file that an allocation maps, with at least @p size bytes; -1 if there is none. */
  int file(long site, std::size_t size)
  {
    auto& [file, bytes] = files_.try_emplace(site, -1, 0).first->second;
    if (file == -1)
      file = memfd_create("weft-folded", MFD_CLOEXEC);
    if (file != -1 && bytes < size && ftruncate(file, static_cast<off_t>(size)) == 0)
      bytes = size;
    return bytes < size ? -1 : file;
  }
  void* map_aligned(std::size_t size, std::size_t alignment, long site)
  {
    const std::size_t all  = (size + PAGE - 1) / PAGE * PAGE;
    const std::size_t step = sharing().by_place ? all : std::min(all, sharing().block);
    const int shared       = file(sharing().by_place ? site : 0, sharing().by_place ? all : sharing().block);
    char* const start      = shared == -1 ? nullptr : static_cast<char*>(reserve(all, alignment));
    if (not start)
      return nullptr;
    for (std::size_t offset = 0; offset < all; offset += step) {
      if (mmap(start + offset, std::min(step, all - offset), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared,
               0) == MAP_FAILED) {
        munmap(start, all);
        return nullptr;
      }
    }
    pieces_[start] = {size, {start, all}};
    return start;
  }

public:
  void* allocate(std::size_t size, std::size_t alignment, long site)
  {
    const std::scoped_lock held(mutex_);
    if (alignment > PAGE)
      return map_aligned(size, alignment, site);
    void* const data = smpi_shared_malloc(size, "allocation", static_cast<int>(site));
    pieces_[data]    = {size, {}};
    return data;
  }
  /** Returns the size of a block; nothing if the memory is not folded. */
  std::optional<std::size_t> size_of(const void* data)
  {
    const std::scoped_lock held(mutex_);
    const auto found = pieces_.find(data);
    return found == pieces_.end() ? std::nullopt : std::optional(found->second.size);
  }
  /** Frees a block. Returns false if the memory is not folded. */
  bool release(void* data)
  {
    const std::scoped_lock held(mutex_);
    const auto found = pieces_.extract(data);
    if (not found)
      return false;
    if (const Mapping& mapping = found.mapped().mapping; mapping.start)
      munmap(mapping.start, mapping.size);
    else
      smpi_shared_free(data);
    return true;
  }
};

FoldedMemory& folded()
{
  static auto& memory = *new FoldedMemory; // leaked, since programs free memory late
  return memory;
}

bool release_folded(void* data)
{
  return folded().release(data);
}

std::size_t folded_size(void* data)
{
  return folded().size_of(data).value_or(0);
}

/** Installs in weft's allocator, if there is one, the functions that recognise folded memory in calls of libraries. */
void tell_allocator()
{
  using Tell = void (*)(bool (*)(void*), std::size_t (*)(void*));
  if (const auto tell = reinterpret_cast<Tell>(dlsym(RTLD_DEFAULT, "weft_malloc_recognises")))
    tell(release_folded, folded_size);
}

void* fold(std::size_t size, std::size_t alignment, long site)
{
  static const bool TOLD = (tell_allocator(), true);
  static_cast<void>(TOLD);
  return folded().allocate(size, alignment, site);
}

void* zeroed(void* data, std::size_t size)
{
  if (data)
    std::memset(data, 0, sharing().by_place ? size : std::min(size, sharing().block));
  return data;
}

/** Moves data to other memory; both may map the same block. */
void* moved_to(void* to, void* from, std::size_t size, bool both_folded)
{
  if (to && (not both_folded || sharing().by_place))
    std::memmove(to, from, size);
  return to;
}

bool is_smpis(const void* data)
{
  std::vector<std::pair<std::size_t, std::size_t>> blocks;
  std::size_t offset = 0;
  return smpi_is_shared(data, blocks, &offset) != 0;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

extern "C" {

// SMPI's functions list allocations, and abort the run with an error if there is no memory.

WEFT_INTERPOSED void* weft_program_malloc(std::size_t size, long site)
{
  if (sharing().folds(size) && not sharing().lists)
    return fold(size, 0, site);
  if (not sharing().lists)
    if (void* const data = std::malloc(size))
      return data;
  return smpi_shared_malloc_intercept(size, "malloc", static_cast<int>(site));
}

WEFT_INTERPOSED void* weft_program_calloc(std::size_t count, std::size_t each, long site)
{
  std::size_t size = 0;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (sharing().folds(size) && not sharing().lists)
    return zeroed(fold(size, 0, site), size);
  if (not sharing().lists)
    if (void* const data = std::calloc(count, each))
      return data;
  return smpi_shared_calloc_intercept(count, each, "calloc", static_cast<int>(site));
}

WEFT_INTERPOSED void weft_program_free(void* data)
{
  if (data && (sharing().threshold == 0 || not folded().release(data)))
    smpi_shared_free(data);
}

WEFT_INTERPOSED void* weft_program_realloc(void* data, std::size_t size, long site)
{
  const Sharing& how = sharing();
  if (how.lists || how.threshold == 0 || size == 0)
    return smpi_shared_realloc_intercept(data, size, "realloc", static_cast<int>(site));
  if (not data)
    return weft_program_malloc(size, site);
  const std::optional<std::size_t> before = folded().size_of(data);
  if (not before && (is_smpis(data) || not how.folds(size)))
    return smpi_shared_realloc_intercept(data, size, "realloc", static_cast<int>(site));
  void* const moved = weft_program_malloc(size, site);
  moved_to(moved, data, std::min(size, before.value_or(malloc_usable_size(data))), before && how.folds(size));
  weft_program_free(data);
  return moved;
}

WEFT_INTERPOSED void* weft_program_reallocarray(void* data, std::size_t count, std::size_t each, long site)
{
  std::size_t size = 0;
  if (not __builtin_mul_overflow(count, each, &size))
    return weft_program_realloc(data, size, site);
  errno = ENOMEM;
  return nullptr;
}

WEFT_INTERPOSED void* weft_program_memalign(std::size_t alignment, std::size_t size, long site)
{
  return sharing().folds(size) && not sharing().lists ? fold(size, alignment, site) : memalign(alignment, size);
}

WEFT_INTERPOSED int weft_program_posix_memalign(void** data, std::size_t alignment, std::size_t size, long site)
{
  const bool valid = alignment != 0 && alignment % sizeof(void*) == 0 && (alignment & (alignment - 1)) == 0;
  if (not valid || not sharing().folds(size) || sharing().lists)
    return posix_memalign(data, alignment, size);
  void* const found = fold(size, alignment, site);
  if (not found)
    return ENOMEM;
  *data = found;
  return 0;
}

WEFT_INTERPOSED void* weft_program_new(std::size_t size, std::size_t alignment, bool throws, long site)
{
  const auto aligned = static_cast<std::align_val_t>(alignment);
  if (sharing().folds(size) && not sharing().lists) {
    void* const data = fold(size, alignment, site);
    return data || not throws ? data : throw std::bad_alloc();
  }
  if (throws)
    return alignment == 0 ? ::operator new(size) : ::operator new(size, aligned);
  return alignment == 0 ? ::operator new(size, std::nothrow) : ::operator new(size, aligned, std::nothrow);
}

} // extern "C"
