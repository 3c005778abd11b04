// SPDX-License-Identifier: LGPL-2.1-only
/* MPI calls in weft's traces, and the fields of their lines: for the recorder (binding/observe/call_trace.hpp), the
 * player (replay/call_player.cpp) and the validator (trace/call_check.hpp). The table mpi/procedures has each call's
 * roles.
 *
 * A line contains the rank, the call without "MPI_", the communicator if the call has one, the inputs of each role, and
 * the outputs of each role. docs/traces.md defines the fields. The roles of a call follow the order of its arguments; a
 * role may cover several arguments.
 */
#pragma once

#include "trace/traced_calls.hpp" // written from mpi/procedures

namespace weft::trace {

/** First line of a trace: FORMAT, VERSION, number of ranks. */
inline constexpr const char* FORMAT = "weft-calls";
inline constexpr int VERSION        = 2;

// ---- Roles ----------------------------------------------------------------------------------------------------------
// Send and receive buffers: `COUNT TYPE`, `in-place`, or `-` for arguments that MPI ignores at this rank.
struct SendBuffer; ///< buffer, count, datatype
struct SendToEach; ///< the same; count per destination
struct SendAtRoot; ///< the same; significant at the root only
struct SendParts;  ///< buffer, counts, displacements, datatype: `COUNTS TYPE`
struct SendPartsAtRoot;
struct SendTyped;  ///< buffer, counts, displacements, datatypes: `COUNTS TYPES`
struct RecvBuffer; ///< buffer, count, datatype
struct RecvFromEach;
struct RecvAtRoot;
struct RecvParts;
struct RecvPartsAtRoot;
struct RecvTyped;
// Buffers of neighbourhood collectives: the same, counts per neighbour.
struct SendToNeighbors;   ///< buffer, count, datatype
struct RecvFromNeighbors; ///< likewise
struct SendNeighborParts; ///< buffer, counts, displacements, datatype
struct RecvNeighborParts;
struct SendNeighborTyped; ///< buffer, counts, displacements in bytes, datatypes
struct RecvNeighborTyped;
// Buffers of reductions: `COUNT TYPE`, preceded by `in-place` for MPI_IN_PLACE.
struct Reduced;      ///< buffer, buffer, count, datatype
struct ReducedEach;  ///< the same; count per rank
struct ReducedParts; ///< buffer, buffer, counts, datatype: `COUNTS TYPE`
// Numbers and names.
struct Partner;   ///< a rank, `any` (MPI_ANY_SOURCE), `null` (MPI_PROC_NULL)
struct Tag;       ///< a number, `any` (MPI_ANY_TAG)
struct Root;      ///< a rank
struct Number;    ///< any number
struct Colour;    ///< a number, `undefined`
struct Operation; ///< MPI's name, `user`, or `user-ordered` if it does not commute
struct Comm;      ///< number of the communicator: 0 is MPI_COMM_WORLD; `self`
struct Group;     ///< ranks of the call's communicator
struct Grid;      ///< MPI_Cart_create: number of dimensions, sizes, periodicity: `SIZES PERIODS`
struct Kept;      ///< MPI_Cart_sub: the dimensions to keep
struct Graph;     ///< MPI_Graph_create: nodes, index, edges: `INDEX EDGES`
struct Edges;     ///< MPI_Dist_graph_create: number, sources, degrees, destinations, weights: `SOURCES DEGREES
                  ///< DESTINATIONS`
struct Neighbors; ///< MPI_Dist_graph_create_adjacent: numbers, ranks and weights: `SOURCES DESTINATIONS`
// One-sided communication.
struct Memory;     ///< address, size, displacement unit: `SIZE UNIT`
struct Extent;     ///< size, displacement unit of memory that the call allocates
struct Base;       ///< output for the address of that memory; no field
struct Window;     ///< number of a window, per rank
struct Target;     ///< rank in the window's group
struct WorldGroup; ///< ranks of MPI_COMM_WORLD
struct Displacement;
struct Remote;  ///< count, datatype at the target
struct Fetched; ///< MPI_Fetch_and_op: two buffers and a datatype; the field is the datatype
struct Swapped; ///< MPI_Compare_and_swap: three buffers and a datatype; the field is the datatype
struct Ignored; ///< no field
// Outputs, at the end of the line.
struct Opened;     ///< number of a new request, per rank; `null`
struct Flag;       ///< 0 or 1
struct Made;       ///< number of a new communicator; `null`
struct MadeWindow; ///< number of a new window, per rank
struct MadeByHost; ///< new communicator, with the colour and key of the equivalent MPI_Comm_split
// Existing requests, windows and communicators.
struct Started;     ///< number of a request
struct StartedAll;  ///< number of requests, and the number of each
struct Closed;      ///< request that the call frees
struct FreedWindow; ///< window that the call frees
struct Freed;       ///< communicator that the call frees
// All arguments of a wait or test: the requests and, except for WaitsForAll, the indices of the completed ones, or `-`.
struct WaitsForAll;
struct TestsAll; ///< MPI_Test, MPI_Testall
struct EndsOne;  ///< MPI_Waitany, MPI_Testany
struct EndsSome; ///< MPI_Waitsome, MPI_Testsome

/** Call that the replay makes without a line. */
struct Implied;
/** Call whose time counts as computation. */
struct Unrecorded;
/** Call that traces cannot represent; programs that make it cannot be recorded. */
struct Untraceable;

} // namespace weft::trace

namespace weft::trace {

template <class... Roles> struct List {};

/** Roles of each call: `calls::Send::Roles`. */
namespace calls {
#define WEFT_CALL(name, ...)                                                                                           \
  struct name { /* NOLINT(readability-identifier-naming): MPI's name */                                                \
    using Roles                       = List<__VA_ARGS__>;                                                             \
    static constexpr const char* NAME = #name;                                                                         \
  };
WEFT_TRACED_CALLS(WEFT_CALL)
WEFT_UNTRACED_CALLS(WEFT_CALL)
#undef WEFT_CALL
} // namespace calls

} // namespace weft::trace
