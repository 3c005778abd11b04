// SPDX-License-Identifier: LGPL-2.1-only
/* The calls of MPI that weft's traces hold, and what stands in their lines: one table for who writes them
 * (binding/observe/call_trace.hpp), who plays them (replay/call_player.cpp) and who checks them (trace/grammar.cpp).
 *
 * A line is the rank, the call without its MPI_, the communicator where the call has one, then for each role the words
 * of what it takes, and after them for each role the words of what it gives. docs/traces.md says what the words are.
 * The roles of a call are in the order of its arguments; some stand for several.
 */
#pragma once

namespace weft::trace {

/** The first line of a file of calls: FORMAT, VERSION, the number of ranks. */
inline constexpr const char* FORMAT = "weft-calls";
inline constexpr int VERSION        = 2;

// ---- Roles ----------------------------------------------------------------------------------------------------------
// What data a rank gives or gets: `COUNT TYPE`, `in-place` or `-` (what MPI ignores at this rank).
struct Given;       ///< buffer, count, datatype
struct GivenToEach; ///< the same, of which each rank gets as much
struct GivenAtRoot; ///< the same, at the root alone
struct GivenParts;  ///< buffer, counts, offsets, datatype: `COUNTS TYPE`
struct GivenPartsAtRoot;
struct GivenTyped; ///< buffer, counts, offsets, datatypes: `COUNTS TYPES`
struct Got;        ///< buffer, count, datatype
struct GotFromEach;
struct GotAtRoot;
struct GotParts;
struct GotPartsAtRoot;
struct GotTyped;
// What is reduced: `COUNT TYPE`, before it `in-place` where it is.
struct Reduced;      ///< buffer, buffer, count, datatype
struct ReducedEach;  ///< the same, of which each rank gets as much
struct ReducedParts; ///< buffer, buffer, counts, datatype: `COUNTS TYPE`
// Numbers and names.
struct Partner;   ///< a rank, `any` (MPI_ANY_SOURCE), `null` (MPI_PROC_NULL)
struct Tag;       ///< a number, `any` (MPI_ANY_TAG)
struct Root;      ///< a rank
struct Number;    ///< any
struct Colour;    ///< a number, `undefined`
struct Operation; ///< MPI's name, `user` or `user-ordered`, which does not commute
struct Comm;      ///< its number: 0 is MPI_COMM_WORLD; `self`
struct Group;     ///< ranks of the call's communicator
struct Grid;      ///< of MPI_Cart_create: dimensions, their sizes, which are periodic: `SIZES PERIODS`
struct Kept;      ///< of MPI_Cart_sub: which dimensions
// One-sided communication.
struct Memory;     ///< address, size, unit: `SIZE UNIT`
struct Extent;     ///< size, unit, of memory that the call provides
struct Base;       ///< where it says where that is: no word
struct Window;     ///< the number of a window of the rank
struct Target;     ///< a rank of the window's
struct WorldGroup; ///< ranks of MPI_COMM_WORLD
struct Displacement;
struct Remote;  ///< count, datatype: what the target gives or gets
struct Fetched; ///< of MPI_Fetch_and_op: two buffers and a datatype, which is the word
struct Swapped; ///< of MPI_Compare_and_swap: three buffers and a datatype, which is the word
struct Ignored; ///< no word
// What a call gives: at the end of the line.
struct Opened;     ///< the number of a request of the rank, `null`
struct Flag;       ///< 0 or 1
struct Made;       ///< a communicator: its number, `null`
struct MadeWindow; ///< the number of a window of the rank
struct MadeByHost; ///< the same, with the colour and the key that MPI_Comm_split would make it with
// Requests and communicators that the rank has.
struct Started;     ///< the number of a request
struct StartedAll;  ///< a number, requests: theirs
struct Closed;      ///< a request that the call frees
struct FreedWindow; ///< a window that the call frees
struct Freed;       ///< a communicator that the call frees
// All arguments of a wait or a test: the requests, and but for WaitsForAll which of those have ended: places among them
// from 0 on, or `-`.
struct WaitsForAll;
struct TestsAll; ///< MPI_Test, MPI_Testall
struct EndsOne;  ///< MPI_Waitany, MPI_Testany
struct EndsSome; ///< MPI_Waitsome, MPI_Testsome

/** Who plays a trace makes the call anyway. */
struct Implied;
/** Its time is that between calls. */
struct Unrecorded;
/** What traces do not hold: a program that calls it is not recorded. */
struct Untraceable;

} // namespace weft::trace

/** X(name without MPI_, roles…) for each function that takes time and that traces hold. */
#define WEFT_TRACED_CALLS(X)                                                                                           \
  X(Bsend, Given, Partner, Tag, Comm)                                                                                  \
  X(Rsend, Given, Partner, Tag, Comm)                                                                                  \
  X(Send, Given, Partner, Tag, Comm)                                                                                   \
  X(Ssend, Given, Partner, Tag, Comm)                                                                                  \
  X(Ibsend, Given, Partner, Tag, Comm, Opened)                                                                         \
  X(Irsend, Given, Partner, Tag, Comm, Opened)                                                                         \
  X(Isend, Given, Partner, Tag, Comm, Opened)                                                                          \
  X(Issend, Given, Partner, Tag, Comm, Opened)                                                                         \
  X(Bsend_init, Given, Partner, Tag, Comm, Opened)                                                                     \
  X(Rsend_init, Given, Partner, Tag, Comm, Opened)                                                                     \
  X(Send_init, Given, Partner, Tag, Comm, Opened)                                                                      \
  X(Ssend_init, Given, Partner, Tag, Comm, Opened)                                                                     \
  X(Recv, Got, Partner, Tag, Comm, Ignored)                                                                            \
  X(Irecv, Got, Partner, Tag, Comm, Opened)                                                                            \
  X(Recv_init, Got, Partner, Tag, Comm, Opened)                                                                        \
  X(Sendrecv, Given, Partner, Tag, Got, Partner, Tag, Comm, Ignored)                                                   \
  X(Sendrecv_replace, Got, Partner, Tag, Partner, Tag, Comm, Ignored)                                                  \
  X(Isendrecv, Given, Partner, Tag, Got, Partner, Tag, Comm, Opened)                                                   \
  X(Isendrecv_replace, Got, Partner, Tag, Partner, Tag, Comm, Opened)                                                  \
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
  X(Bcast, Got, Root, Comm)                                                                                            \
  X(Ibcast, Got, Root, Comm, Opened)                                                                                   \
  X(Gather, Given, GotAtRoot, Root, Comm)                                                                              \
  X(Igather, Given, GotAtRoot, Root, Comm, Opened)                                                                     \
  X(Gatherv, Given, GotPartsAtRoot, Root, Comm)                                                                        \
  X(Igatherv, Given, GotPartsAtRoot, Root, Comm, Opened)                                                               \
  X(Scatter, GivenAtRoot, Got, Root, Comm)                                                                             \
  X(Iscatter, GivenAtRoot, Got, Root, Comm, Opened)                                                                    \
  X(Scatterv, GivenPartsAtRoot, Got, Root, Comm)                                                                       \
  X(Iscatterv, GivenPartsAtRoot, Got, Root, Comm, Opened)                                                              \
  X(Allgather, Given, GotFromEach, Comm)                                                                               \
  X(Iallgather, Given, GotFromEach, Comm, Opened)                                                                      \
  X(Allgatherv, Given, GotParts, Comm)                                                                                 \
  X(Iallgatherv, Given, GotParts, Comm, Opened)                                                                        \
  X(Alltoall, GivenToEach, GotFromEach, Comm)                                                                          \
  X(Ialltoall, GivenToEach, GotFromEach, Comm, Opened)                                                                 \
  X(Alltoallv, GivenParts, GotParts, Comm)                                                                             \
  X(Ialltoallv, GivenParts, GotParts, Comm, Opened)                                                                    \
  X(Alltoallw, GivenTyped, GotTyped, Comm)                                                                             \
  X(Ialltoallw, GivenTyped, GotTyped, Comm, Opened)                                                                    \
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
  X(Comm_dup, Comm, Made)                                                                                              \
  X(Comm_dup_with_info, Comm, Ignored, Made)                                                                           \
  X(Comm_create, Comm, Group, Made)                                                                                    \
  X(Comm_create_group, Comm, Group, Number, Made)                                                                      \
  X(Comm_split, Comm, Colour, Number, Made)                                                                            \
  X(Comm_split_type, Comm, Ignored, Ignored, Ignored, MadeByHost)                                                      \
  X(Cart_create, Comm, Grid, Number, Made)                                                                             \
  X(Cart_sub, Comm, Kept, Made)                                                                                        \
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
  X(Put, Given, Target, Displacement, Remote, Window)                                                                  \
  X(Get, Got, Target, Displacement, Remote, Window)                                                                    \
  X(Accumulate, Given, Target, Displacement, Remote, Operation, Window)                                                \
  X(Get_accumulate, Given, Got, Target, Displacement, Remote, Operation, Window)                                       \
  X(Fetch_and_op, Fetched, Target, Displacement, Operation, Window)                                                    \
  X(Compare_and_swap, Swapped, Target, Displacement, Window)                                                           \
  X(Rput, Given, Target, Displacement, Remote, Window, Opened)                                                         \
  X(Rget, Got, Target, Displacement, Remote, Window, Opened)                                                           \
  X(Raccumulate, Given, Target, Displacement, Remote, Operation, Window, Opened)                                       \
  X(Rget_accumulate, Given, Got, Target, Displacement, Remote, Operation, Window, Opened)                              \
  X(Comm_free, Freed)                                                                                                  \
  X(Comm_disconnect, Freed)                                                                                            \
  X(Finalize)

/** And for each of those that they do not hold. */
#define WEFT_UNTRACED_CALLS(X)                                                                                         \
  X(Request_get_status, Untraceable)                                                                                   \
  X(Init, Implied)                                                                                                     \
  X(Wtime, Unrecorded)                                                                                                 \
  X(Win_attach, Untraceable)                                                                                           \
  X(Win_create_dynamic, Untraceable)                                                                                   \
  X(Win_detach, Untraceable)                                                                                           \
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
  X(File_write_shared, Untraceable)

namespace weft::trace {

template <class... Roles> struct List {};

/** The roles of each call: `calls::Send::Roles`. */
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
