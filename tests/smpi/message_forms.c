/* SPDX-License-Identifier: LGPL-2.1-only */
/* Times of one message in each form of send and receive: rank 0 sends to rank 1. All other ranks poll until both are
 * done. Ranks 0 and 1 print one line per case:
 *
 *   sent|received SEND RECEIVE BYTES early|late START END
 *
 * `early`: the receive begins before the send; START and END are in seconds. Each list of requests also contains
 * receives of messages that are sent at the end of the program.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 100000, OTHERS = 3, TAG = 1, LAST = 2, APART_US = 200 };

static const char* const SENDS[]    = {"Send",     "Ssend",     "Rsend",      "Bsend",      "Isend",      "Issend",
                                       "Irsend",   "Ibsend",    "Send_init",  "Ssend_init", "Rsend_init", "Bsend_init",
                                       "Sendrecv", "Isendrecv", "Psend_init", NULL};
static const char* const RECEIVES[] = {
    "Recv",   "Wait",       "Waitall",    "Waitany",          "Waitsome",  "Test",  "Testall", "Testany", "Testsome",
    "status", "status_all", "status_any", "status_some",      "Recv_init", "Probe", "Iprobe",  "Mprobe",  "Improbe",
    "Imrecv", "Sendrecv",   "Isendrecv",  "Sendrecv_replace", NULL};
static const char* const COMPLETIONS[] = {"Waitall", "Waitany",  "Waitsome", "Test", "Testall",
                                          "Testany", "Testsome", "status",   NULL};

static int rank;
static char data[MOST], own[MOST], buffer[2 * MOST + 2 * MPI_BSEND_OVERHEAD];
static MPI_Request list[1 + OTHERS]; /* the message's request, and requests that complete last */

static int is(const char* word, const char* expected)
{
  return !strcmp(word, expected);
}

/* Completes the first request of the list. */
static void complete(const char* way)
{
  int flag = 0, index = -1, ended = 0, which[1 + OTHERS];
  if (is(way, "Waitall"))
    MPI_Waitall(1, list, MPI_STATUSES_IGNORE);
  else if (is(way, "Waitany"))
    MPI_Waitany(1 + OTHERS, list, &index, MPI_STATUS_IGNORE);
  else if (is(way, "Waitsome")) {
    MPI_Waitsome(1 + OTHERS, list, &ended, which, MPI_STATUSES_IGNORE);
    index = ended == 1 ? which[0] : -1;
  } else if (is(way, "Test"))
    while (!flag)
      MPI_Test(list, &flag, MPI_STATUS_IGNORE);
  else if (is(way, "Testall"))
    while (!flag)
      MPI_Testall(1, list, &flag, MPI_STATUSES_IGNORE);
  else if (is(way, "Testany"))
    while (!flag)
      MPI_Testany(1 + OTHERS, list, &index, &flag, MPI_STATUS_IGNORE);
  else if (is(way, "Testsome"))
    while (ended == 0)
      MPI_Testsome(1 + OTHERS, list, &ended, which, MPI_STATUSES_IGNORE);
  else if (is(way, "status"))
    while (!flag)
      MPI_Request_get_status(list[0], &flag, MPI_STATUS_IGNORE);
  else if (is(way, "status_all"))
    while (!flag)
      MPI_Request_get_status_all(1, list, &flag, MPI_STATUSES_IGNORE);
  else if (is(way, "status_any"))
    while (!flag)
      MPI_Request_get_status_any(1 + OTHERS, list, &index, &flag, MPI_STATUS_IGNORE);
  else if (is(way, "status_some"))
    while (ended == 0)
      MPI_Request_get_status_some(1 + OTHERS, list, &ended, which, MPI_STATUSES_IGNORE);
  else
    MPI_Wait(list, MPI_STATUS_IGNORE);
  if (!strncmp(way, "status", 6))
    MPI_Wait(list, MPI_STATUS_IGNORE);
  if (index > 0)
    printf("WRONG: %s found request %d\n", way, index);
}

static void start_and_complete(const char* way)
{
  MPI_Start(list);
  complete(way);
  MPI_Request_free(list);
}

static void send(const char* form, const char* completion, int bytes)
{
  const MPI_Comm comm = MPI_COMM_WORLD;
  int start           = 0;
  if (is(form, "Send"))
    MPI_Send(data, bytes, MPI_BYTE, 1, TAG, comm);
  else if (is(form, "Ssend"))
    MPI_Ssend(data, bytes, MPI_BYTE, 1, TAG, comm);
  else if (is(form, "Rsend"))
    MPI_Rsend(data, bytes, MPI_BYTE, 1, TAG, comm);
  else if (is(form, "Bsend"))
    MPI_Bsend(data, bytes, MPI_BYTE, 1, TAG, comm);
  else if (is(form, "Sendrecv"))
    MPI_Sendrecv(data, bytes, MPI_BYTE, 1, TAG, own, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
  else {
    if (is(form, "Isend"))
      MPI_Isend(data, bytes, MPI_BYTE, 1, TAG, comm, list);
    else if (is(form, "Issend"))
      MPI_Issend(data, bytes, MPI_BYTE, 1, TAG, comm, list);
    else if (is(form, "Irsend"))
      MPI_Irsend(data, bytes, MPI_BYTE, 1, TAG, comm, list);
    else if (is(form, "Ibsend"))
      MPI_Ibsend(data, bytes, MPI_BYTE, 1, TAG, comm, list);
    else if (is(form, "Isendrecv"))
      MPI_Isendrecv(data, bytes, MPI_BYTE, 1, TAG, own, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, list);
    else {
      start = 1;
      if (is(form, "Send_init"))
        MPI_Send_init(data, bytes, MPI_BYTE, 1, TAG, comm, list);
      else if (is(form, "Ssend_init"))
        MPI_Ssend_init(data, bytes, MPI_BYTE, 1, TAG, comm, list);
      else if (is(form, "Rsend_init"))
        MPI_Rsend_init(data, bytes, MPI_BYTE, 1, TAG, comm, list);
      else if (is(form, "Bsend_init"))
        MPI_Bsend_init(data, bytes, MPI_BYTE, 1, TAG, comm, list);
      else
        MPI_Psend_init(data, 1, bytes, MPI_BYTE, 1, TAG, comm, MPI_INFO_NULL, list);
      MPI_Start(list);
      if (is(form, "Psend_init"))
        MPI_Pready(0, list[0]);
    }
    complete(completion);
    if (start)
      MPI_Request_free(list);
  }
}

static void receive(const char* form, int bytes)
{
  const MPI_Comm comm = MPI_COMM_WORLD;
  int flag            = 0;
  MPI_Message message;
  if (is(form, "Recv"))
    MPI_Recv(own, bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
  else if (is(form, "Recv_init")) {
    MPI_Recv_init(own, bytes, MPI_BYTE, 0, TAG, comm, list);
    start_and_complete("Wait");
  } else if (is(form, "Precv_init") || is(form, "Parrived")) {
    MPI_Precv_init(own, 1, bytes, MPI_BYTE, 0, TAG, comm, MPI_INFO_NULL, list);
    MPI_Start(list);
    while (is(form, "Parrived") && !flag)
      MPI_Parrived(list[0], 0, &flag);
    complete("Wait");
    MPI_Request_free(list);
  } else if (is(form, "Probe") || is(form, "Iprobe")) {
    if (is(form, "Probe"))
      MPI_Probe(0, TAG, comm, MPI_STATUS_IGNORE);
    while (is(form, "Iprobe") && !flag)
      MPI_Iprobe(0, TAG, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(own, bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
  } else if (is(form, "Mprobe") || is(form, "Imrecv") || is(form, "Improbe")) {
    if (!is(form, "Improbe"))
      MPI_Mprobe(0, TAG, comm, &message, MPI_STATUS_IGNORE);
    while (is(form, "Improbe") && !flag)
      MPI_Improbe(0, TAG, comm, &flag, &message, MPI_STATUS_IGNORE);
    if (is(form, "Imrecv")) {
      MPI_Imrecv(own, bytes, MPI_BYTE, &message, list);
      complete("Waitsome");
    } else
      MPI_Mrecv(own, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else if (is(form, "Sendrecv"))
    MPI_Sendrecv(data, 0, MPI_BYTE, MPI_PROC_NULL, 0, own, bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
  else if (is(form, "Sendrecv_replace"))
    MPI_Sendrecv_replace(own, bytes, MPI_BYTE, MPI_PROC_NULL, 0, 0, TAG, comm, MPI_STATUS_IGNORE);
  else if (is(form, "Isendrecv")) {
    MPI_Isendrecv(data, 0, MPI_BYTE, MPI_PROC_NULL, 0, own, bytes, MPI_BYTE, 0, TAG, comm, list);
    complete("Wait");
  } else {
    MPI_Irecv(own, bytes, MPI_BYTE, 0, TAG, comm, list);
    complete(form);
  }
}

/* Sends one message; `completion` is the sender's. */
static void one(const char* form, const char* completion, const char* receipt, int bytes, int late)
{
  char empty;
  MPI_Sendrecv(&empty, 0, MPI_BYTE, 1 - rank, 0, &empty, 0, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == late)
    usleep(APART_US);
  const double start = MPI_Wtime();
  if (rank == 0)
    send(form, completion, bytes);
  else
    receive(receipt, bytes);
  printf("%s %s/%s %s %d %s %.12f %.12f\n", rank == 0 ? "sent" : "received", form, completion, receipt, bytes,
         late ? "late" : "early", start, MPI_Wtime());
}

static void all_forms(int bytes, int late)
{
  for (const char* const* form = SENDS; *form; form++) {
    if (late && (strstr(*form, "rsend") || strstr(*form, "Rsend"))) /* the receive must already be posted */
      continue;
    const int partitioned = is(*form, "Psend_init");
    one(*form, "Wait", partitioned ? "Precv_init" : "Recv", bytes, late);
    one(*form, "Wait", partitioned ? "Parrived" : "Waitsome", bytes, late);
  }
  for (const char* const* receipt = RECEIVES; *receipt; receipt++)
    one("Send", "Wait", *receipt, bytes, late);
  for (const char* const* completion = COMPLETIONS; *completion; completion++) {
    one("Isend", *completion, "Recv", bytes, late);
    one("Issend", *completion, "Recv", bytes, late);
    one("Send_init", *completion, "Recv_init", bytes, late);
  }
}

static void poll_until_the_end(void)
{
  int flag = 0, end;
  MPI_Request request;
  MPI_Irecv(&end, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD, &request);
  while (!flag)
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char* argv[])
{
  int ranks, last[OTHERS + 1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank > 1)
    poll_until_the_end();
  else {
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 1; i <= OTHERS; i++)
      MPI_Irecv(&last[i], 1, MPI_INT, 1 - rank, LAST, MPI_COMM_WORLD, &list[i]);
    for (int bytes = 8; bytes <= MOST; bytes += MOST - 8)
      for (int late = 0; late < 2; late++)
        all_forms(bytes, late);
    for (int i = 1; i <= OTHERS; i++)
      MPI_Send(&rank, 1, MPI_INT, 1 - rank, LAST, MPI_COMM_WORLD);
    MPI_Waitall(OTHERS, list + 1, MPI_STATUSES_IGNORE);
    for (int other = 2; rank == 0 && other < ranks; other++)
      MPI_Send(&rank, 1, MPI_INT, other, LAST, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
