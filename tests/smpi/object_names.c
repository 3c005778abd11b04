/* SPDX-License-Identifier: LGPL-2.1-only */
/* Strings returned by MPI: names of named and unnamed objects, of null handles and of predefined datatypes, long names,
 * error texts, and truncated values of info objects. Prints `right` per rank. */
#include "checks.h"

#include <string.h>

enum { SPACE = 3 * MPI_MAX_OBJECT_NAME };

#define NAME_OF(kind, object, expected)                                                                                \
  do {                                                                                                                 \
    char text[SPACE] = "left over";                                                                                    \
    int length       = -7;                                                                                             \
    check(MPI_##kind##_get_name(object, text, &length) == MPI_SUCCESS, #kind " " #object);                             \
    check(strcmp(text, expected) == 0 && length == (int)strlen(expected), #kind "'s name of " #object);                \
  } while (0)
#define IS_NAMED(type) NAME_OF(Type, type, #type)

static void check_types(void)
{
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  NAME_OF(Type, type, "");
  MPI_Type_set_name(type, "three");
  NAME_OF(Type, type, "three");
  MPI_Type_set_name(type, "");
  NAME_OF(Type, type, "");
  MPI_Type_free(&type);
  NAME_OF(Type, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
  IS_NAMED(MPI_INT);
  IS_NAMED(MPI_DOUBLE);
  IS_NAMED(MPI_CHAR);
  IS_NAMED(MPI_BYTE);
  IS_NAMED(MPI_PACKED);
  IS_NAMED(MPI_AINT);
  IS_NAMED(MPI_COUNT);
  IS_NAMED(MPI_OFFSET);
  IS_NAMED(MPI_2INT);
  IS_NAMED(MPI_C_BOOL);
  IS_NAMED(MPI_INTEGER);
  IS_NAMED(MPI_REAL);
  IS_NAMED(MPI_DOUBLE_PRECISION);
  IS_NAMED(MPI_COMPLEX);
  IS_NAMED(MPI_DOUBLE_COMPLEX);
  IS_NAMED(MPI_LOGICAL);
  IS_NAMED(MPI_CHARACTER);
  IS_NAMED(MPI_2INTEGER);
  IS_NAMED(MPI_2REAL);
  IS_NAMED(MPI_2DOUBLE_PRECISION);
  IS_NAMED(MPI_INTEGER1);
  IS_NAMED(MPI_INTEGER2);
  IS_NAMED(MPI_INTEGER4);
  IS_NAMED(MPI_INTEGER8);
  IS_NAMED(MPI_REAL4);
  IS_NAMED(MPI_REAL8);
  IS_NAMED(MPI_COMPLEX8);
}

static void check_other_objects(void)
{
  char all[SPACE];
  int base;
  MPI_Win window;
  MPI_Comm comm;
  MPI_Win_create(&base, sizeof base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  NAME_OF(Win, window, "");
  memset(all, 'n', sizeof all - 1);
  all[sizeof all - 1] = '\0';
  MPI_Win_set_name(window, all);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  NAME_OF(Comm, comm, "");
  MPI_Comm_set_name(comm, all);
  all[MPI_MAX_OBJECT_NAME - 1] = '\0';
  NAME_OF(Win, window, all);
  NAME_OF(Comm, comm, all);
  MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  NAME_OF(Comm, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  NAME_OF(Comm, MPI_COMM_SELF, "MPI_COMM_SELF");
  NAME_OF(Comm, MPI_COMM_NULL, "MPI_COMM_NULL");
  NAME_OF(Win, MPI_WIN_NULL, "MPI_WIN_NULL");
}

/* Fortran's datatypes carry data, also to and from C datatypes with the same representation, and are reduced. */
static void check_data(void)
{
  static MPI_Datatype initialized = MPI_INTEGER;
  int sent[2] = {rank, 7}, got[2] = {0, 0}, sum = 0, size, bytes, integers, combiner, addresses, types;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(sent, 2, initialized, rank, 0, got, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(got[0] == rank && got[1] == 7, "a message of MPI_INTEGER for MPI_INT");
  MPI_Sendrecv(sent, 1, MPI_2INT, rank, 0, got, 1, MPI_2INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
  check(sum == size * (size - 1) / 2, "a sum of MPI_INTEGER");
  MPI_Allreduce(sent, got, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD);
  check(got[0] == size - 1 && got[1] == 7, "MPI_MAXLOC of MPI_2INTEGER");
  MPI_Type_size(MPI_INTEGER1, &bytes);
  check(bytes == 1, "the size of MPI_INTEGER1");
  check(MPI_Type_f2c(MPI_Type_c2f(MPI_INTEGER)) == MPI_INTEGER, "the number of MPI_INTEGER");
  check(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT, "the number of MPI_INT");
  check(MPI_Type_f2c(MPI_Type_c2f(MPI_LONG)) == MPI_LONG, "the number of MPI_LONG");
  MPI_Type_get_envelope(MPI_INTEGER, &integers, &addresses, &types, &combiner);
  check(combiner == MPI_COMBINER_NAMED, "the envelope of MPI_INTEGER");
}

static void check_texts(void)
{
  char text[MPI_MAX_ERROR_STRING] = "left over", cut[8] = "1234567";
  int length = -7, code, flag;
  MPI_Info info;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPI_Error_string(999999, text, &length) != MPI_SUCCESS && text[0] == '\0' && length == 0, "no such error");
  MPI_Add_error_code(MPI_ERR_OTHER, &code);
  strcpy(text, "left over");
  check(MPI_Error_string(code, text, &length) == MPI_SUCCESS && text[0] == '\0' && length == 0,
        "an error without text");
  strcpy(text, "left over");
  check(MPI_Lookup_name("nobody", MPI_INFO_NULL, text) != MPI_SUCCESS && text[0] == '\0', "a name not published");
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_get(info, "key", 5, cut, &flag);
  check(flag && strcmp(cut, "value") == 0, "a value of an info that fits");
  strcpy(cut, "1234567");
  MPI_Info_get(info, "key", 3, cut, &flag);
  check(flag && strcmp(cut, "val") == 0, "a value of an info that is cut");
  strcpy(cut, "1234567");
  MPI_Info_get(info, "none", 3, cut, &flag);
  check(!flag && strcmp(cut, "1234567") == 0, "no value of an info");
  MPI_Info_free(&info);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_types();
  check_other_objects();
  check_data();
  check_texts();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
