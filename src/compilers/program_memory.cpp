// SPDX-License-Identifier: LGPL-2.1-only
/* The allocation functions of a simulated program, linked into each program and library that `weft cc` builds. The
 * linker binds all of the program's calls to these definitions: calls in its sources, calls by gfortran for ALLOCATE,
 * and the calloc into which GCC merges malloc and memset. They are hidden, so that no other library uses them, and
 * weak, so that a program's own functions of these names take precedence.
 *
 * libweft.so (binding/entries/program_memory.cpp) executes them. Without it, in SimGrid's own launcher, SMPI does,
 * which shares less; outside a simulation, where a build runs the program, the process's own allocator does. Memory is
 * identified by the call that allocates it: the offset of the return address, which is the same in each rank's copy of
 * the program. */
#include <cstddef>
#include <dlfcn.h>

#define WEFT_DEFINES(symbol) __asm__(symbol) __attribute__((weak, noinline, visibility("hidden")))
#define WEFT_CALLER static_cast<long>(static_cast<char*>(__builtin_return_address(0)) - &anchor)

namespace {
const char anchor          = 0; // an address in this copy of the program
constexpr std::size_t PAGE = 4096;
} // namespace

extern "C" {

[[gnu::weak]] void* weft_program_malloc(std::size_t size, long site);
[[gnu::weak]] void* weft_program_calloc(std::size_t count, std::size_t each, long site);
[[gnu::weak]] void* weft_program_realloc(void* data, std::size_t size, long site);
[[gnu::weak]] void* weft_program_reallocarray(void* data, std::size_t count, std::size_t each, long site);
[[gnu::weak]] void* weft_program_memalign(std::size_t alignment, std::size_t size, long site);
[[gnu::weak]] int weft_program_posix_memalign(void** data, std::size_t alignment, std::size_t size, long site);
[[gnu::weak]] void weft_program_free(void* data);
/** @p alignment: 0 for malloc's; @p throws: throws std::bad_alloc instead of returning null. */
[[gnu::weak]] void* weft_program_new(std::size_t size, std::size_t alignment, bool throws, long site);

[[gnu::weak]] void* smpi_shared_malloc_intercept(std::size_t size, const char* file, int line);
[[gnu::weak]] void* smpi_shared_calloc_intercept(std::size_t count, std::size_t each, const char* file, int line);
[[gnu::weak]] void* smpi_shared_realloc_intercept(void* data, std::size_t size, const char* file, int line);
[[gnu::weak]] void smpi_shared_free(void* data);

/* The process's allocator, which may be preloaded. Versioned symbols, since the plain names are the program's own. */
void* weft_system_malloc(std::size_t size);
void* weft_system_calloc(std::size_t count, std::size_t each);
void* weft_system_realloc(void* data, std::size_t size);
void* weft_system_memalign(std::size_t alignment, std::size_t size);
void weft_system_free(void* data);

} // extern "C"

__asm__(".symver weft_system_malloc, malloc@GLIBC_2.2.5\n"
        ".symver weft_system_calloc, calloc@GLIBC_2.2.5\n"
        ".symver weft_system_realloc, realloc@GLIBC_2.2.5\n"
        ".symver weft_system_memalign, memalign@GLIBC_2.2.5\n"
        ".symver weft_system_free, free@GLIBC_2.2.5\n");

namespace {

void* resized(void* data, std::size_t size, const char* function, long site)
{
  return smpi_shared_realloc_intercept ? smpi_shared_realloc_intercept(data, size, function, static_cast<int>(site))
                                       : weft_system_realloc(data, size);
}

void* aligned(std::size_t alignment, std::size_t size, long site)
{
  return weft_program_memalign ? weft_program_memalign(alignment, size, site) : weft_system_memalign(alignment, size);
}

/** Calls the new of libstdc++, which calls the program's handler and throws std::bad_alloc. */
void* failed_new(std::size_t size)
{
  auto* const theirs = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_DEFAULT, "_Znwm"));
  return theirs ? theirs(size) : nullptr;
}

void* made(std::size_t size, std::size_t alignment, bool throws, long site)
{
  if (weft_program_new)
    return weft_program_new(size, alignment, throws, site);
  if (alignment == 0 && smpi_shared_malloc_intercept)
    return smpi_shared_malloc_intercept(size, "new", static_cast<int>(site));
  void* const found = alignment == 0 ? weft_system_malloc(size) : weft_system_memalign(alignment, size);
  return found || not throws ? found : failed_new(size);
}

void release(void* data)
{
  if (weft_program_free)
    weft_program_free(data);
  else if (smpi_shared_free)
    smpi_shared_free(data);
  else
    weft_system_free(data);
}

} // namespace

extern "C" {

void* weft_own_malloc(std::size_t size) WEFT_DEFINES("malloc");
void* weft_own_malloc(std::size_t size)
{
  const long site = WEFT_CALLER;
  if (weft_program_malloc)
    return weft_program_malloc(size, site);
  return smpi_shared_malloc_intercept ? smpi_shared_malloc_intercept(size, "malloc", static_cast<int>(site))
                                      : weft_system_malloc(size);
}

void* weft_own_calloc(std::size_t count, std::size_t each) WEFT_DEFINES("calloc");
void* weft_own_calloc(std::size_t count, std::size_t each)
{
  const long site = WEFT_CALLER;
  if (weft_program_calloc)
    return weft_program_calloc(count, each, site);
  return smpi_shared_calloc_intercept ? smpi_shared_calloc_intercept(count, each, "calloc", static_cast<int>(site))
                                      : weft_system_calloc(count, each);
}

void* weft_own_realloc(void* data, std::size_t size) WEFT_DEFINES("realloc");
void* weft_own_realloc(void* data, std::size_t size)
{
  const long site = WEFT_CALLER;
  return weft_program_realloc ? weft_program_realloc(data, size, site) : resized(data, size, "realloc", site);
}

void* weft_own_reallocarray(void* data, std::size_t count, std::size_t each) WEFT_DEFINES("reallocarray");
void* weft_own_reallocarray(void* data, std::size_t count, std::size_t each)
{
  const long site  = WEFT_CALLER;
  std::size_t size = 0;
  if (weft_program_reallocarray)
    return weft_program_reallocarray(data, count, each, site);
  return __builtin_mul_overflow(count, each, &size) ? nullptr : resized(data, size, "reallocarray", site);
}

void* weft_own_memalign(std::size_t alignment, std::size_t size) WEFT_DEFINES("memalign");
void* weft_own_memalign(std::size_t alignment, std::size_t size)
{
  return aligned(alignment, size, WEFT_CALLER);
}

void* weft_own_aligned_alloc(std::size_t alignment, std::size_t size) WEFT_DEFINES("aligned_alloc");
void* weft_own_aligned_alloc(std::size_t alignment, std::size_t size)
{
  return aligned(alignment, size, WEFT_CALLER);
}

int weft_own_posix_memalign(void** data, std::size_t alignment, std::size_t size) WEFT_DEFINES("posix_memalign");
int weft_own_posix_memalign(void** data, std::size_t alignment, std::size_t size)
{
  constexpr int INVALID = 22; // EINVAL
  constexpr int FULL    = 12; // ENOMEM
  const long site       = WEFT_CALLER;
  if (weft_program_posix_memalign)
    return weft_program_posix_memalign(data, alignment, size, site);
  if (alignment == 0 || alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0)
    return INVALID;
  void* const found = weft_system_memalign(alignment, size);
  if (not found)
    return FULL;
  *data = found;
  return 0;
}

void* weft_own_valloc(std::size_t size) WEFT_DEFINES("valloc");
void* weft_own_valloc(std::size_t size)
{
  return aligned(PAGE, size, WEFT_CALLER);
}

void* weft_own_pvalloc(std::size_t size) WEFT_DEFINES("pvalloc");
void* weft_own_pvalloc(std::size_t size)
{
  return aligned(PAGE, (size + PAGE - 1) / PAGE * PAGE, WEFT_CALLER);
}

void weft_own_free(void* data) WEFT_DEFINES("free");
void weft_own_free(void* data)
{
  release(data);
}

} // extern "C"

// ---- C++: operators new and delete, with size, alignment and std::nothrow -------------------------------------------

extern "C" {

#define WEFT_NEW(name, symbol)                                                                                         \
  void* weft_own_##name(std::size_t size) WEFT_DEFINES(symbol);                                                        \
  void* weft_own_##name(std::size_t size)                                                                              \
  {                                                                                                                    \
    return made(size, 0, true, WEFT_CALLER);                                                                           \
  }                                                                                                                    \
  void* weft_own_##name##_nothrow(std::size_t size, const void* tag) WEFT_DEFINES(symbol "RKSt9nothrow_t");            \
  void* weft_own_##name##_nothrow(std::size_t size, const void* /*tag*/)                                               \
  {                                                                                                                    \
    return made(size, 0, false, WEFT_CALLER);                                                                          \
  }                                                                                                                    \
  void* weft_own_##name##_aligned(std::size_t size, std::size_t alignment) WEFT_DEFINES(symbol "St11align_val_t");     \
  void* weft_own_##name##_aligned(std::size_t size, std::size_t alignment)                                             \
  {                                                                                                                    \
    return made(size, alignment, true, WEFT_CALLER);                                                                   \
  }                                                                                                                    \
  void* weft_own_##name##_aligned_nothrow(std::size_t size, std::size_t alignment, const void* tag)                    \
      WEFT_DEFINES(symbol "St11align_val_tRKSt9nothrow_t");                                                            \
  void* weft_own_##name##_aligned_nothrow(std::size_t size, std::size_t alignment, const void* /*tag*/)                \
  {                                                                                                                    \
    return made(size, alignment, false, WEFT_CALLER);                                                                  \
  }

WEFT_NEW(new, "_Znwm")
WEFT_NEW(new_array, "_Znam")

#define WEFT_DELETE(name, symbol)                                                                                      \
  void weft_own_##name(void* data) WEFT_DEFINES(symbol); /* further arguments are not used */                          \
  void weft_own_##name(void* data)                                                                                     \
  {                                                                                                                    \
    release(data);                                                                                                     \
  }

WEFT_DELETE(delete, "_ZdlPv")
WEFT_DELETE(delete_sized, "_ZdlPvm")
WEFT_DELETE(delete_aligned, "_ZdlPvSt11align_val_t")
WEFT_DELETE(delete_sized_aligned, "_ZdlPvmSt11align_val_t")
WEFT_DELETE(delete_nothrow, "_ZdlPvRKSt9nothrow_t")
WEFT_DELETE(delete_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t")
WEFT_DELETE(delete_array, "_ZdaPv")
WEFT_DELETE(delete_array_sized, "_ZdaPvm")
WEFT_DELETE(delete_array_aligned, "_ZdaPvSt11align_val_t")
WEFT_DELETE(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t")
WEFT_DELETE(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t")
WEFT_DELETE(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t")

} // extern "C"
