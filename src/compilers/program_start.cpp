// SPDX-License-Identifier: LGPL-2.1-only
/* The entry point of a program that `weft cc` links. A program is a library, which the simulator loads once per rank;
 * with an interpreter and an entry point it is also an executable, as required by build systems that run the programs
 * that they compile.
 *
 * The linker takes main() from archives and libraries because this object refers to it, like the system's own start
 * object (Scrt1.o). In the simulator, ranks begin with weft_main().
 *
 * A program without MPI runs as if the system's compiler had linked it. A program with MPI finds the library of
 * `mpi_outside.py` in place of the simulator's, whose weft_start_singleton() runs it as the only rank of a
 * simulation. */
#include <elf.h>

#define WEFT_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

/** Defined by libraries for programs outside the simulator. */
[[gnu::weak]] void weft_start_singleton(int count, char** words, char** environment);
extern const Elf64_Ehdr __ehdr_start WEFT_HIDDEN; // NOLINT(*-identifier*): the linker's name of the file's first byte
extern const Elf64_Dyn _DYNAMIC[] WEFT_HIDDEN;    // NOLINT(*-identifier*): the linker's name of the dynamic section

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, // NOLINT(*-identifier*)
                      void (*initialize)(int, char**, char**), void (*finish)(), void (*finish_loader)(), void* stack);
/* By its symbol: C++ allows no other use of the name. */
int weft_program_main(int count, char** words, char** environment) __asm__("main");

void weft_program_start();
/** main() as called by ranks. main() itself may be hidden. */
int weft_main(int count, char** words);
extern char** environ;
[[noreturn]] void weft_begin(char** stack, void (*finish_loader)()) WEFT_HIDDEN;

/** The kernel starts this loader for the program; the platform's binary interface defines its name. */
extern const char WEFT_LOADER[] __attribute__((section(".interp"), used)) WEFT_HIDDEN;
const char WEFT_LOADER[] = "/lib64/ld-linux-x86-64.so.2";

} // extern "C"

namespace {

using Initializer = void (*)(int, char**, char**);

const Elf64_Dyn* entry(Elf64_Sxword tag)
{
  for (const Elf64_Dyn* one = _DYNAMIC; one->d_tag != DT_NULL; ++one) // NOLINT(*-pointer-arithmetic)
    if (one->d_tag == tag)
      return one;
  return nullptr;
}

template <class Type> Type at(Elf64_Addr address)
{
  return reinterpret_cast<Type>(reinterpret_cast<Elf64_Addr>(&__ehdr_start) + address); // NOLINT(*-int-to-ptr)
}

/** Calls the program's constructors, which the loader leaves to the program. */
void initialize(int count, char** words, char** environment)
{
  if (const Elf64_Dyn* const first = entry(DT_INIT))
    at<Initializer>(first->d_un.d_ptr)(count, words, environment);
  const Elf64_Dyn* const list = entry(DT_INIT_ARRAY);
  const Elf64_Dyn* const size = entry(DT_INIT_ARRAYSZ);
  if (list && size)
    for (Elf64_Xword number = 0; number < size->d_un.d_val / sizeof(Initializer); ++number)
      at<const Initializer*>(list->d_un.d_ptr)[number](count, words, environment); // NOLINT(*-pointer-arithmetic)
}

} // namespace

void weft_begin(char** stack, void (*finish_loader)())
{
  const int count    = static_cast<int>(reinterpret_cast<long>(*stack));
  char** const words = stack + 1; // NOLINT(*-pointer-arithmetic): the kernel's layout
  if (weft_start_singleton)
    weft_start_singleton(count, words, words + count + 1); // NOLINT(*-pointer-arithmetic)
  __libc_start_main(weft_program_main, count, words, initialize, nullptr, finish_loader, static_cast<void*>(stack));
  __builtin_trap();
}

int weft_main(int count, char** words)
{
  return weft_program_main(count, words, environ);
}

__asm__(".text\n"
        ".globl weft_program_start\n"
        ".type weft_program_start, @function\n"
        "weft_program_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined rip\n"
        "  xorl %ebp, %ebp\n"
        "  movq %rsp, %rdi\n"
        "  movq %rdx, %rsi\n"
        "  leaq WEFT_LOADER(%rip), %rax\n"
        "  andq $-16, %rsp\n"
        "  call weft_begin\n"
        "  .cfi_endproc\n"
        ".size weft_program_start, .-weft_program_start\n");
