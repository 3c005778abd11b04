/* SPDX-License-Identifier: LGPL-2.1-only */
/* Exchanges along directed edges between ranks, as in neighbourhood collectives and on intercommunicators. */
#ifndef EDGES_H
#define EDGES_H

#include "program.h"

/** Determines the size of a block. */
typedef enum { SAME_SIZE, BY_SENDER, BY_RECEIVER, BY_PAIR } Sizes;

typedef struct {
  Program* program;
  MPI_Comm plain;            ///< intracommunicator of the ranks between which the edges are
  int rank;                  ///< rank in `plain`
  int sources, destinations; ///< numbers of edges
  int from[MOST_RANKS], to[MOST_RANKS];
  Basic basic;
  Sizes sizes;
  int groups; ///< groups per block, if all blocks have the same size
  int single; ///< true if a rank sends one block to all
  uint64_t salt;
  Form form;
} Edges;

/** Draws the form, the element type and the size of equal blocks, which all ranks share. */
Edges draw_edges(Program* program, MPI_Comm plain);
/** Makes the send buffer and fills it. */
void make_sent(const Edges* edges, Call* call);
/** Creates the receive buffer, and sets its expected contents to the sources' data. */
void make_received(const Edges* edges, Call* call);
/** Executes the exchange with messages, and waits for them: the old form of all collectives along edges. */
void send_along(const Edges* edges, Call* call);
/** Fills in the arrays of counts, displacements and types. */
void list_blocks(Call* call, int in_bytes);

#endif
