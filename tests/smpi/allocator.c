/* SPDX-License-Identifier: LGPL-2.1-only */
/* Memory allocation that bypasses SMPI's macros: each rank prints errors, and rank 0 prints whose malloc is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef malloc
#undef calloc
#undef realloc
#undef free

enum { MIB = 1 << 20, LARGEST = 96 * MIB, ALIGNMENT = 4096 };

/* Functions that a program may define itself although mimalloc has them too. */
void vfree(void* piece);
void* reallocf(void* piece, size_t size);
size_t malloc_size(const void* piece);

/* Declared here, since SMPI's macros would break the declarations in malloc.h. */
size_t malloc_usable_size(void* piece);

void vfree(void* piece)
{
  *(int*)piece = 1;
}

void* reallocf(void* piece, size_t size)
{
  return size == 1 ? piece : NULL;
}

size_t malloc_size(const void* piece)
{
  return piece == NULL ? 0 : 1;
}

static void check(int right, const char* what, size_t size)
{
  if (!right)
    printf("wrong: %s of %zu bytes\n", what, size);
}

static int is_all(const unsigned char* piece, size_t size, int value)
{
  return piece[0] == value && memcmp(piece, piece + 1, size - 1) == 0;
}

/* Memory must be zeroed when new and when reused, whatever its size; a reallocated block keeps its content. */
static void of_size(size_t size)
{
  for (int round = 0; round < 2; ++round) {
    unsigned char* piece = calloc(size, 1);
    check(piece != NULL && is_all(piece, size, 0), "calloc", size);
    memset(piece, 1, size);
    piece = realloc(piece, 2 * size);
    check(piece != NULL && is_all(piece, size, 1), "realloc", size);
    check(malloc_usable_size(piece) >= 2 * size, "malloc_usable_size", size);
    free(piece);
  }
  void* aligned = NULL;
  check(posix_memalign(&aligned, ALIGNMENT, size) == 0 && (uintptr_t)aligned % ALIGNMENT == 0, "posix_memalign", size);
  free(aligned);
  aligned = aligned_alloc(ALIGNMENT, size);
  check(aligned != NULL && (uintptr_t)aligned % ALIGNMENT == 0, "aligned_alloc", size);
  free(aligned);
}

/* Functions that return memory of the C library, which the program frees. */
static void of_the_library(void)
{
  char *copied = strdup("text"), *path = realpath("/dev/../dev", NULL), *line = NULL;
  size_t room = 0;
  FILE* file  = fopen("/proc/self/status", "r");
  check(strcmp(copied, "text") == 0 && strcmp(path, "/dev") == 0, "strdup and realpath", 0);
  check(file != NULL && getline(&line, &room, file) > 0, "getline", room);
  free(copied);
  free(path);
  free(line);
  fclose(file);
}

/* The memory is never touched, so the peak in the record must be small. */
static void untouched(void)
{
  const size_t size = 1024UL * MIB;
  char* piece       = calloc(size, 1);
  check(piece != NULL && piece[size / 2] == 0, "calloc", size);
  free(piece);
}

static void too_much(void)
{
  const size_t size = (size_t)1 << 46, half = SIZE_MAX / 2 + 1;
  volatile size_t twice = 2;
  errno                 = 0;
  check(malloc(size) == NULL && errno == ENOMEM, "malloc", size);
  check(calloc(size, 1) == NULL && calloc(half, twice) == NULL, "calloc", size);
  check(realloc(NULL, size) == NULL && reallocarray(NULL, half, twice) == NULL, "realloc", size);
}

int main(int argc, char** argv)
{
  int rank, freed = 0;
  Dl_info whose;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t size = 1; size < LARGEST; size = 3 * size + 1)
    of_size(size);
  of_the_library();
  untouched();
  too_much();
  vfree(&freed);
  check(freed && reallocf(&rank, 1) == &rank && malloc_size(&rank) == 1, "the program's own", 0);
  if (rank == 0 && dladdr(dlsym(RTLD_DEFAULT, "malloc"), &whose) != 0)
    puts(strrchr(whose.dli_fname, '/') + 1);
  MPI_Finalize();
  return 0;
}
