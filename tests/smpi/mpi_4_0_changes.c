/* SPDX-License-Identifier: LGPL-2.1-only */
/* Changes of MPI 4.0, by their numbers in its change-log (annex B.1), that no other test shows: rows of
 * docs/mpi-changes.csv. Prints `right` per rank; two ranks or more. */
#include "checks.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/** Returns the value of a key, or the empty string. */
static const char* value_of(MPI_Info info, const char* key)
{
  static char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag ? value : "";
}

/* Erratum 1: in directions of size 1 or 2, data sent downwards arrives from above. */
static void check_short_directions(void)
{
  const int periodic = 1;
  for (int dimension = 1; dimension <= 2; dimension++) {
    MPI_Comm part, ring;
    int sent[2] = {10 * rank, 10 * rank + 1}, got[2] = {-1, -1}, other = dimension == 1 ? rank : 1 - rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank < dimension ? 0 : MPI_UNDEFINED, rank, &part);
    if (part == MPI_COMM_NULL)
      continue;
    MPI_Cart_create(part, 1, &dimension, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring);
    check(got[0] == 10 * other + 1 && got[1] == 10 * other, "exchanges in a short periodic direction");
    MPI_Comm_free(&ring);
    MPI_Comm_free(&part);
  }
}

/* Errata 3 and 4. */
static void check_statuses(void)
{
  int (*const to_f08)(const MPI_Fint*, MPI_F08_status*) = MPI_Status_f2f08;
  int (*const to_f)(const MPI_F08_status*, MPI_Fint*)   = MPI_Status_f082f;
  MPI_Fint fields[MPI_F_STATUS_SIZE] = {0}, again[MPI_F_STATUS_SIZE] = {0};
  MPI_F08_status status;
  fields[MPI_F_SOURCE] = 3;
  fields[MPI_F_TAG]    = 4;
  fields[MPI_F_ERROR]  = 5;
  to_f08(fields, &status);
  check(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == 5, "fields of a status");
  to_f(&status, again);
  check(memcmp(fields, again, sizeof fields) == 0, "a status there and back");
}

/* Change 3: values that do not fit. */
static void check_large_values(void)
{
  char text[MPI_MAX_ERROR_STRING];
  int length, bytes = 0;
  void* buffer = malloc(1);
  void* found  = NULL;
  MPI_Error_string(MPI_ERR_VALUE_TOO_LARGE, text, &length);
  check(strstr(text, "MPI_ERR_VALUE_TOO_LARGE") != NULL, "the text of MPI_ERR_VALUE_TOO_LARGE");
  MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, buffer, (MPI_Count)INT_MAX + 1); /* the buffer is never written */
  MPI_Comm_detach_buffer(MPI_COMM_WORLD, &found, &bytes);
  check(found == buffer && bytes == MPI_UNDEFINED, "the size of a buffer that an int cannot hold");
  free(buffer);
}

/* Change 4. */
static void check_abort_handler(void)
{
  MPI_Errhandler handler;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
  check(handler == MPI_ERRORS_ABORT, "MPI_ERRORS_ABORT");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Changes 12 to 16: hints of communicators. */
static void check_hints(void)
{
  static const char* const HINTS[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                      "mpi_assert_allow_overtaking"};
  MPI_Comm hinted, copy, later;
  MPI_Info hints, found;
  MPI_Request request;
  MPI_Info_create(&hints);
  for (int i = 0; i < 4; i++)
    MPI_Info_set(hints, HINTS[i], i % 2 ? "true" : "false");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &hinted);
  MPI_Comm_get_info(hinted, &found);
  for (int i = 0; i < 4; i++)
    check(strcmp(value_of(found, HINTS[i]), i % 2 ? "true" : "false") == 0, HINTS[i]);
  MPI_Info_free(&found);
  MPI_Comm_dup(hinted, &copy);
  MPI_Comm_get_info(copy, &found);
  check(strcmp(value_of(found, HINTS[1]), "true") != 0, "MPI_Comm_dup does not copy hints");
  MPI_Info_free(&found);
  MPI_Comm_idup(hinted, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_get_info(later, &found);
  check(strcmp(value_of(found, HINTS[1]), "true") != 0, "MPI_Comm_idup does not copy hints");
  MPI_Info_free(&found);
  MPI_Comm_free(&later);
  MPI_Comm_idup_with_info(copy, hints, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_get_info(later, &found);
  check(strcmp(value_of(found, HINTS[1]), "true") == 0, "hints of MPI_Comm_idup_with_info");
  MPI_Info_free(&found);
  MPI_Info_free(&hints);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, HINTS[0], "true");
  MPI_Comm_set_info(later, hints);
  MPI_Comm_get_info(later, &found);
  check(strcmp(value_of(found, HINTS[0]), "true") == 0, "a hint that is set later");
  check(strcmp(value_of(found, HINTS[1]), "true") == 0, "a hint that was set before");
  MPI_Info_free(&found);
  MPI_Info_free(&hints);
  MPI_Comm_free(&later);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&hinted);
}

/* Changes 17, 21 and 22. */
static void check_small_ones(void)
{
  char text[MPI_MAX_ERROR_STRING], cut[3] = "xx";
  int length, flag = 0, none = 7;
  MPI_Info info;
  check(MPI_Dims_create(1, 0, &none) == MPI_SUCCESS && none == 7, "MPI_Dims_create without dimensions");
  MPI_Error_string(MPI_ERR_PROC_ABORTED, text, &length);
  check(strstr(text, "MPI_ERR_PROC_ABORTED") != NULL, "the text of MPI_ERR_PROC_ABORTED");
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  length = sizeof cut;
  MPI_Info_get_string(info, "key", &length, cut, &flag);
  check(flag && length == 6 && strcmp(cut, "va") == 0, "a value that is cut, and the length that it needs");
  length = 0;
  MPI_Info_get_string(info, "key", &length, NULL, &flag);
  check(flag && length == 6, "the length of a value");
  MPI_Info_free(&info);
}

static int aligned(const void* address, uintptr_t bytes)
{
  return (uintptr_t)address % bytes == 0;
}

/* Change 18. */
static void check_alignment(void)
{
  MPI_Info info;
  MPI_Win win;
  void *memory, *first;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
  for (int i = 1; i < 5; i++) {
    MPI_Alloc_mem(24 * i, info, &memory);
    check(aligned(memory, PAGE), "the alignment of MPI_Alloc_mem");
    memset(memory, i, 24 * i);
    MPI_Free_mem(memory);
    MPI_Alloc_mem(24 * i, MPI_INFO_NULL, &memory);
    check(aligned(memory, sizeof(long double)), "the least alignment of MPI_Alloc_mem");
    MPI_Free_mem(memory);
  }
  MPI_Win_allocate(24, 1, info, MPI_COMM_WORLD, &memory, &win);
  check(aligned(memory, PAGE), "the alignment of MPI_Win_allocate");
  MPI_Win_free(&win);
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Win_allocate_shared(24, 1, info, host, &memory, &win);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
  check(aligned(first, PAGE), "the alignment of MPI_Win_allocate_shared");
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
  MPI_Info_free(&info);
}

/* Change 28: a lock of a shared window. */
static void check_shared_locks(void)
{
  MPI_Comm host;
  MPI_Win win;
  int *memory, host_rank, host_size, one = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &host_rank);
  MPI_Comm_size(host, &host_size);
  MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, host, &memory, &win);
  *memory = 0;
  MPI_Barrier(host);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Barrier(host);
  check(host_rank != 0 || *memory == host_size, "sums under locks of a shared window");
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
}

/* Changes 30 and 32. */
static void check_tools(void)
{
  int provided, index, item, length = 0, events = -1, found[2];
  MPI_T_enum items;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_get_index("offload", &index);
  MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL);
  check(MPI_T_enum_get_item(items, 999, &item, NULL, &length) == MPI_T_ERR_INVALID_INDEX,
        "an item that does not exist");
  MPI_T_category_get_num_events(0, &events);
  check(events == 0 && MPI_T_category_get_events(0, 2, found) == MPI_SUCCESS, "events of a category");
  MPI_T_finalize();
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_short_directions();
  check_statuses();
  check_large_values();
  check_abort_handler();
  check_hints();
  check_small_ones();
  check_alignment();
  check_shared_locks();
  check_tools();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
