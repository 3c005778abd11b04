// SPDX-License-Identifier: LGPL-2.1-only
/* Memory allocator of a simulation: mimalloc for small blocks, of which each message allocates and frees dozens, since
 * it is faster for them than glibc; glibc for large ones.
 *
 * This is a separate library, loaded after libweft.so and before the C library (python/weft/runs/launch.py), so that
 * the simulator, all its libraries and the ranks use it. It depends on no other part of weft. C++'s operators remain
 * libstdc++'s, which call malloc. mimalloc is linked as a library that exports only the functions called here
 * (setup/allocator.py).
 *
 * Large blocks come from glibc because mimalloc (version 2.0.9) treats them in ways that programs do not expect: it
 * grants any size, even beyond the machine's memory; calloc writes to the whole block, so that memory which a rank
 * never touches becomes resident; freed blocks are kept; growing copies. The owner of a block follows from its address:
 * mimalloc gets one address range and uses no other. If the system refuses that range (ulimit -v, ulimit -d,
 * vm.overcommit_memory of 2) or it is full, glibc serves all blocks. */
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <mimalloc.h>
#include <sys/mman.h>

/** Gives a function the symbol of a C library function. Its C++ name differs because the library's headers declare
 * their names with other attributes. */
#define WEFT_MALLOC(symbol) __asm__(symbol) __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(std::size_t size);                        // NOLINT(*-identifier,*-identifier-naming)
void* __libc_calloc(std::size_t count, std::size_t each);     // NOLINT(*-identifier,*-identifier-naming)
void* __libc_realloc(void* piece, std::size_t size);          // NOLINT(*-identifier,*-identifier-naming)
void* __libc_memalign(std::size_t alignment, std::size_t of); // NOLINT(*-identifier,*-identifier-naming)
void __libc_free(void* piece);                                // NOLINT(*-identifier,*-identifier-naming)
}

namespace {

constexpr std::size_t LARGE        = 16U << 10U;
constexpr std::uintptr_t PAGE      = 4096;
constexpr std::uintptr_t ALIGNMENT = std::uintptr_t{32} << 20U; // alignment of mimalloc's segments
constexpr std::size_t RANGE        = std::size_t{256} << 30U;   // address space; takes no memory until used

bool has_mimalloc = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/** Start of mimalloc's range; until it exists, an address such that no block lies within RANGE above it. */
std::uintptr_t start = std::uintptr_t{1} << 63U; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/** Gives mimalloc its range. The loader calls it after mimalloc's own constructor, while there is only one thread.
 * Before, glibc serves all blocks: the constructor makes system calls, which libweft.so replaces and finds by dlsym(),
 * whose first call allocates memory before glibc 2.34; mimalloc would begin anew in the midst of both. */
__attribute__((constructor)) void begin()
{
  void* const range =
      mmap(nullptr, RANGE + ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    return;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(range) % ALIGNMENT;
  mi_option_enable(mi_option_limit_os_alloc);
  // Declared as not committed: mimalloc returns no committed memory to the system.
  char* const aligned = static_cast<char*>(range) + before;
  if (not mi_manage_os_memory(aligned, RANGE, false, false, true, -1))
    return;
  start        = reinterpret_cast<std::uintptr_t>(aligned);
  has_mimalloc = true;
}

bool is_small(std::size_t size)
{
  return size < LARGE && has_mimalloc;
}

/** Frees memory that all ranks share, and another function returns its size; null until libweft.so has created such
 * memory. */
bool (*release_folded)(void*)     = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::size_t (*folded_size)(void*) = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/** Returns the size of memory that all ranks share, which is page-aligned; 0 for other memory. */
std::size_t shared_size(void* piece)
{
  return folded_size && reinterpret_cast<std::uintptr_t>(piece) % PAGE == 0 ? folded_size(piece) : 0;
}

bool is_mimallocs(const void* piece)
{
  return reinterpret_cast<std::uintptr_t>(piece) - start < RANGE;
}

} // namespace

extern "C" {

void* weft_malloc(std::size_t size) WEFT_MALLOC("malloc");
void* weft_malloc(std::size_t size)
{
  if (is_small(size)) [[likely]]
    if (void* const piece = mi_malloc(size)) [[likely]]
      return piece;
  return __libc_malloc(size);
}

void weft_free(void* piece) WEFT_MALLOC("free");
void weft_free(void* piece)
{
  if (is_mimallocs(piece)) [[likely]]
    mi_free(piece);
  else if (not piece || shared_size(piece) == 0 || not release_folded(piece))
    __libc_free(piece);
}

/** Registers functions for the program's memory that belongs to neither mimalloc nor glibc, although libraries may free
 * or enlarge it. */
void weft_malloc_recognises(bool (*release)(void*), std::size_t (*size_of)(void*))
    WEFT_MALLOC("weft_malloc_recognises");
void weft_malloc_recognises(bool (*release)(void*), std::size_t (*size_of)(void*))
{
  release_folded = release;
  folded_size    = size_of;
}

void* weft_calloc(std::size_t count, std::size_t each) WEFT_MALLOC("calloc");
void* weft_calloc(std::size_t count, std::size_t each)
{
  std::size_t size = 0;
  if (not __builtin_mul_overflow(count, each, &size) && is_small(size))
    if (void* const piece = mi_zalloc(size))
      return piece;
  return __libc_calloc(count, each);
}

void* weft_realloc(void* piece, std::size_t size) WEFT_MALLOC("realloc");
void* weft_realloc(void* piece, std::size_t size)
{
  if (piece == nullptr)
    return weft_malloc(size);
  if (const std::size_t before = is_mimallocs(piece) ? 0 : shared_size(piece); before > 0) {
    void* const own = size == 0 ? nullptr : weft_malloc(size);
    if (own)
      std::memcpy(own, piece, std::min(size, before));
    if (own || size == 0)
      release_folded(piece);
    return own;
  }
  if (not is_mimallocs(piece))
    return __libc_realloc(piece, size);
  if (size == 0) { // like glibc
    mi_free(piece);
    return nullptr;
  }
  if (size < LARGE)
    if (void* const larger = mi_realloc(piece, size))
      return larger;
  void* const larger = __libc_malloc(size);
  if (larger) {
    std::memcpy(larger, piece, std::min(size, mi_usable_size(piece)));
    mi_free(piece);
  }
  return larger;
}

void* weft_reallocarray(void* piece, std::size_t count, std::size_t each) WEFT_MALLOC("reallocarray");
void* weft_reallocarray(void* piece, std::size_t count, std::size_t each)
{
  std::size_t size = 0;
  if (not __builtin_mul_overflow(count, each, &size))
    return weft_realloc(piece, size);
  errno = ENOMEM;
  return nullptr;
}

void* weft_memalign(std::size_t alignment, std::size_t size) WEFT_MALLOC("memalign");
void* weft_memalign(std::size_t alignment, std::size_t size)
{
  if (alignment <= PAGE && is_small(size))
    if (void* const piece = mi_memalign(alignment, size))
      return piece;
  return __libc_memalign(alignment, size);
}

void* weft_aligned_alloc(std::size_t alignment, std::size_t size) WEFT_MALLOC("aligned_alloc");
void* weft_aligned_alloc(std::size_t alignment, std::size_t size)
{
  return weft_memalign(alignment, size); // like glibc, which accepts sizes that are not multiples of the alignment
}

int weft_posix_memalign(void** piece, std::size_t alignment, std::size_t size) WEFT_MALLOC("posix_memalign");
int weft_posix_memalign(void** piece, std::size_t alignment, std::size_t size)
{
  if (alignment == 0 || alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  const int before  = errno; // which must not change
  void* const found = weft_memalign(alignment, size);
  errno             = before;
  if (not found)
    return ENOMEM;
  *piece = found;
  return 0;
}

void* weft_valloc(std::size_t size) WEFT_MALLOC("valloc");
void* weft_valloc(std::size_t size)
{
  return weft_memalign(PAGE, size);
}

void* weft_pvalloc(std::size_t size) WEFT_MALLOC("pvalloc");
void* weft_pvalloc(std::size_t size)
{
  return weft_memalign(PAGE, size > SIZE_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE);
}

std::size_t weft_malloc_usable_size(void* piece) WEFT_MALLOC("malloc_usable_size");
std::size_t weft_malloc_usable_size(void* piece)
{
  if (is_mimallocs(piece))
    return mi_usable_size(piece);
  if (const std::size_t size = piece ? shared_size(piece) : 0; size > 0)
    return size;
  return reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"))(piece);
}

} // extern "C"
