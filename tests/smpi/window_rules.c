/* SPDX-License-Identifier: LGPL-2.1-only */
/* Windows: requests, epochs, attributes and hints (MPI 4.1, chapter 12), on two or more ranks.
 *
 *   requests   request-based calls: to MPI_PROC_NULL, to oneself, to another rank; completed by the end of their epoch
 *   swaps      MPI_Compare_and_swap by all ranks at once: one of them succeeds
 *   epochs     calls outside their required epochs
 *   attributes flavour, model, sizes; hints; keyvals of another kind
 */
#include "checks.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int ranks;

static void check_requests(void)
{
  enum { LENGTH = 64 };
  int memory[LENGTH], got[LENGTH], one = 1, old = -1;
  MPI_Win win;
  MPI_Request requests[4], gets[LENGTH];
  const int next = (rank + 1) % ranks;
  for (int i = 0; i < LENGTH; i++)
    memory[i] = rank * LENGTH + i;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const int targets[] = {MPI_PROC_NULL, rank, next};
  for (int which = 0; which < 3; which++) {
    const int target = targets[which];
    MPI_Win_lock_all(0, win);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_NO_OP, win, &requests[0]);
    MPI_Rget(got, 1, MPI_INT, target, 1, 1, MPI_INT, win, &requests[1]);
    MPI_Rput(&one, 0, MPI_INT, target, 2, 0, MPI_INT, win, &requests[2]);
    MPI_Raccumulate(&one, 0, MPI_INT, target, 3, 0, MPI_INT, MPI_SUM, win, &requests[3]);
    for (int i = 0; i < 4; i++)
      check(requests[i] != MPI_REQUEST_NULL, "each call has a request");
    if (which < 2)
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
    for (int i = 0; which == 2 && i < 4; i++) {
      int flag = 0;
      MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      check(flag && requests[i] == MPI_REQUEST_NULL, "the end of the epoch completes requests");
    }
    check(target == MPI_PROC_NULL || (old == target * LENGTH && got[0] == target * LENGTH + 1), "data of one target");
  }
  /* Data arrives before the epoch ends, not when the program waits. */
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < LENGTH; i++)
    MPI_Rget(got + i, 1, MPI_INT, next, i, 1, MPI_INT, win, &gets[i]);
  MPI_Win_unlock_all(win);
  for (int i = 0; i < LENGTH; i++) {
    check(got[i] == next * LENGTH + i, "what MPI_Rget has read");
    got[i] = -2;
  }
  MPI_Waitall(LENGTH, gets, MPI_STATUSES_IGNORE);
  for (int i = 0; i < LENGTH; i++)
    check(got[i] == -2, "nothing is written after the epoch");
  MPI_Win_free(&win);
}

static void check_swaps(void)
{
  int* slots;
  MPI_Win win;
  enum { ROUNDS = 50 };
  int won = 0, all = 0;
  MPI_Win_allocate(ROUNDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &slots, &win);
  for (int i = 0; i < ROUNDS; i++)
    slots[i] = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < ROUNDS; i++) {
    int free_slot = -1, found = -7;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Compare_and_swap(&rank, &free_slot, &found, MPI_INT, 0, i, win);
    MPI_Win_unlock(0, win);
    won += found == -1;
  }
  MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(all == ROUNDS, "one rank wins each slot");
  float real = 0;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  check(class_of(MPI_Compare_and_swap(&real, &real, &real, MPI_FLOAT, 0, 0, win)) == MPI_ERR_TYPE, "no numbers");
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

#define REFUSED(call) check(class_of(call) == MPI_ERR_RMA_SYNC, #call)
#define TAKEN(call) check((call) == MPI_SUCCESS, #call)

static void check_epochs(void)
{
  int memory = 0, value = 0;
  MPI_Win win;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#define GET(target) MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win)
  REFUSED(GET(0));
  TAKEN(GET(MPI_PROC_NULL));
  REFUSED(MPI_Win_unlock(0, win));
  REFUSED(MPI_Win_unlock_all(win));
  REFUSED(MPI_Win_complete(win));
  REFUSED(MPI_Win_wait(win));
  REFUSED(MPI_Win_flush(0, win));
  REFUSED(MPI_Win_flush_all(win));

  TAKEN(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  TAKEN(GET(0));
  REFUSED(GET(1));
  REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  REFUSED(MPI_Win_lock_all(0, win));
  REFUSED(MPI_Win_fence(0, win));
  REFUSED(MPI_Win_start(all, 0, win));
  REFUSED(MPI_Win_free(&win));
  TAKEN(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
  TAKEN(MPI_Win_unlock(0, win));
  TAKEN(MPI_Win_flush(1, win));
  REFUSED(MPI_Win_flush(0, win));
  TAKEN(MPI_Win_unlock(1, win));
  TAKEN(MPI_Win_lock_all(0, win));
  REFUSED(MPI_Win_unlock(0, win));
  TAKEN(GET(1));
  TAKEN(MPI_Win_unlock_all(win));

  TAKEN(MPI_Win_fence(0, win));
  TAKEN(GET(0));
  TAKEN(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  REFUSED(GET(0));
  TAKEN(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  TAKEN(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  TAKEN(MPI_Win_unlock(0, win));
  REFUSED(GET(0));

  TAKEN(MPI_Win_post(all, 0, win));
  REFUSED(MPI_Win_post(all, 0, win));
  TAKEN(MPI_Win_start(all, 0, win));
  REFUSED(MPI_Win_start(all, 0, win));
  REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  TAKEN(GET(1));
  TAKEN(MPI_Win_complete(win));
  REFUSED(MPI_Win_complete(win));
  REFUSED(MPI_Win_free(&win));
  TAKEN(MPI_Win_wait(win));
  REFUSED(MPI_Win_wait(win));
  TAKEN(MPI_Win_free(&win));
  MPI_Group_free(&all);
}

static int attribute(MPI_Win win, int keyval)
{
  int *value = NULL, flag = 0;
  MPI_Win_get_attr(win, keyval, &value, &flag);
  check(flag, "the attribute is set");
  return *value;
}

static void check_hint(MPI_Win win, const char* key, const char* expected)
{
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int flag                         = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
  MPI_Info_free(&info);
  check(flag && strcmp(value, expected) == 0, key);
}

static void check_attributes(void)
{
  MPI_Win wins[4];
  MPI_Info info;
  int memory[4], comm_key, type_key, win_key, flag;
  void *base, *value;
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_SELF, &wins[0]);
  MPI_Win_allocate(40, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &wins[1]);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &wins[2]);
  MPI_Win_allocate_shared(24, 2, MPI_INFO_NULL, MPI_COMM_SELF, &base, &wins[3]);
  const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED};
  for (int i = 0; i < 4; i++) {
    check(attribute(wins[i], MPI_WIN_CREATE_FLAVOR) == flavors[i], "the flavour");
    check(attribute(wins[i], MPI_WIN_MODEL) == MPI_WIN_UNIFIED, "the model");
  }
  MPI_Aint *first, *second;
  MPI_Win_get_attr(wins[0], MPI_WIN_SIZE, &first, &flag);
  MPI_Win_get_attr(wins[1], MPI_WIN_SIZE, &second, &flag);
  check(*first == sizeof memory && *second == 40, "sizes of two windows");
  check(attribute(wins[1], MPI_WIN_DISP_UNIT) == 8 && attribute(wins[3], MPI_WIN_DISP_UNIT) == 2, "units");

  check_hint(wins[0], "accumulate_ordering", "rar,raw,war,waw");
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Win_set_info(wins[0], info);
  MPI_Info_delete(info, "accumulate_ordering");
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_set_info(wins[0], info);
  MPI_Info_free(&info);
  check_hint(wins[0], "accumulate_ordering", "none");
  check_hint(wins[0], "no_locks", "true");
  check_hint(wins[1], "no_locks", "false");

  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
  MPI_Win_set_errhandler(wins[0], MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(class_of(MPI_Win_set_attr(wins[0], comm_key, memory)) == MPI_ERR_KEYVAL, "a communicator's keyval");
  check(class_of(MPI_Win_set_attr(wins[0], type_key, memory)) == MPI_ERR_KEYVAL, "a datatype's keyval");
  check(class_of(MPI_Type_set_attr(MPI_INT, win_key, memory)) == MPI_ERR_KEYVAL, "a window's keyval");
  check(class_of(MPI_Type_free_keyval(&win_key)) == MPI_ERR_KEYVAL, "freeing another kind");
  check(MPI_Comm_set_attr(MPI_COMM_WORLD, win_key, memory) != MPI_SUCCESS, "a window's keyval of a communicator");
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, type_key, &value, &flag) != MPI_SUCCESS, "a datatype's of a communicator");
  check(MPI_Win_set_attr(wins[0], win_key, memory) == MPI_SUCCESS, "the right keyval");
  MPI_Win_get_attr(wins[0], win_key, &value, &flag);
  check(flag && value == memory, "its value");
  MPI_Comm_free_keyval(&comm_key);
  MPI_Type_free_keyval(&type_key);
  MPI_Win_free_keyval(&win_key);
  for (int i = 0; i < 4; i++)
    MPI_Win_free(&wins[i]);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(argv[1], "requests") == 0)
    check_requests();
  else if (strcmp(argv[1], "swaps") == 0)
    check_swaps();
  else if (strcmp(argv[1], "epochs") == 0)
    check_epochs();
  else
    check_attributes();
  MPI_Finalize();
  if (rank == 0)
    printf("right\n");
  return 0;
}
