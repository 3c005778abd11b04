/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random program: communicators, and calls in flight.
 *
 * New forms are those that SMPI lacks, or that only programs of the last ten years use: persistent and partitioned
 * operations, large counts, matched probes, MPI_Isendrecv, sessions, neighbourhood collectives, intercommunicators,
 * shared windows. With --old a program executes the same exchanges with old forms. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "reduce.h"

enum { MOST_COMMUNICATORS = 6, MOST_IN_FLIGHT = 24, MOST_ACROSS = 2 };

typedef enum { BLOCKING, NONBLOCKING, LARGE, NONBLOCKING_LARGE, PERSISTENT, PERSISTENT_LARGE, FORMS } Form;

#define ARGUMENTS(...) __VA_ARGS__
/** Calls, for instance, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, or one of their large-count forms. @p small and @p large
 * are the arguments in parentheses. */
#define CALL_FORM(form, blocking, other, small, large, comm, request)                                                  \
  do {                                                                                                                 \
    switch (form) {                                                                                                    \
      case BLOCKING:                                                                                                   \
        MPI_##blocking(ARGUMENTS small, comm);                                                                         \
        break;                                                                                                         \
      case NONBLOCKING:                                                                                                \
        MPI_I##other(ARGUMENTS small, comm, request);                                                                  \
        break;                                                                                                         \
      case LARGE:                                                                                                      \
        MPI_##blocking##_c(ARGUMENTS large, comm);                                                                     \
        break;                                                                                                         \
      case NONBLOCKING_LARGE:                                                                                          \
        MPI_I##other##_c(ARGUMENTS large, comm, request);                                                              \
        break;                                                                                                         \
      case PERSISTENT:                                                                                                 \
        MPI_##blocking##_init(ARGUMENTS small, comm, MPI_INFO_NULL, request);                                          \
        break;                                                                                                         \
      default:                                                                                                         \
        MPI_##blocking##_init_c(ARGUMENTS large, comm, MPI_INFO_NULL, request);                                        \
    }                                                                                                                  \
  } while (0)

/** A call in flight, or a blocking call while it executes. */
typedef struct {
  char name[96];
  Buffer send, receive;
  int gives, gets;            ///< true if the send or receive buffer exists and is checked
  int leading;                ///< number of leading elements of the result that are defined; -1: all
  Layout reduced;             ///< type of a reduction; without elements for other calls
  int send_bytes[MOST_RANKS]; ///< displacements for MPI_Alltoallw
  int receive_bytes[MOST_RANKS];
  MPI_Datatype send_types[MOST_RANKS];
  MPI_Datatype receive_types[MOST_RANKS];
  MPI_Count large_send_counts[MOST_RANKS]; ///< counts and displacements of large-count forms
  MPI_Count large_receive_counts[MOST_RANKS];
  MPI_Aint large_send_places[MOST_RANKS]; ///< in extents, or in bytes for MPI_Alltoallw
  MPI_Aint large_receive_places[MOST_RANKS];
  int persistent;                          ///< true if the request outlives its completion
  unsigned char *kept_send, *kept_receive; ///< contents before garble()
} Call;

/** Intercommunicator, with a communicator of both groups. */
typedef struct {
  MPI_Comm comm; ///< MPI_COMM_NULL: none
  MPI_Comm both;
  int side;                 ///< side of this rank, 0 or 1
  int sizes[2];             ///< number of ranks by side
  int ranks[2][MOST_RANKS]; ///< rank in `both`, by side and rank in that group
} Across;

typedef struct {
  uint64_t seed;
  int number;
  int step;
  int old;   ///< true if old forms replace new ones
  int spoil; ///< true if some results are changed, which the checks must detect
  int files; ///< true if the fabric has storage
  MPI_Session session;
  Draw all;  ///< identical on all ranks
  Draw mine; ///< private to this rank
  MPI_Comm communicators[MOST_COMMUNICATORS];
  Across across[MOST_ACROSS];
  int in_flight;
  MPI_Request requests[MOST_IN_FLIGHT];
  Call* calls[MOST_IN_FLIGHT];
  int wrong; ///< number of wrong results
} Program;

/** Returns a number that all ranks of a communicator share, but that differs between communicators of one split. */
uint64_t salt_of(const Program* program, MPI_Comm comm);
/** Returns a random form of a call, the same on all ranks. */
Form draw_form(Program* program);
int is_blocking(Form form);
/** Records an error that no buffer shows. */
void note_wrong(Program* program, const char* what);

/** Executes or starts a random collective call on @p comm. */
void call_collective(Program* program, MPI_Comm comm);
/** Sends to one rank and receives from another. */
void shift(Program* program, MPI_Comm comm);
/** Puts, gets and accumulates between fences. */
void exchange_one_sided(Program* program, MPI_Comm comm);
/** Writes to the segments of other ranks on the host. */
void share_window(Program* program, MPI_Comm comm);
/** Executes or starts a neighbourhood collective on a random graph. */
void call_neighbors(Program* program, MPI_Comm comm);
/** Creates a random communicator in place of an existing one, which is freed. */
void make_communicator(Program* program);
void free_communicator(Program* program);
/** Creates an intercommunicator of the two parts of @p comm. */
void make_across(Program* program, MPI_Comm comm);
void free_across(Across* across);
/** Executes or starts a random collective call on an intercommunicator. */
void call_across(Program* program, const Across* across);
/** Sends messages to the ranks of the remote group. */
void send_across(Program* program, const Across* across);
/** Writes and reads a file that the ranks of @p comm open. */
void use_file(Program* program, MPI_Comm comm);

Call* new_call(const char* name, MPI_Comm comm, Form form);
/** Registers a call in flight; its types are freed now or at its completion. */
void start_call(Program* program, Call* call, MPI_Request request);
/** Completes a call: compares its buffers with the expected contents. */
void end_call(Program* program, Call* call);
/** Completes a blocking call, registers a non-blocking one, or starts a persistent one several times. */
void carry_on(Program* program, Call* call, Form form, MPI_Request request);
/** Replaces the contents of a call's buffers, for a start of a persistent operation whose results are ignored: a later
 * start must not use this start's data. */
void garble(Call* call);
void restore(Call* call);

#endif
