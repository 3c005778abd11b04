// SPDX-License-Identifier: LGPL-2.1-only
/* MPI calls in weft's traces, and the fields of their lines: one table for the recorder
 * (binding/observe/call_trace.hpp), the player (replay/call_player.cpp) and the validator (trace/call_check.hpp).
 *
 * A line contains the rank, the call without "MPI_", the communicator if the call has one, the inputs of each role, and
 * the outputs of each role. docs/traces.md defines the fields. The roles of a call follow the order of its arguments; a
 * role may cover several arguments.
 */
#pragma once

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

/** X(name without MPI_, roles…) for each recorded function. */
#define WEFT_TRACED_CALLS(X)                                                                                           \
  X(Bsend, SendBuffer, Partner, Tag, Comm)                                                                             \
  X(Rsend, SendBuffer, Partner, Tag, Comm)                                                                             \
  X(Send, SendBuffer, Partner, Tag, Comm)                                                                              \
  X(Ssend, SendBuffer, Partner, Tag, Comm)                                                                             \
  X(Ibsend, SendBuffer, Partner, Tag, Comm, Opened)                                                                    \
  X(Irsend, SendBuffer, Partner, Tag, Comm, Opened)                                                                    \
  X(Isend, SendBuffer, Partner, Tag, Comm, Opened)                                                                     \
  X(Issend, SendBuffer, Partner, Tag, Comm, Opened)                                                                    \
  X(Bsend_init, SendBuffer, Partner, Tag, Comm, Opened)                                                                \
  X(Rsend_init, SendBuffer, Partner, Tag, Comm, Opened)                                                                \
  X(Send_init, SendBuffer, Partner, Tag, Comm, Opened)                                                                 \
  X(Ssend_init, SendBuffer, Partner, Tag, Comm, Opened)                                                                \
  X(Recv, RecvBuffer, Partner, Tag, Comm, Ignored)                                                                     \
  X(Irecv, RecvBuffer, Partner, Tag, Comm, Opened)                                                                     \
  X(Recv_init, RecvBuffer, Partner, Tag, Comm, Opened)                                                                 \
  X(Sendrecv, SendBuffer, Partner, Tag, RecvBuffer, Partner, Tag, Comm, Ignored)                                       \
  X(Sendrecv_replace, RecvBuffer, Partner, Tag, Partner, Tag, Comm, Ignored)                                           \
  X(Isendrecv, SendBuffer, Partner, Tag, RecvBuffer, Partner, Tag, Comm, Opened)                                       \
  X(Isendrecv_replace, RecvBuffer, Partner, Tag, Partner, Tag, Comm, Opened)                                           \
  X(Start, Started)                                                                                                    \
  X(Startall, StartedAll)                                                                                              \
  X(Cancel, Started)                                                                                                   \
  X(Request_free, Closed)                                                                                              \
  X(Probe, Partner, Tag, Comm, Ignored)                                                                                \
  X(Iprobe, Partner, Tag, Comm, Flag, Ignored)                                                                         \
  X(Wait, WaitsForAll)                                                                                                 \
  X(Waitall, WaitsForAll)                                                                                              \
  X(Waitany, EndsOne)                                                                                                  \
  X(Waitsome, EndsSome)                                                                                                \
  X(Test, TestsAll)                                                                                                    \
  X(Testall, TestsAll)                                                                                                 \
  X(Testany, EndsOne)                                                                                                  \
  X(Testsome, EndsSome)                                                                                                \
  X(Barrier, Comm)                                                                                                     \
  X(Ibarrier, Comm, Opened)                                                                                            \
  X(Bcast, RecvBuffer, Root, Comm)                                                                                     \
  X(Ibcast, RecvBuffer, Root, Comm, Opened)                                                                            \
  X(Gather, SendBuffer, RecvAtRoot, Root, Comm)                                                                        \
  X(Igather, SendBuffer, RecvAtRoot, Root, Comm, Opened)                                                               \
  X(Gatherv, SendBuffer, RecvPartsAtRoot, Root, Comm)                                                                  \
  X(Igatherv, SendBuffer, RecvPartsAtRoot, Root, Comm, Opened)                                                         \
  X(Scatter, SendAtRoot, RecvBuffer, Root, Comm)                                                                       \
  X(Iscatter, SendAtRoot, RecvBuffer, Root, Comm, Opened)                                                              \
  X(Scatterv, SendPartsAtRoot, RecvBuffer, Root, Comm)                                                                 \
  X(Iscatterv, SendPartsAtRoot, RecvBuffer, Root, Comm, Opened)                                                        \
  X(Allgather, SendBuffer, RecvFromEach, Comm)                                                                         \
  X(Iallgather, SendBuffer, RecvFromEach, Comm, Opened)                                                                \
  X(Allgatherv, SendBuffer, RecvParts, Comm)                                                                           \
  X(Iallgatherv, SendBuffer, RecvParts, Comm, Opened)                                                                  \
  X(Alltoall, SendToEach, RecvFromEach, Comm)                                                                          \
  X(Ialltoall, SendToEach, RecvFromEach, Comm, Opened)                                                                 \
  X(Alltoallv, SendParts, RecvParts, Comm)                                                                             \
  X(Ialltoallv, SendParts, RecvParts, Comm, Opened)                                                                    \
  X(Alltoallw, SendTyped, RecvTyped, Comm)                                                                             \
  X(Ialltoallw, SendTyped, RecvTyped, Comm, Opened)                                                                    \
  X(Reduce, Reduced, Operation, Root, Comm)                                                                            \
  X(Ireduce, Reduced, Operation, Root, Comm, Opened)                                                                   \
  X(Allreduce, Reduced, Operation, Comm)                                                                               \
  X(Iallreduce, Reduced, Operation, Comm, Opened)                                                                      \
  X(Scan, Reduced, Operation, Comm)                                                                                    \
  X(Iscan, Reduced, Operation, Comm, Opened)                                                                           \
  X(Exscan, Reduced, Operation, Comm)                                                                                  \
  X(Iexscan, Reduced, Operation, Comm, Opened)                                                                         \
  X(Reduce_scatter, ReducedParts, Operation, Comm)                                                                     \
  X(Ireduce_scatter, ReducedParts, Operation, Comm, Opened)                                                            \
  X(Reduce_scatter_block, ReducedEach, Operation, Comm)                                                                \
  X(Ireduce_scatter_block, ReducedEach, Operation, Comm, Opened)                                                       \
  X(Neighbor_allgather, SendBuffer, RecvFromNeighbors, Comm)                                                           \
  X(Ineighbor_allgather, SendBuffer, RecvFromNeighbors, Comm, Opened)                                                  \
  X(Neighbor_allgatherv, SendBuffer, RecvNeighborParts, Comm)                                                          \
  X(Ineighbor_allgatherv, SendBuffer, RecvNeighborParts, Comm, Opened)                                                 \
  X(Neighbor_alltoall, SendToNeighbors, RecvFromNeighbors, Comm)                                                       \
  X(Ineighbor_alltoall, SendToNeighbors, RecvFromNeighbors, Comm, Opened)                                              \
  X(Neighbor_alltoallv, SendNeighborParts, RecvNeighborParts, Comm)                                                    \
  X(Ineighbor_alltoallv, SendNeighborParts, RecvNeighborParts, Comm, Opened)                                           \
  X(Neighbor_alltoallw, SendNeighborTyped, RecvNeighborTyped, Comm)                                                    \
  X(Ineighbor_alltoallw, SendNeighborTyped, RecvNeighborTyped, Comm, Opened)                                           \
  X(Barrier_init, Comm, Ignored, Opened)                                                                               \
  X(Bcast_init, RecvBuffer, Root, Comm, Ignored, Opened)                                                               \
  X(Gather_init, SendBuffer, RecvAtRoot, Root, Comm, Ignored, Opened)                                                  \
  X(Gatherv_init, SendBuffer, RecvPartsAtRoot, Root, Comm, Ignored, Opened)                                            \
  X(Scatter_init, SendAtRoot, RecvBuffer, Root, Comm, Ignored, Opened)                                                 \
  X(Scatterv_init, SendPartsAtRoot, RecvBuffer, Root, Comm, Ignored, Opened)                                           \
  X(Allgather_init, SendBuffer, RecvFromEach, Comm, Ignored, Opened)                                                   \
  X(Allgatherv_init, SendBuffer, RecvParts, Comm, Ignored, Opened)                                                     \
  X(Alltoall_init, SendToEach, RecvFromEach, Comm, Ignored, Opened)                                                    \
  X(Alltoallv_init, SendParts, RecvParts, Comm, Ignored, Opened)                                                       \
  X(Alltoallw_init, SendTyped, RecvTyped, Comm, Ignored, Opened)                                                       \
  X(Reduce_init, Reduced, Operation, Root, Comm, Ignored, Opened)                                                      \
  X(Allreduce_init, Reduced, Operation, Comm, Ignored, Opened)                                                         \
  X(Scan_init, Reduced, Operation, Comm, Ignored, Opened)                                                              \
  X(Exscan_init, Reduced, Operation, Comm, Ignored, Opened)                                                            \
  X(Reduce_scatter_init, ReducedParts, Operation, Comm, Ignored, Opened)                                               \
  X(Reduce_scatter_block_init, ReducedEach, Operation, Comm, Ignored, Opened)                                          \
  X(Neighbor_allgather_init, SendBuffer, RecvFromNeighbors, Comm, Ignored, Opened)                                     \
  X(Neighbor_allgatherv_init, SendBuffer, RecvNeighborParts, Comm, Ignored, Opened)                                    \
  X(Neighbor_alltoall_init, SendToNeighbors, RecvFromNeighbors, Comm, Ignored, Opened)                                 \
  X(Neighbor_alltoallv_init, SendNeighborParts, RecvNeighborParts, Comm, Ignored, Opened)                              \
  X(Neighbor_alltoallw_init, SendNeighborTyped, RecvNeighborTyped, Comm, Ignored, Opened)                              \
  X(Comm_dup, Comm, Made)                                                                                              \
  X(Comm_dup_with_info, Comm, Ignored, Made)                                                                           \
  X(Comm_create, Comm, Group, Made)                                                                                    \
  X(Comm_create_group, Comm, Group, Number, Made)                                                                      \
  X(Comm_split, Comm, Colour, Number, Made)                                                                            \
  X(Comm_split_type, Comm, Ignored, Ignored, Ignored, MadeByHost)                                                      \
  X(Cart_create, Comm, Grid, Number, Made)                                                                             \
  X(Cart_sub, Comm, Kept, Made)                                                                                        \
  X(Graph_create, Comm, Graph, Number, Made)                                                                           \
  X(Dist_graph_create, Comm, Edges, Ignored, Number, Made)                                                             \
  X(Dist_graph_create_adjacent, Comm, Neighbors, Ignored, Number, Made)                                                \
  X(Win_create, Memory, Ignored, Comm, MadeWindow)                                                                     \
  X(Win_allocate, Extent, Ignored, Comm, Base, MadeWindow)                                                             \
  X(Win_allocate_shared, Extent, Ignored, Comm, Base, MadeWindow)                                                      \
  X(Win_free, FreedWindow)                                                                                             \
  X(Win_fence, Number, Window)                                                                                         \
  X(Win_lock, Number, Target, Number, Window)                                                                          \
  X(Win_lock_all, Number, Window)                                                                                      \
  X(Win_unlock, Target, Window)                                                                                        \
  X(Win_unlock_all, Window)                                                                                            \
  X(Win_flush, Target, Window)                                                                                         \
  X(Win_flush_all, Window)                                                                                             \
  X(Win_flush_local, Target, Window)                                                                                   \
  X(Win_flush_local_all, Window)                                                                                       \
  X(Win_post, WorldGroup, Number, Window)                                                                              \
  X(Win_start, WorldGroup, Number, Window)                                                                             \
  X(Win_complete, Window)                                                                                              \
  X(Win_wait, Window)                                                                                                  \
  X(Put, SendBuffer, Target, Displacement, Remote, Window)                                                             \
  X(Get, RecvBuffer, Target, Displacement, Remote, Window)                                                             \
  X(Accumulate, SendBuffer, Target, Displacement, Remote, Operation, Window)                                           \
  X(Get_accumulate, SendBuffer, RecvBuffer, Target, Displacement, Remote, Operation, Window)                           \
  X(Fetch_and_op, Fetched, Target, Displacement, Operation, Window)                                                    \
  X(Compare_and_swap, Swapped, Target, Displacement, Window)                                                           \
  X(Rput, SendBuffer, Target, Displacement, Remote, Window, Opened)                                                    \
  X(Rget, RecvBuffer, Target, Displacement, Remote, Window, Opened)                                                    \
  X(Raccumulate, SendBuffer, Target, Displacement, Remote, Operation, Window, Opened)                                  \
  X(Rget_accumulate, SendBuffer, RecvBuffer, Target, Displacement, Remote, Operation, Window, Opened)                  \
  X(Comm_free, Freed)                                                                                                  \
  X(Comm_disconnect, Freed)                                                                                            \
  X(Finalize)

/** X(name without MPI_, reason) for each function that is not recorded. */
#define WEFT_UNTRACED_CALLS(X)                                                                                         \
  X(Mprobe, Untraceable)                                                                                               \
  X(Improbe, Untraceable)                                                                                              \
  X(Mrecv, Untraceable)                                                                                                \
  X(Imrecv, Untraceable)                                                                                               \
  X(Intercomm_create, Untraceable)                                                                                     \
  X(Intercomm_create_from_groups, Untraceable)                                                                         \
  X(Intercomm_merge, Untraceable)                                                                                      \
  X(Comm_idup, Untraceable)                                                                                            \
  X(Comm_idup_with_info, Untraceable)                                                                                  \
  X(Psend_init, Untraceable)                                                                                           \
  X(Precv_init, Untraceable)                                                                                           \
  X(Pready, Untraceable)                                                                                               \
  X(Pready_range, Untraceable)                                                                                         \
  X(Pready_list, Untraceable)                                                                                          \
  X(Parrived, Untraceable)                                                                                             \
  X(Request_get_status, Untraceable)                                                                                   \
  X(Init, Implied)                                                                                                     \
  X(Wtime, Unrecorded)                                                                                                 \
  X(Win_attach, Untraceable)                                                                                           \
  X(Win_create_dynamic, Untraceable)                                                                                   \
  X(Win_detach, Untraceable)                                                                                           \
  X(File_iread, Untraceable)                                                                                           \
  X(File_iread_all, Untraceable)                                                                                       \
  X(File_iread_at, Untraceable)                                                                                        \
  X(File_iread_at_all, Untraceable)                                                                                    \
  X(File_iread_shared, Untraceable)                                                                                    \
  X(File_iwrite, Untraceable)                                                                                          \
  X(File_iwrite_all, Untraceable)                                                                                      \
  X(File_iwrite_at, Untraceable)                                                                                       \
  X(File_iwrite_at_all, Untraceable)                                                                                   \
  X(File_iwrite_shared, Untraceable)                                                                                   \
  X(File_preallocate, Untraceable)                                                                                     \
  X(File_read_all_begin, Untraceable)                                                                                  \
  X(File_read_all_end, Untraceable)                                                                                    \
  X(File_read_at_all_begin, Untraceable)                                                                               \
  X(File_read_at_all_end, Untraceable)                                                                                 \
  X(File_read_ordered_begin, Untraceable)                                                                              \
  X(File_read_ordered_end, Untraceable)                                                                                \
  X(File_write_all_begin, Untraceable)                                                                                 \
  X(File_write_all_end, Untraceable)                                                                                   \
  X(File_write_at_all_begin, Untraceable)                                                                              \
  X(File_write_at_all_end, Untraceable)                                                                                \
  X(File_write_ordered_begin, Untraceable)                                                                             \
  X(File_write_ordered_end, Untraceable)                                                                               \
  X(File_set_atomicity, Untraceable)                                                                                   \
  X(File_set_info, Untraceable)                                                                                        \
  X(File_close, Untraceable)                                                                                           \
  X(File_delete, Untraceable)                                                                                          \
  X(File_get_position, Untraceable)                                                                                    \
  X(File_get_position_shared, Untraceable)                                                                             \
  X(File_get_size, Untraceable)                                                                                        \
  X(File_open, Untraceable)                                                                                            \
  X(File_read, Untraceable)                                                                                            \
  X(File_read_all, Untraceable)                                                                                        \
  X(File_read_at, Untraceable)                                                                                         \
  X(File_read_at_all, Untraceable)                                                                                     \
  X(File_read_ordered, Untraceable)                                                                                    \
  X(File_read_shared, Untraceable)                                                                                     \
  X(File_seek, Untraceable)                                                                                            \
  X(File_seek_shared, Untraceable)                                                                                     \
  X(File_set_size, Untraceable)                                                                                        \
  X(File_set_view, Untraceable)                                                                                        \
  X(File_sync, Untraceable)                                                                                            \
  X(File_write, Untraceable)                                                                                           \
  X(File_write_all, Untraceable)                                                                                       \
  X(File_write_at, Untraceable)                                                                                        \
  X(File_write_at_all, Untraceable)                                                                                    \
  X(File_write_ordered, Untraceable)                                                                                   \
  X(File_write_shared, Untraceable)                                                                                    \
  X(Win_test, Untraceable)

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
