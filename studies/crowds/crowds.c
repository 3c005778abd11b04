// SPDX-License-Identifier: LGPL-2.1-only
/* Many messages in flight at once.
 *
 *   crowds messages PATTERN MESSAGES BYTES SEED   each rank posts its receives and sends, and waits for all
 *   crowds ends     PATTERN MESSAGES BYTES SEED   the same; prints when each receive ended
 *   crowds alltoallv BYTES PART SEED              a PART-th of the blocks have BYTES, the others none; prints the end
 *   crowds program  BYTES SEED                    rounds of computation, messages and an Allreduce; prints the end
 *
 * PATTERN is `shifts` (to the next ranks), `random` (by random distances, the same for all ranks), `any` (to ranks that
 * each draws) or `skewed` (as `any`, but half go to a sixteenth of the ranks). BYTES of 0 stand for random sizes from 8
 * bytes to 256 KiB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST = 1 << 18, VECTOR = 1 << 14, ROUNDS = 4 };

static int rank, ranks;
static unsigned seed;

/* SplitMix64 by Steele, Lea and Flood (OOPSLA 2014), figure 17, of up to three small numbers. */
static unsigned drawn(unsigned one, unsigned two)
{
  unsigned long z = ((unsigned long)seed << 48) + ((unsigned long)one << 24) + two + 0x9e3779b97f4a7c15UL;
  z               = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
  z               = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
  return (unsigned)((z ^ (z >> 31)) >> 33);
}

/* Returns how far a message goes if that is the same from all ranks; otherwise 0. */
static int distance(const char* pattern, int message)
{
  if (!strcmp(pattern, "shifts"))
    return 1 + message % (ranks - 1);
  return strcmp(pattern, "random") ? 0 : 1 + (int)(drawn(0, message) % (ranks - 1));
}

static int destination(const char* pattern, int from, int message)
{
  const int far = distance(pattern, message);
  if (far)
    return (from + far) % ranks;
  int to = (int)(drawn(from + 1, 2 * message) % ranks);
  if (!strcmp(pattern, "skewed") && drawn(from + 1, 2 * message + 1) % 2)
    to %= (ranks + 15) / 16;
  return to == from ? (to + 1) % ranks : to;
}

static int size_of(int bytes, int from, int message)
{
  return bytes ? bytes : 8 << drawn(ranks + from, message) % 16;
}

/* Writes who sends to this rank, and which of its messages, if `into` has room for them; returns how many do. */
static int senders(const char* pattern, int messages, int (*into)[2])
{
  int number = 0;
  for (int message = 0; message < messages; ++message) {
    const int far   = distance(pattern, message);
    const int first = far ? (rank - far + ranks) % ranks : 0;
    const int last  = far ? first : ranks - 1;
    for (int from = first; from <= last; ++from)
      if (far || destination(pattern, from, message) == rank) {
        if (into) {
          into[number][0] = from;
          into[number][1] = message;
        }
        ++number;
      }
  }
  return number;
}

static void crowd(const char* pattern, int messages, int bytes, int tells)
{
  const int receives   = senders(pattern, messages, NULL);
  int (*sender)[2]     = malloc((receives + 1) * sizeof *sender);
  MPI_Request* request = malloc((receives + messages) * sizeof *request);
  char* data           = malloc(bytes ? bytes : LARGEST);
  senders(pattern, messages, sender);
  for (int one = 0; one < receives; ++one) {
    const int from = sender[one][0], message = sender[one][1];
    MPI_Irecv(data, size_of(bytes, from, message), MPI_CHAR, from, message, MPI_COMM_WORLD, &request[one]);
  }
  for (int message = 0; message < messages; ++message)
    MPI_Isend(data, size_of(bytes, rank, message), MPI_CHAR, destination(pattern, rank, message), message,
              MPI_COMM_WORLD, &request[receives + message]);
  for (int ended = 0, which; tells && ended < receives; ++ended) {
    MPI_Waitany(receives, request, &which, MPI_STATUS_IGNORE);
    printf("%d %d %.12g\n", rank, which, MPI_Wtime());
  }
  MPI_Waitall(receives + messages, request, MPI_STATUSES_IGNORE);
  free(data);
  free(request);
  free(sender);
}

static void alltoallv(int bytes, int part)
{
  int* sent = calloc(3 * ranks, sizeof *sent);
  int *got = sent + ranks, *places = got + ranks;
  char* data    = malloc(2 * (bytes + 1));
  const int own = (int)(drawn(0, 0) % part);
  for (int other = 0; other < ranks; ++other)
    sent[other] = got[other] = (other + rank + own) % part ? 0 : bytes;
  MPI_Alltoallv(data, sent, places, MPI_CHAR, data + bytes + 1, got, places, MPI_CHAR, MPI_COMM_WORLD);
  free(data);
  free(sent);
}

static void program(int bytes)
{
  static int vector[VECTOR], sum[VECTOR];
  for (int round = 0; round < ROUNDS; ++round) {
    usleep(drawn(ranks + rank, round) % 100);
    crowd("any", 16, bytes, 0);
    MPI_Allreduce(vector, sum, VECTOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ++seed;
  }
}

int main(int count, char** words)
{
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  seed              = (unsigned)atoi(words[count - 1]);
  const char* which = words[1];
  if (!strcmp(which, "messages") || !strcmp(which, "ends"))
    crowd(words[2], atoi(words[3]), atoi(words[4]), !strcmp(which, "ends"));
  else if (!strcmp(which, "alltoallv"))
    alltoallv(atoi(words[2]), atoi(words[3]));
  else
    program(atoi(words[2]));
  const double own = MPI_Wtime();
  double end;
  MPI_Reduce(&own, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("end %.12g\n", end);
  MPI_Finalize();
  return 0;
}
