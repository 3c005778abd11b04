/* SPDX-License-Identifier: LGPL-2.1-only */
/* Creates communicators by every MPI function.
 *
 *   making check   checks their members and order, and that messages do not cross between communicators
 *   making WHAT    prints the simulated time of one creation, the maximum over all ranks, in microseconds;
 *                  WHAT: dup, split, split_type, create, create_group, cart_create, cart_sub, window
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void expect(int right, const char* what)
{
  if (!right) {
    printf("rank %d: %s is wrong\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static int sum(MPI_Comm comm, int value)
{
  int total;
  MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm);
  return total;
}

static void check_split(void)
{
  MPI_Comm part;
  int colour = rank % 3 == 2 ? MPI_UNDEFINED : rank % 3, at, of;
  MPI_Comm_split(MPI_COMM_WORLD, colour, -rank, &part);
  expect((part == MPI_COMM_NULL) == (colour == MPI_UNDEFINED), "who is in no part");
  if (part == MPI_COMM_NULL)
    return;
  MPI_Comm_rank(part, &at);
  MPI_Comm_size(part, &of);
  expect(of == (size - colour + 2) / 3, "the part's size");
  expect(at == of - 1 - rank / 3, "the order of the keys");
  int first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, part);
  expect(first == colour + 3 * (of - 1), "the first of the part");
  MPI_Comm_free(&part);
}

static void check_dup(void)
{
  MPI_Comm one, two;
  int next = (rank + 1) % size, before = (rank + size - 1) % size, got[3], sent[3] = {1, 2, 3};
  MPI_Request requests[6];
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(one, &two);
  MPI_Comm comms[3] = {MPI_COMM_WORLD, one, two};
  for (int i = 0; i < 3; i++)
    MPI_Irecv(&got[i], 1, MPI_INT, before, 7, comms[2 - i], &requests[i]);
  for (int i = 0; i < 3; i++)
    MPI_Isend(&sent[i], 1, MPI_INT, next, 7, comms[i], &requests[3 + i]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  expect(got[0] == 3 && got[1] == 2 && got[2] == 1, "the communicator of a message");
  MPI_Comm_free(&two);
  MPI_Comm_free(&one);
}

static void check_create(void)
{
  MPI_Group all, even;
  MPI_Comm made;
  int range[1][3] = {{0, size - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, range, &even);
  MPI_Comm_create(MPI_COMM_WORLD, even, &made);
  expect((made == MPI_COMM_NULL) == (rank % 2), "who is in a group");
  if (made != MPI_COMM_NULL) {
    expect(sum(made, 1) == (size + 1) / 2, "the group's size");
    MPI_Comm_free(&made);
    MPI_Comm_create_group(MPI_COMM_WORLD, even, 3, &made); /* other ranks do not call it */
    expect(sum(made, 1) == (size + 1) / 2, "the size of a group whose members alone call");
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&even);
  MPI_Group_free(&all);
}

/* Lets the other ranks run while a duplicate is being created. */
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* from, void* to, int* flag)
{
  (void)key;
  MPI_Barrier(comm);
  *(void**)to = from;
  *flag       = extra == &rank;
  return MPI_SUCCESS;
}

/* Duplicates of sub-communicators and of duplicates; their parents and, on some ranks, the groups are freed first. */
static void check_copies(void)
{
  MPI_Comm part, copy, again, made;
  MPI_Group group, world;
  int key, result, flag = 0, at, of, all[2] = {0, 1}, in_world[2], *value = NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, &rank);
  MPI_Comm_set_attr(part, key, &size);
  MPI_Comm_group(part, &group);
  if (rank / 2 % 2)
    MPI_Group_free(&group);
  MPI_Comm_dup(part, &copy);
  MPI_Comm_get_attr(copy, key, (void*)&value, &flag);
  expect(flag && value == &size, "a copy's attribute");
  MPI_Comm_free(&part);
  MPI_Comm_dup(copy, &again);
  MPI_Comm_compare(copy, again, &result);
  expect(result == MPI_CONGRUENT, "whether copies have the same members");
  MPI_Comm_compare(MPI_COMM_WORLD, again, &result);
  expect(size == 1 || result == MPI_UNEQUAL, "whether a part has all members");
  MPI_Comm_free(&copy);
  if (!(rank / 2 % 2))
    MPI_Group_free(&group);
  MPI_Comm_group(again, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &of);
  MPI_Group_rank(group, &at);
  expect(of == (size + 1 - rank % 2) / 2 && at == of - 1 - rank / 2, "the group of a copy of a copy");
  MPI_Group_translate_ranks(group, of < 2 ? of : 2, all, world, in_world);
  expect(in_world[0] == 2 * (of - 1) + rank % 2, "a copy's first rank");
  MPI_Comm_create(again, group, &made);
  MPI_Group_free(&group);
  expect(sum(made, 1) == of && sum(again, rank) == sum(made, rank), "what is made of a copy's group");
  MPI_Comm_free(&again);
  MPI_Comm_dup(made, &copy);
  expect(sum(copy, 1) == of, "a copy of what is made of a group");
  MPI_Comm_free(&made);
  MPI_Comm_free(&copy);
  MPI_Comm_free_keyval(&key);
}

static void check_cart(void)
{
  int dims[2] = {2, size / 2}, periods[2] = {1, 1}, rows[2] = {0, 1}, coords[2];
  MPI_Comm grid, row;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  expect((grid == MPI_COMM_NULL) == (rank >= dims[0] * dims[1]), "who is in the grid");
  if (grid == MPI_COMM_NULL)
    return;
  MPI_Cart_coords(grid, rank, 2, coords);
  MPI_Comm copy;
  MPI_Comm_dup(grid, &copy);
  MPI_Cart_coords(copy, rank, 2, rows);
  expect(rows[0] == coords[0] && rows[1] == coords[1], "the place in a copy of the grid");
  expect(sum(copy, 1) == dims[0] * dims[1], "a copy of the grid");
  MPI_Comm_free(&copy);
  rows[0] = 0;
  rows[1] = 1;
  MPI_Cart_sub(grid, rows, &row);
  expect(sum(row, coords[0]) == coords[0] * dims[1], "the row");
  int at;
  MPI_Comm_rank(row, &at);
  expect(at == coords[1], "the place in the row");
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
}

static void check_hosts(void)
{
  MPI_Comm host;
  int at, of, one = 1, two = 2, got = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &at);
  MPI_Comm_size(host, &of);
  int highest = rank;
  MPI_Bcast(&highest, 1, MPI_INT, 0, host);
  expect(highest == rank + at, "the order of the keys in a host");
  if (of > 1) { /* two messages to oneself, first in the world, then within the host: the second one is received */
    MPI_Request requests[2];
    MPI_Isend(&one, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&two, 1, MPI_INT, at, 9, host, &requests[1]);
    MPI_Recv(&got, 1, MPI_INT, at, 9, host, MPI_STATUS_IGNORE);
    expect(got == 2, "the message of a host's communicator");
    MPI_Recv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Comm_free(&host);
}

static void check_self(void)
{
  int value = 40 + rank;
  MPI_Comm self;
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
  expect(value == 40 + rank, "a Bcast to oneself");
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Bcast(&value, 1, MPI_INT, 0, self);
  expect(value == 40 + rank && sum(self, value) == value, "a communicator of one rank");
  MPI_Comm_free(&self);
}

static void check_overlap(void)
{
  for (int round = 0; round < 4; round++) {
    MPI_Comm made[2];
    MPI_Request request;
    int mine = rank, total = 0;
    MPI_Iallreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(made[0], 0, rank, &made[1]);
    expect(sum(made[1], 1) == size, "a communicator made beside a call");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(total == size * (size - 1) / 2, "a call beside the making of a communicator");
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
  }
}

static void check_window(void)
{
  int box = -1;
  MPI_Win window;
  MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(box == (rank + size - 1) % size, "what a window holds");
  MPI_Win_free(&window);
}

static double make(const char* what)
{
  MPI_Comm grid, made = MPI_COMM_NULL;
  MPI_Group all;
  MPI_Win window;
  int dims[2] = {0, 0}, periods[2] = {1, 1}, rows[2] = {0, 1}, box;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Dims_create(size, 2, dims);
  if (!strcmp(what, "cart_sub"))
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  if (!strcmp(what, "dup"))
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  else if (!strcmp(what, "split"))
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
  else if (!strcmp(what, "split_type"))
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
  else if (!strcmp(what, "create"))
    MPI_Comm_create(MPI_COMM_WORLD, all, &made);
  else if (!strcmp(what, "create_group"))
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &made);
  else if (!strcmp(what, "cart_create"))
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  else if (!strcmp(what, "cart_sub"))
    MPI_Cart_sub(grid, rows, &made);
  else if (!strcmp(what, "window"))
    MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "check")) {
      check_split();
      check_dup();
      check_create();
      check_copies();
      check_cart();
      check_hosts();
      check_self();
      check_overlap();
      check_window();
      if (rank == 0)
        printf("all right\n");
    } else {
      double mine = make(argv[i]), longest;
      MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0)
        printf("%s %.3f\n", argv[i], longest * 1e6);
    }
  }
  MPI_Finalize();
  return 0;
}
