/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communication of NAS BT, SP, LU and MG, class B. Plain MPI.
 *
 *     npb bt|sp|lu|mg [ITERATIONS]
 *
 * They represent codes on regular grids: neighbours' faces (all), lines that are solved across
 * ranks (BT, SP), wavefronts of tiny messages (LU), faces of finer and coarser grids (MG).
 *
 * Senders, receivers, sizes and order of messages are those of NPB 3.3's MPI versions
 * (copy_faces.f, x_solve.f, ssor.f, exchange_1.f, exchange_3.f, mg.f). A message contains a number
 * that identifies sender and step, and every rank checks all messages that it receives. The
 * computation is as many multiplications and additions as the programs report at their ends (bt.f,
 * sp.f, lu.f, mg.f), spread evenly over an iteration's steps. Simplifications: all cells of BT and
 * SP, and all columns of LU, are as large as the largest; no ranks idle in LU's first and last
 * planes; MG omits grids coarser than one point per rank.
 *
 * BT and SP require a square number of ranks, LU and MG a power of two.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, TAG = 1, SIZE = 102, PLANES = SIZE - 2, MG_LEVELS = 8, VARIABLES = 5 };

static int rank, ranks, wrong, step;
static double *sent, *received;
static volatile double result;

/* ---- Shared functions ---- */

static void compute(double operations)
{
  enum { LANES = 8 };
  double lanes[LANES] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (double done = 0; done < operations; done += 2 * LANES)
    for (int i = 0; i < LANES; i++)
      lanes[i] = lanes[i] * 0.999 + 0.001;
  result = lanes[0] + lanes[LANES - 1];
}

static double content(int from)
{
  return from + (double)step / 1024;
}

static void fill(double* values, int count)
{
  for (int i = 0; i < count; i++)
    values[i] = content(rank);
}

static void check(const double* values, int count, int from)
{
  for (int i = 0; i < count; i++)
    wrong |= values[i] != content(from);
}

static void receive(int count, int from)
{
  if (from < 0)
    return;
  MPI_Recv(received, count, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(received, count, from);
}

static void send(int count, int to)
{
  if (to < 0)
    return;
  fill(sent, count);
  MPI_Send(sent, count, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
}

/* Sends to one side, and receives from the other. */
static void shift(int count, int to, int from)
{
  MPI_Request request = MPI_REQUEST_NULL;
  if (from >= 0)
    MPI_Irecv(received, count, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, &request);
  send(count, to);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (from >= 0)
    check(received, count, from);
  step++;
}

/* ---- BT and SP: each rank has a cell in each row, column and layer of side x side x side ---- */

typedef struct {
  int side, cell;
  int before[3], after[3];
} Cells;

static Cells make_cells(void)
{
  Cells cells = {.side = 1};
  while (cells.side * cells.side < ranks)
    cells.side++;
  const int q = cells.side, i = rank % q, j = rank / q;
  const int left = (i + q - 1) % q, right = (i + 1) % q, below = (j + q - 1) % q, above = (j + 1) % q;
  cells.cell      = (SIZE + q - 1) / q;
  cells.before[0] = left + q * j;
  cells.after[0]  = right + q * j;
  cells.before[1] = i + q * below;
  cells.after[1]  = i + q * above;
  cells.before[2] = right + q * below;
  cells.after[2]  = left + q * above;
  return cells;
}

/* Exchanges two layers of each cell's faces, all at once. */
static void copy_faces(const Cells* cells)
{
  const int count = (cells->side - 1) * cells->cell * cells->cell * 2 * VARIABLES;
  MPI_Request requests[12];
  fill(sent, count);
  for (int axis = 0; axis < 3; axis++) {
    MPI_Irecv(received + (size_t)(2 * axis) * (size_t)count, count, MPI_DOUBLE, cells->after[axis], 2 * axis,
              MPI_COMM_WORLD, &requests[2 * axis]);
    MPI_Irecv(received + (size_t)(2 * axis + 1) * (size_t)count, count, MPI_DOUBLE, cells->before[axis], 2 * axis + 1,
              MPI_COMM_WORLD, &requests[2 * axis + 1]);
  }
  for (int axis = 0; axis < 3; axis++) {
    MPI_Isend(sent, count, MPI_DOUBLE, cells->after[axis], 2 * axis + 1, MPI_COMM_WORLD, &requests[6 + 2 * axis]);
    MPI_Isend(sent, count, MPI_DOUBLE, cells->before[axis], 2 * axis, MPI_COMM_WORLD, &requests[7 + 2 * axis]);
  }
  MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
  for (int axis = 0; axis < 3; axis++) {
    check(received + (size_t)(2 * axis) * (size_t)count, count, cells->after[axis]);
    check(received + (size_t)(2 * axis + 1) * (size_t)count, count, cells->before[axis]);
  }
  step++;
}

/* Sweeps from a row's first cell to its last; all ranks are at the same cell of different rows. */
static void sweep(const Cells* cells, int count, int from, int to, double operations)
{
  for (int stage = 0; stage < cells->side; stage++) {
    compute(operations);
    if (stage + 1 < cells->side)
      shift(count, to, from);
  }
}

static void solve_lines(const Cells* cells, int forward, int backward, double operations)
{
  const int face = cells->cell * cells->cell;
  for (int axis = 0; axis < 3; axis++) {
    sweep(cells, forward * face, cells->before[axis], cells->after[axis], operations);
    sweep(cells, backward * face, cells->after[axis], cells->before[axis], operations);
  }
}

/* For each point of a face, BT sends a 5 x 5 block and a vector forward, and a vector back; SP 22
 * and 10 numbers. */
static void lines(int iterations, int bt)
{
  const Cells cells      = make_cells();
  const double n         = SIZE;
  const double bt_counts = 3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n;
  const double sp_counts = 881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4;
  const double share     = (bt ? bt_counts : sp_counts) / ranks / (6 * cells.side + 1);
  for (int i = 0; i < iterations; i++) {
    copy_faces(&cells);
    compute(share);
    solve_lines(&cells, bt ? 30 : 22, bt ? VARIABLES : 10, share);
  }
}

/* ---- LU: columns of a grid of ranks ---- */

static void lu(int iterations)
{
  int wide = 1; /* the number of columns equals that of rows, or twice it */
  while (wide * wide < ranks)
    wide *= 2;
  const int high = ranks / wide, row = rank / wide, column = rank % wide;
  const int north = row > 0 ? rank - wide : -1, south = row < high - 1 ? rank + wide : -1;
  const int west = column > 0 ? rank - 1 : -1, east = column < wide - 1 ? rank + 1 : -1;
  const int x = (SIZE + wide - 1) / wide, y = (SIZE + high - 1) / high;
  const double n      = SIZE;
  const double counts = (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010.0) / ranks;
  for (int i = 0; i < iterations; i++) {
    for (int back = 0; back < 2; back++)
      for (int plane = 0; plane < PLANES; plane++) {
        receive(VARIABLES * x, back ? south : north);
        receive(VARIABLES * y, back ? east : west);
        compute(counts / 2 / (2 * PLANES));
        send(VARIABLES * x, back ? north : south);
        send(VARIABLES * y, back ? west : east);
        step++;
      }
    shift(2 * VARIABLES * x * SIZE, south, north);
    shift(2 * VARIABLES * x * SIZE, north, south);
    shift(2 * VARIABLES * y * SIZE, east, west);
    shift(2 * VARIABLES * y * SIZE, west, east);
    compute(counts / 2);
  }
}

/* ---- MG: boxes of a grid, at each level half as long ---- */

typedef struct {
  int boxes[3], before[3], after[3];
} Boxes;

static Boxes make_boxes(void)
{
  int power = 0;
  while (1 << (power + 1) <= ranks)
    power++;
  const int x = power / 3, y = (power - x) / 2;
  Boxes found = {.boxes = {1 << x, 1 << y, 1 << (power - x - y)}};
  for (int axis = 0, stride = 1; axis < 3; stride *= found.boxes[axis++]) {
    const int size = found.boxes[axis], place = rank / stride % size, rest = rank - place * stride;
    found.before[axis] = rest + (place + size - 1) % size * stride;
    found.after[axis]  = rest + (place + 1) % size * stride;
  }
  return found;
}

/* Exchanges a layer of faces, one axis after the other, including the edges received before. */
static void exchange_boxes(const Boxes* boxes, int level)
{
  int length[3];
  for (int axis = 0; axis < 3; axis++)
    length[axis] = (1 << level) / boxes->boxes[axis];
  const int counts[3] = {length[1] * length[2], (length[0] + 2) * length[2], (length[0] + 2) * (length[1] + 2)};
  for (int axis = 0; axis < 3; axis++) {
    shift(counts[axis], boxes->after[axis], boxes->before[axis]);
    shift(counts[axis], boxes->before[axis], boxes->after[axis]);
  }
}

/* One V-cycle down to the coarsest grid and up again: a restriction, a residual and a smoothing per
 * level. */
static void mg(int iterations)
{
  const Boxes boxes = make_boxes();
  int coarsest      = 1;
  while (1 << coarsest < boxes.boxes[2])
    coarsest++;
  const double counts = 58.0 * (1 << MG_LEVELS) * (1 << MG_LEVELS) * (1 << MG_LEVELS) / ranks * 7 / 8 / 3;
  for (int i = 0; i < iterations; i++) {
    for (int level = MG_LEVELS - 1; level >= coarsest; level--) {
      compute(counts / (1 << 3 * (MG_LEVELS - level)));
      exchange_boxes(&boxes, level);
    }
    for (int level = coarsest; level <= MG_LEVELS; level++)
      for (int part = 0; part < (level == MG_LEVELS ? 3 : 2); part++) {
        compute(counts / (1 << 3 * (MG_LEVELS - level)));
        exchange_boxes(&boxes, level);
      }
  }
}

/* ---- */

static int is_square(int number)
{
  int side = 1;
  while (side * side < number)
    side++;
  return side * side == number;
}

int main(int argc, char** argv)
{
  enum { MOST = 1 << 18 };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* name     = argc > 1 ? argv[1] : "";
  const int iterations = argc > 2 ? atoi(argv[2]) : 1;
  const int on_lines   = strcmp(name, "bt") == 0 || strcmp(name, "sp") == 0;
  const int on_grid    = strcmp(name, "lu") == 0 || strcmp(name, "mg") == 0;
  if (iterations < 1 || !(on_lines ? is_square(ranks) : on_grid && (ranks & (ranks - 1)) == 0)) {
    fprintf(stderr, "usage: npb bt|sp|lu|mg [ITERATIONS]; bt, sp: a square number of ranks, lu, mg: a power of two\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  }
  sent     = calloc(MOST, sizeof *sent);
  received = calloc(MOST, sizeof *received);
  if (on_lines)
    lines(iterations, strcmp(name, "bt") == 0);
  else if (strcmp(name, "lu") == 0)
    lu(iterations);
  else
    mg(iterations);
  int any;
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_LOR, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s of %d ranks: %s\n", name, ranks, any ? "wrong" : "right");
  free(sent);
  free(received);
  MPI_Finalize();
  return wrong;
}
