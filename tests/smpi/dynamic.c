/* SPDX-License-Identifier: LGPL-2.1-only */
/* Dynamic processes: one case per run, named by the first argument. Spawned ranks run the same program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LONG (1 << 18) /* integers: a rendezvous message */

static const char* self;

static void fail(const char* what)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void check(int right, const char* what)
{
  if (!right)
    fail(what);
}

/* Messages, collectives and a merged communicator between two groups of @p local and @p remote ranks. */
static void exchange(MPI_Comm inter, int is_parent)
{
  int rank, local, remote, size, number, sum = 0, merged_rank, flag;
  int* data = malloc(LONG * sizeof *data);
  MPI_Comm merged;
  MPI_Status status;
  MPI_Comm_test_inter(inter, &flag);
  check(flag, "no intercommunicator");
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &local);
  MPI_Comm_remote_size(inter, &remote);

  /* Short and long messages between the first ranks. */
  if (rank == 0) {
    number = is_parent ? 41 : 0;
    if (is_parent) {
      for (int i = 0; i < LONG; ++i)
        data[i] = i;
      MPI_Send(&number, 1, MPI_INT, 0, 3, inter);
      MPI_Send(data, LONG, MPI_INT, 0, 4, inter);
      MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
      check(number == 42 && status.MPI_SOURCE == 0 && status.MPI_TAG == 5, "a wrong answer");
    } else {
      MPI_Recv(&number, 1, MPI_INT, 0, 3, inter, &status);
      check(number == 41 && status.MPI_SOURCE == 0, "a wrong short message");
      MPI_Recv(data, LONG, MPI_INT, 0, 4, inter, &status);
      for (int i = 0; i < LONG; ++i)
        check(data[i] == i, "a wrong long message");
      ++number;
      MPI_Send(&number, 1, MPI_INT, 0, 5, inter);
    }
  }

  /* Collectives between the groups. */
  number = is_parent ? 7 : 0;
  MPI_Bcast(&number, 1, MPI_INT, is_parent ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  check(number == 7, "a wrong MPI_Bcast");
  number = rank + 1;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, inter);
  check(sum == remote * (remote + 1) / 2, "a wrong MPI_Allreduce");
  MPI_Barrier(inter);

  /* One communicator of both, and a window on it. */
  MPI_Intercomm_merge(inter, !is_parent, &merged);
  MPI_Comm_rank(merged, &merged_rank);
  MPI_Comm_size(merged, &size);
  check(size == local + remote && merged_rank == (is_parent ? rank : remote + rank), "a wrong merged rank");
  MPI_Allreduce(&merged_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  check(sum == size * (size - 1) / 2, "a wrong sum of both groups");
  MPI_Win window;
  int cell = -1;
  MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, merged, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&merged_rank, 1, MPI_INT, (merged_rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  check(cell == (merged_rank + size - 1) % size, "a wrong window");
  MPI_Win_free(&window);
  MPI_Comm_free(&merged);
  free(data);
}

static void basic(MPI_Comm parent)
{
  int rank, size, codes[3] = {-1, -1, -1};
  char* words[]  = {"basic", "with two words", NULL};
  MPI_Comm inter = parent, none;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(self, words, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 3; ++i)
      check(codes[i] == MPI_SUCCESS, "a wrong error code");
  } else
    check(size == 3, "a world of a wrong size");
  exchange(inter, parent == MPI_COMM_NULL);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_get_parent(&none);
  check(none == MPI_COMM_NULL, "a parent after MPI_Comm_disconnect");
  printf("%s %d of %d\n", parent == MPI_COMM_NULL ? "parent" : "child", rank, size);
}

static void multiple(MPI_Comm parent)
{
  int rank, size, flag, *number;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (parent == MPI_COMM_NULL) {
    char program[1000];
    strcpy(program, self);
    char* commands[] = {program, program};
    char *first[] = {"multiple", "first", NULL}, *second[] = {"multiple", "second", "more", NULL};
    char** words[]   = {first, second};
    int ranks[]      = {1, 2}, codes[3];
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, commands, words, ranks, infos, 0, MPI_COMM_WORLD, &parent, codes);
    exchange(parent, 1);
  } else {
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    check(flag && *number == (rank == 0 ? 0 : 1), "a wrong MPI_APPNUM");
    exchange(parent, 0);
  }
}

/* Each world of one rank spawns another, three levels deep. */
static void nested(MPI_Comm parent, int depth)
{
  int number = depth;
  MPI_Comm child;
  char text[10], *words[] = {"nested", text, NULL};
  if (depth < 3) {
    sprintf(text, "%d", depth + 1);
    MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&child);
  }
  if (parent != MPI_COMM_NULL) {
    number *= 2;
    MPI_Send(&number, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
  } else
    printf("number %d\n", number);
}

/* Two spawned worlds connect at a port whose name they look up. */
static void ports(MPI_Comm parent, const char* side)
{
  char port[MPI_MAX_PORT_NAME], *words[] = {"ports", "server", NULL};
  MPI_Comm inter, server, client;
  if (parent == MPI_COMM_NULL) {
    int ready;
    MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server, MPI_ERRCODES_IGNORE);
    MPI_Recv(&ready, 1, MPI_INT, 0, 0, server, MPI_STATUS_IGNORE);
    words[1] = "client";
    MPI_Comm_spawn(self, words, 3, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client, MPI_ERRCODES_IGNORE);
    return;
  }
  int rank, is_server = strcmp(side, "server") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_server) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Publish_name("ocean", MPI_INFO_NULL, port);
      MPI_Send(&rank, 1, MPI_INT, 0, 0, parent);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  } else {
    if (rank == 0)
      MPI_Lookup_name("ocean", MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  exchange(inter, is_server);
  MPI_Comm_disconnect(&inter);
  if (is_server && rank == 0) {
    MPI_Unpublish_name("ocean", MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
  printf("%s %d\n", side, rank);
}

/* Two jobs, one of which publishes its port. */
static void couple(int is_server)
{
  char port[MPI_MAX_PORT_NAME];
  int rank;
  MPI_Comm inter;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_server && rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("coupling", MPI_INFO_NULL, port);
  } else if (rank == 0)
    MPI_Lookup_name("coupling", MPI_INFO_NULL, port);
  if (is_server)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  exchange(inter, is_server);
  MPI_Comm_disconnect(&inter);
}

/* Two ranks connected by a socket. */
static void join(void)
{
  static int ends[2]; /* of the process, since ranks have copies */
  int rank, given[2];
  MPI_Comm inter;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    fail("no sockets");
  memcpy(given, ends, sizeof given);
  MPI_Bcast(given, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_join(given[rank], &inter);
  exchange(inter, rank == 0);
  MPI_Comm_disconnect(&inter);
}

static void tell(const char* what, int code)
{
  int class;
  MPI_Error_class(code, &class);
  const char* name = class == MPI_ERR_SPAWN  ? "MPI_ERR_SPAWN"
                     : class == MPI_ERR_PORT ? "MPI_ERR_PORT"
                     : class == MPI_ERR_NAME ? "MPI_ERR_NAME"
                                             : "another";
  printf("%s: %s\n", what, name);
}

static void errors(void)
{
  char port[MPI_MAX_PORT_NAME] = "nowhere";
  int codes[2]                 = {-1, -1};
  MPI_Comm inter;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  tell("program", MPI_Comm_spawn("./missing", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, codes));
  check(inter == MPI_COMM_NULL && codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN, "wrong codes");
  tell("room",
       MPI_Comm_spawn(self, MPI_ARGV_NULL, 1000000, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
  tell("connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  tell("accept", MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  tell("name", MPI_Lookup_name("nothing", MPI_INFO_NULL, port));
}

static void spawn_with(const char* key, const char* value, int most, char** words)
{
  MPI_Comm inter;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  MPI_Comm_spawn(self, words, most, info, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
}

static void infos(MPI_Comm parent, char** arguments)
{
  int rank, size, length, flag, *universe;
  char name[MPI_MAX_PROCESSOR_NAME], folder[4000];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  if (parent != MPI_COMM_NULL) {
    printf("child %d of %d on %s in %s\n", rank, size, name, strrchr(getcwd(folder, sizeof folder), '/'));
    return;
  }
  printf("universe %d\n", *universe);
  char* words[] = {"infos", NULL};
  spawn_with(arguments[0], arguments[1], atoi(arguments[2]), words);
}

int main(int argc, char** argv)
{
  MPI_Comm parent;
  self             = argv[0];
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "silent") == 0 && argc > 2)
    return 0; /* a spawned program without MPI */
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (strcmp(name, "basic") == 0) {
    check(parent == MPI_COMM_NULL || (argc == 3 && strcmp(argv[2], "with two words") == 0), "wrong arguments");
    basic(parent);
  } else if (strcmp(name, "multiple") == 0)
    multiple(parent);
  else if (strcmp(name, "nested") == 0)
    nested(parent, argc > 2 ? atoi(argv[2]) : 0);
  else if (strcmp(name, "ports") == 0)
    ports(parent, argc > 2 ? argv[2] : "");
  else if (strcmp(name, "serve") == 0 || strcmp(name, "connect") == 0)
    couple(strcmp(name, "serve") == 0);
  else if (strcmp(name, "join") == 0)
    join();
  else if (strcmp(name, "errors") == 0)
    errors();
  else if (strcmp(name, "infos") == 0)
    infos(parent, argv + 2);
  else if (strcmp(name, "silent") == 0) {
    char* words[] = {"silent", "child", NULL};
    MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
  } else if (strcmp(name, "alone") == 0) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent);
  } else if (strcmp(name, "fatal") == 0)
    MPI_Comm_spawn("./missing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
  else if (strcmp(name, "abort") == 0) {
    char* words[] = {"abort", "child", NULL};
    if (parent != MPI_COMM_NULL)
      MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
    MPI_Barrier(parent);
  }
  MPI_Finalize();
  return 0;
}
