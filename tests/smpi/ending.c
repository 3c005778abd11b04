/* SPDX-License-Identifier: LGPL-2.1-only */
/* End of MPI: `ending attributes` prints the attributes of MPI_COMM_SELF in the order in which MPI_Finalize deletes
 * them; `ending fatal|return|own [window]` calls an error handler. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ATTRIBUTES = 30 };

static int rank, deleted[ATTRIBUTES], deletions;

static int note_deletion(MPI_Comm comm, int key, void* value, void* extra)
{
  int finalized = 1;
  (void)comm, (void)key, (void)extra;
  MPI_Finalized(&finalized);
  deleted[deletions++] = finalized ? -1 : *(int*)value;
  return MPI_SUCCESS;
}

/* Attribute 0 is set again after all others, and attribute 1 is deleted. */
static void set_attributes(void)
{
  static int numbers[ATTRIBUTES];
  int keys[ATTRIBUTES];
  for (int i = 0; i < ATTRIBUTES; i++) {
    numbers[i] = i;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, &keys[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &numbers[i]);
  }
  MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], &numbers[0]);
  MPI_Comm_delete_attr(MPI_COMM_SELF, keys[1]);
  for (int i = 0; i < ATTRIBUTES; i++)
    MPI_Comm_free_keyval(&keys[i]);
  deletions = 0;
}

static int called;

static void note_call(MPI_Comm* comm, int* code, ...)
{
  (void)comm;
  called = *code;
}

static void note_call_of_window(MPI_Win* win, int* code, ...)
{
  (void)win;
  called = *code;
}

static void call_handler(const char* which, int of_window)
{
  MPI_Errhandler handler = strcmp(which, "fatal") == 0 ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN;
  MPI_Win win;
  int number, code;
  MPI_Add_error_code(MPI_ERR_OTHER, &code);
  MPI_Add_error_string(code, "NO_FLOUR");
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (strcmp(which, "own") == 0 && of_window)
    MPI_Win_create_errhandler(note_call_of_window, &handler);
  else if (strcmp(which, "own") == 0)
    MPI_Comm_create_errhandler(note_call, &handler);
  int result;
  if (of_window) {
    MPI_Win_set_errhandler(win, handler);
    result = MPI_Win_call_errhandler(win, code);
  } else {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    result = MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  }
  const int expected = strcmp(which, "own") == 0 ? code : 0;
  printf("%s\n", result == MPI_SUCCESS && called == expected ? "right" : "wrong");
  MPI_Win_free(&win);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "attributes") == 0)
    set_attributes();
  else
    call_handler(argv[1], argc > 2);
  MPI_Finalize();
  if (strcmp(argv[1], "attributes") == 0) {
    printf("%d:", rank);
    for (int i = 0; i < deletions; i++)
      printf(" %d", deleted[i]);
    printf("\n");
  }
  return 0;
}
