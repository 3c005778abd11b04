/* SPDX-License-Identifier: LGPL-2.1-only */
/* Error classes, codes and strings that the program adds and removes. Prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int last_code(void)
{
  int* last = NULL;
  int flag  = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  expect(flag, "MPI_LASTUSEDCODE");
  return *last;
}

static int class_of(int code)
{
  int class = -1;
  expect(MPI_Error_class(code, &class) == MPI_SUCCESS, "the class of a code");
  return class;
}

static const char* text_of(int code)
{
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  expect(MPI_Error_string(code, text, &length) == MPI_SUCCESS, "the string of a code");
  expect(length == (int)strlen(text), "the length of a string");
  return text;
}

static int handled;

static void handle(MPI_Comm* comm, int* code, ...)
{
  handled += *comm == MPI_COMM_WORLD ? *code : 0;
}

int main(int argc, char** argv)
{
  int rank, class, code, other, first;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(last_code() == MPI_ERR_LASTCODE, "the last code before the first");
  if (rank > 0) /* numbers belong to the rank */
    MPI_Add_error_class(&first);
  MPI_Add_error_class(&class);
  expect(class > MPI_ERR_LASTCODE && last_code() == class && class_of(class) == class, "a class");
  expect(strcmp(text_of(class), "") == 0, "the string of a class without one");
  MPI_Add_error_code(class, &code);
  MPI_Add_error_code(MPI_ERR_ARG, &other);
  expect(class_of(code) == class && class_of(other) == MPI_ERR_ARG && last_code() == other, "codes");
  expect(class_of(MPI_ERR_RANK) == MPI_ERR_RANK && strstr(text_of(MPI_ERR_RANK), "MPI_ERR_RANK"), "MPI's own class");
  expect(strcmp(text_of(MPI_ERR_SESSION), "MPI_ERR_SESSION") == 0, "a class that SimGrid lacks");
  MPI_Add_error_string(class, "weather");
  MPI_Add_error_string(code, "it rains");
  expect(strcmp(text_of(class), "weather") == 0 && strcmp(text_of(code), "it rains") == 0, "strings");

  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  expect(handled == code, "the handler of an added code");
  handled = 0;
  expect(class_of(MPI_Add_error_string(MPI_ERR_RANK, "mine")) == MPI_ERR_ARG, "a string for MPI's class");
  expect(class_of(MPI_Remove_error_class(class)) == MPI_ERR_ARG, "a class with codes");
  expect(class_of(MPI_Remove_error_code(class)) == MPI_ERR_ARG, "a class instead of a code");
  expect(class_of(MPI_Add_error_code(code, &other)) == MPI_ERR_ARG, "a code instead of a class");
  expect(handled == 4 * MPI_ERR_ARG, "the handler of wrong arguments");

  MPI_Remove_error_string(code);
  expect(strcmp(text_of(code), "") == 0, "a removed string");
  MPI_Remove_error_code(code);
  expect(MPI_Remove_error_class(class) == MPI_SUCCESS, "a class without codes");
  expect(last_code() == other, "the last code never falls");
  printf("right\n");
  MPI_Finalize();
  return 0;
}
