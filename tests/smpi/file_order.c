/* SPDX-License-Identifier: LGPL-2.1-only */
/* File effects of ranks that compute for different times. file_order WHAT: prints the ranks' observations. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;
static int ranks;

static void compute(int rounds)
{
  volatile double sum = 0;
  for (long each = 1; each < rounds * 10000000L; ++each)
    sum += 1.0 / (double)each;
}

static void print_file(const char* name)
{
  char line[64];
  FILE* file = fopen(name, "r");
  while (file && fgets(line, sizeof line, file))
    printf("%s", line);
  if (file)
    fclose(file);
}

static void write_text(const char* name, const char* mode, const char* text)
{
  FILE* file = fopen(name, mode);
  fputs(text, file);
  fclose(file);
}

/** Every rank opens the file; the first one computes and writes. */
static void result(void)
{
  FILE* file = fopen("result", "w");
  if (rank == 0) {
    compute(3);
    fputs("computed\n", file);
    fflush(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fclose(file);
  if (rank == 0)
    print_file("result");
}

/** Higher ranks write earlier. */
static void append(int by_stream)
{
  char line[32];
  const int length = snprintf(line, sizeof line, "rank %d\n", rank);
  FILE* stream     = by_stream ? fopen("log", "a") : NULL;
  const int file   = by_stream ? -1 : open("log", O_WRONLY | O_CREAT | O_APPEND, 0666);
  compute(3 * (ranks - 1 - rank));
  if (by_stream) {
    fputs(line, stream);
    fclose(stream);
  } else if (write(file, line, (size_t)length) != length || close(file) != 0)
    printf("not written\n");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    print_file("log");
}

/** The first rank acts after it has computed; all others look and act immediately. */
static void names(void)
{
  if (rank == 0) {
    compute(3);
    printf("made: %d\n", access("made", F_OK) == 0);
    struct stat about;
    printf("size: %d\n", stat("made", &about) == 0 ? (int)about.st_size : -1);
    rename("made", "renamed");
    mkdir("late", 0777);
    unlink("there");
  } else if (rank == 1) {
    printf("there: %d\n", access("there", F_OK) == 0);
    printf("late: %d\n", access("late", F_OK) == 0);
    write_text("made", "w", "word");
    printf("renamed: %d\n", access("renamed", F_OK) == 0);
  }
}

/** The first rank writes; the second one acts ten microseconds later, informed by a message or not. */
static void destroy(const char* how, int told)
{
  if (rank == 0) {
    write_text("written", "w", "word\n");
    if (told)
      MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    int from;
    usleep(10);
    if (told)
      MPI_Recv(&from, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "open") == 0)
      close(open("written", O_WRONLY | O_TRUNC));
    else if (strcmp(how, "fopen") == 0)
      fclose(fopen("written", "w"));
    else if (strcmp(how, "truncate") == 0 && truncate("written", 0) != 0)
      printf("failed\n");
    else if (strcmp(how, "unlink") == 0)
      unlink("written");
    else if (strcmp(how, "rename") == 0) {
      write_text("other", "w", "other\n");
      rename("other", "written");
    }
  }
}

/** Children start when their rank has computed. */
static void children(void)
{
  compute(3 * (ranks - 1 - rank));
  char command[64];
  snprintf(command, sizeof command, "echo rank %d >>log", rank);
  if (system(command) != 0)
    printf("failed\n");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    print_file("log");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argv[1];
  if (strcmp(what, "result") == 0)
    result();
  else if (strcmp(what, "append") == 0)
    append(1);
  else if (strcmp(what, "write") == 0)
    append(0);
  else if (strcmp(what, "names") == 0)
    names();
  else if (strcmp(what, "children") == 0)
    children();
  else
    destroy(what, argc > 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
