// SPDX-License-Identifier: LGPL-2.1-only
/* Functions that the wheel's libraries call and that glibc 2.28 lacks; see older_systems.py. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* GLIBC_2.33 made these functions of the library; before, programs called __xstat and its like, which libweft replaces
 * by means of these. struct stat is the kernel's on x86-64, and struct stat64 the same. */
int stat(const char* path, struct stat* found)
{
  return (int)syscall(SYS_stat, path, found);
}

int fstat(int file, struct stat* found)
{
  return (int)syscall(SYS_fstat, file, found);
}

/* For libstdc++.a. */
int fstat64(int file, struct stat64* found) __attribute__((alias("fstat")));

int lstat(const char* path, struct stat* found)
{
  return (int)syscall(SYS_lstat, path, found);
}

/** False: shared pointers then always count atomically (GLIBC_2.32). */
char __libc_single_threaded = 0;

/** Returns the name of a signal without SIG, or null (GLIBC_2.32). Numbers are Linux's on x86-64. */
const char* sigabbrev_np(int number)
{
  static const char* const NAMES[] = {NULL,     "HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",
                                      "FPE",    "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM",
                                      "STKFLT", "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",
                                      "XCPU",   "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS"};
  return number > 0 && number < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[number] : NULL;
}

/** Returns random bits from the kernel (GLIBC_2.36); for libstdc++.a. */
uint32_t arc4random(void)
{
  uint32_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
    abort();
  return bits;
}

/* Shared memory. librt's functions call open() and unlink(), which libweft replaces for programs; the functions of
 * glibc 2.34 and newer ask the kernel. */
enum { LONGEST_NAME = 255 };

static int is_found(const char* name, char* path, size_t size)
{
  while (*name == '/')
    ++name;
  const int length = snprintf(path, size, "/dev/shm/%s", name);
  return *name && length > 0 && (size_t)length < size;
}

int shm_open(const char* name, int flags, mode_t mode)
{
  char path[LONGEST_NAME + 16];
  if (is_found(name, path, sizeof path))
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
  errno = EINVAL;
  return -1;
}

int shm_unlink(const char* name)
{
  char path[LONGEST_NAME + 16];
  if (is_found(name, path, sizeof path))
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  errno = ENOENT;
  return -1;
}
