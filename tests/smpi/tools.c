/* SPDX-License-Identifier: LGPL-2.1-only */
/* The tool information interface. `tools check` prints `right` per rank. `tools count` counts all of the program's
 * calls and prints `NAME VALUE` per rank and variable; the communicator's variables are those of one half of the
 * ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, MOST = 64 };

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  exit(1);
}

/* Variables that the tests compare with the record. */
static const char* const COUNTED[] = {
    "MPI_Allreduce_calls", "MPI_Allreduce_time", "MPI_Allreduce_longest", "MPI_Send_calls",   "MPI_Recv_calls",
    "MPI_Init_calls",      "MPI_Finalize_calls", "collectives_calls",     "collectives_time", "collectives_longest",
    "point_to_point_time", "allreduce_calls",    "allreduce_bytes",       "allreduce_time",   "allreduce_longest",
    "allreduce_offloaded", "bcast_calls",        "bcast_bytes",           "simulated_time"};
enum { VARIABLES = sizeof COUNTED / sizeof *COUNTED };

/* Finds a variable of any class. */
static int find(const char* name, MPI_Datatype* type)
{
  int index = -1, kind, ignored, length = 0;
  for (kind = MPI_T_PVAR_CLASS_STATE; kind <= MPI_T_PVAR_CLASS_GENERIC; kind++)
    if (MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS)
      break;
  expect(kind <= MPI_T_PVAR_CLASS_GENERIC, name);
  char found[MOST];
  length = sizeof found;
  MPI_T_pvar_get_info(index, found, &length, &ignored, &ignored, type, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  expect(strcmp(found, name) == 0 && length == (int)strlen(name) + 1, "the name of a variable");
  return index;
}

static void show(const char* name, MPI_Datatype type, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
  union {
    unsigned long long number;
    double time;
  } value;
  expect(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "reading");
  if (type == MPI_DOUBLE)
    printf("%s %.17g\n", name, value.time);
  else
    printf("%s %llu\n", name, value.number);
}

static void communicate(MPI_Comm half)
{
  int rank, size;
  static int sent[COUNT], got[COUNT];
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i <= 3; i++)
    MPI_Allreduce(sent, got, 100 * i, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(sent, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(sent, 10, MPI_INT, 0, half);
  MPI_Allreduce(sent, got, 7, MPI_INT, MPI_SUM, half);
  if (rank == 0)
    for (int i = 0; i < size; i++)
      MPI_Recv(got, COUNT, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    for (int i = 0; i < 1 + (rank == 1); i++)
      MPI_Send(sent, 10 * rank, MPI_INT, 0, 3, MPI_COMM_WORLD);
}

static void count(int argc, char** argv)
{
  static const char* const OF_COMMUNICATOR[] = {"communicator_calls", "communicator_bytes", "communicator_offloaded"};
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[VARIABLES], bound[3];
  MPI_Datatype types[VARIABLES], type;
  MPI_Comm half;
  int provided, elements, rank;
  expect(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "initialization before MPI_Init");
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < VARIABLES; i++) {
    int index = find(COUNTED[i], &types[i]);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &elements);
    expect(elements == 1, "the number of elements");
  }
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  for (int i = 0; i < 3; i++) {
    int index = find(OF_COMMUNICATOR[i], &type);
    expect(MPI_T_pvar_handle_alloc(session, index, &half, &bound[i], &elements) == MPI_SUCCESS, "a bound handle");
    MPI_T_pvar_start(session, bound[i]);
  }
  communicate(half);
  for (int i = 0; i < 3; i++) {
    show(OF_COMMUNICATOR[i], MPI_UNSIGNED_LONG_LONG, session, bound[i]);
    MPI_T_pvar_handle_free(session, &bound[i]);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  for (int i = 0; i < VARIABLES; i++)
    show(COUNTED[i], types[i], session, handles[i]);
  MPI_T_pvar_session_free(&session);
  expect(session == MPI_T_PVAR_SESSION_NULL, "a session that is freed");
  MPI_T_finalize();
}

/* The options of the run that tests set. */
static void check_options(void)
{
  MPI_T_cvar_handle handle;
  MPI_T_enum items;
  MPI_Datatype type;
  int number, index, value, elements, bind, scope, length, item;
  char name[MOST], text[4 * MOST];
  MPI_T_cvar_get_num(&number);
  expect(number > 5, "the number of options");
  for (int i = 0; i < number; i++) {
    int name_length = sizeof name, text_length = sizeof text, again = -1;
    MPI_T_cvar_get_info(i, name, &name_length, &value, &type, &items, text, &text_length, &bind, &scope);
    expect(bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT && text_length > 10, name);
    MPI_T_cvar_get_index(name, &again);
    expect(again == i, name);
  }
  expect(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX,
         "an option too many");
  expect(MPI_T_cvar_get_index("colour", &index) == MPI_T_ERR_INVALID_NAME, "an unknown option");
  MPI_T_cvar_get_index("offload", &index);
  MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, &items, NULL, NULL, NULL, NULL);
  expect(type == MPI_INT && items != MPI_T_ENUM_NULL, "the type of an option");
  MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements);
  expect(elements == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS, "an option");
  length = sizeof name;
  expect(MPI_T_enum_get_item(items, value, &item, name, &length) == MPI_SUCCESS && item == value &&
             strcmp(name, "message") == 0,
         "the option offload");
  expect(MPI_T_enum_get_info(items, &number, name, &length) == MPI_SUCCESS && number > value, "an enumeration");
  expect(MPI_T_enum_get_item(items, number, &item, name, &length) == MPI_T_ERR_INVALID_INDEX, "an item too many");
  expect(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, name, &length) == MPI_T_ERR_INVALID_HANDLE, "no enumeration");
  expect(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_CVAR_SET_NEVER, "writing an option");
  MPI_T_cvar_handle_free(&handle);
  expect(handle == MPI_T_CVAR_HANDLE_NULL && MPI_T_cvar_read(handle, &value) == MPI_T_ERR_INVALID_HANDLE,
         "a handle that is freed");
  MPI_T_cvar_get_index("fabric", &index);
  MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements);
  expect(elements == (int)strlen("fat-tree-8") + 1 && MPI_T_cvar_read(handle, text) == MPI_SUCCESS &&
             strcmp(text, "fat-tree-8") == 0,
         "the option fabric");
}

static unsigned long long number_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
  unsigned long long value = 99;
  expect(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "reading a number");
  return value;
}

static void barrier(int times)
{
  for (int i = 0; i < times; i++)
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two handles of one counter are independent. */
static void check_counting(void)
{
  MPI_T_pvar_session session, other;
  MPI_T_pvar_handle one, two, clock;
  MPI_Datatype type;
  int index, elements;
  unsigned long long value = 50;
  double now, later;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_session_create(&other);
  index = find("MPI_Barrier_calls", &type);
  MPI_T_pvar_handle_alloc(session, index, NULL, &one, &elements);
  MPI_T_pvar_handle_alloc(session, index, NULL, &two, &elements);
  barrier(1);
  expect(number_of(session, one) == 0, "a counter before its start");
  MPI_T_pvar_start(session, one);
  barrier(2);
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  barrier(3);
  expect(number_of(session, one) == 5 && number_of(session, two) == 3, "two handles");
  MPI_T_pvar_stop(session, one);
  barrier(1);
  expect(number_of(session, one) == 5 && number_of(session, two) == 4, "a stop");
  MPI_T_pvar_start(session, one);
  barrier(1);
  expect(number_of(session, one) == 6, "another start");
  expect(MPI_T_pvar_readreset(session, one, &value) == MPI_SUCCESS && value == 6, "read and reset");
  expect(number_of(session, one) == 0, "after a reset");
  value = 100;
  MPI_T_pvar_write(session, one, &value);
  barrier(1);
  expect(number_of(session, one) == 101, "a written counter");
  MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES);
  expect(number_of(session, one) == 0 && number_of(session, two) == 0, "a reset of all");
  MPI_T_pvar_handle_alloc(session, find("simulated_time", &type), NULL, &clock, &elements);
  MPI_T_pvar_read(session, clock, &now);
  barrier(1);
  MPI_T_pvar_read(session, clock, &later);
  expect(later >= now && later == MPI_Wtime(), "the clock");
  expect(MPI_T_pvar_start(session, clock) == MPI_T_ERR_PVAR_NO_STARTSTOP, "starting the clock");
  expect(MPI_T_pvar_stop(session, clock) == MPI_T_ERR_PVAR_NO_STARTSTOP, "stopping the clock");
  expect(MPI_T_pvar_reset(session, clock) == MPI_T_ERR_PVAR_NO_WRITE, "resetting the clock");
  expect(MPI_T_pvar_write(session, clock, &now) == MPI_T_ERR_PVAR_NO_WRITE, "writing the clock");
  expect(MPI_T_pvar_readreset(session, clock, &now) == MPI_T_ERR_PVAR_NO_ATOMIC, "reading and resetting the clock");
  expect(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "starting all, with the clock");
  expect(MPI_T_pvar_start(other, one) == MPI_T_ERR_INVALID_HANDLE, "a handle of another session");
  expect(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE, "reading all");
  expect(MPI_T_pvar_read(session, one, NULL) == MPI_T_ERR_INVALID, "reading into nothing");
  expect(MPI_T_pvar_handle_alloc(session, -1, NULL, &one, &elements) == MPI_T_ERR_INVALID_INDEX, "no variable");
  index = find("communicator_calls", &type);
  expect(MPI_T_pvar_handle_alloc(session, index, NULL, &clock, &elements) == MPI_T_ERR_INVALID, "no communicator");
  MPI_T_pvar_handle_free(session, &two);
  expect(two == MPI_T_PVAR_HANDLE_NULL, "a handle that is freed");
  MPI_T_pvar_session_free(&other);
  expect(MPI_T_pvar_session_free(&other) == MPI_T_ERR_INVALID_SESSION, "a session that has been freed");
}

static void check_categories(void)
{
  int categories, controls, counters, inner, index, number, variables = 0, found[4 * MOST], all;
  char name[MOST];
  MPI_T_category_get_num(&categories);
  for (int i = 0; i < categories; i++) {
    int length = sizeof name, again = -1;
    MPI_T_category_get_info(i, name, &length, NULL, NULL, &controls, &counters, &inner);
    MPI_T_category_get_index(name, &again);
    expect(again == i, name);
    variables += controls + counters;
    MPI_T_category_get_num_events(i, &number);
    expect(number == 0, "events");
  }
  MPI_T_cvar_get_num(&controls);
  MPI_T_pvar_get_num(&counters);
  expect(variables == controls + counters, "each variable is in one category");
  MPI_T_category_get_index("weft", &index);
  MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &inner);
  MPI_T_category_get_categories(index, 4 * MOST, found);
  expect(inner == categories - 1 && found[inner - 1] != index, "categories in a category");
  MPI_T_category_get_index("options", &index);
  MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &all, NULL, NULL);
  MPI_T_category_get_cvars(index, 4 * MOST, found);
  expect(all == controls && found[0] == 0, "the options");
  MPI_T_category_get_index("collectives", &index);
  found[2] = -7;
  expect(MPI_T_category_get_pvars(index, 2, found) == MPI_SUCCESS && found[1] == found[0] + 1 && found[2] == -7,
         "the first variables of a category");
  expect(MPI_T_category_get_pvars(categories, 2, found) == MPI_T_ERR_INVALID_INDEX, "a category too many");
  expect(MPI_T_category_get_index("colours", &index) == MPI_T_ERR_INVALID_NAME, "an unknown category");
  expect(MPI_T_category_changed(&number) == MPI_SUCCESS && number == 0, "changes of categories");
}

static void check_events(void)
{
  int number = 1;
  MPI_Count time;
  MPI_T_event_registration event = NULL;
  expect(MPI_T_event_get_num(&number) == MPI_SUCCESS && number == 0, "the number of events");
  expect(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 0, "the number of sources");
  expect(MPI_T_event_get_index("arrival", &number) == MPI_T_ERR_INVALID_NAME, "an event");
  expect(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &event) == MPI_T_ERR_INVALID_INDEX, "a handle of an event");
  expect(MPI_T_source_get_timestamp(0, &time) == MPI_T_ERR_INVALID_INDEX, "a source");
  expect(MPI_T_event_handle_free(event, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE, "freeing an event");
}

int main(int argc, char** argv)
{
  int provided, number;
  char text[MPI_MAX_ERROR_STRING];
  if (argc > 1 && strcmp(argv[1], "count") == 0) {
    count(argc, argv);
    return 0;
  }
  expect(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED, "a call before initialization");
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  expect(provided == MPI_THREAD_SERIALIZED, "the level of threads");
  check_options();
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  check_counting();
  check_categories();
  check_events();
  MPI_Error_string(MPI_T_ERR_INVALID_NAME, text, &number);
  expect(strcmp(text, "MPI_T_ERR_INVALID_NAME") == 0, "the name of an error");
  MPI_T_finalize();
  MPI_Finalize();
  expect(MPI_T_pvar_get_num(&number) == MPI_SUCCESS, "a call between two ends");
  PMPI_T_finalize();
  expect(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "an end too many");
  printf("right\n");
  return 0;
}
