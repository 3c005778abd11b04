// SPDX-License-Identifier: LGPL-2.1-only
/* Trace text of each role of a call (trace/calls.hpp): inputs are read before the call, since the call changes
 * requests, and outputs after it. */
#pragma once

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/observe/call_trace.hpp"
#include "binding/observe/profile.hpp"
#include "mpi/names.hpp"
#include "trace/calls.hpp"

#include <numeric>
#include <vector>

namespace weft {

/** Default Writing of a role with WIDTH arguments: writes nothing. */
template <std::size_t width> struct Writing {
  static constexpr std::size_t WIDTH = width;
  template <class... Arguments> static void context(TraceLine& /*line*/, const Arguments&... /*all*/) {}
  template <class... Arguments> static void before(TraceLine& /*line*/, const Arguments&... /*all*/) {}
  template <class... Arguments> static void after(TraceLine& /*line*/, const Arguments&... /*all*/) {}
};

template <class Role> struct Written;

namespace writing {

inline bool is_left_out(TraceLine& line, const void* buffer, bool matters)
{
  if (not matters)
    line.word("-");
  else if (buffer == MPI_IN_PLACE)
    line.word("in-place");
  return not matters || buffer == MPI_IN_PLACE;
}

template <bool at_root> struct Data : Writing<3> {
  static void before(TraceLine& line, const void* buffer, int count, MPI_Datatype type)
  {
    if (not is_left_out(line, buffer, not at_root || line.at_root()))
      line.number(count).datatype(type);
  }
};

template <bool at_root> struct Parts : Writing<4> {
  static void before(TraceLine& line, const void* buffer, const int* counts, const int* /*offsets*/, MPI_Datatype type)
  {
    if (not is_left_out(line, buffer, not at_root || line.at_root()))
      line.numbers(counts, line.comm->size()).datatype(type);
  }
};

struct Typed : Writing<4> {
  static void before(TraceLine& line, const void* buffer, const int* counts, const int* /*offsets*/,
                     const MPI_Datatype* types)
  {
    if (not is_left_out(line, buffer, true))
      line.numbers(counts, line.comm->size()).datatypes(types, line.comm->size());
  }
};

/** Numbers of the rank's neighbours in the call's communicator; none if it has no topology. */
inline Degrees degrees(const TraceLine& line)
{
  return line.comm != MPI_COMM_NULL && topology_of(line.comm) ? degrees_in(line.comm) : Degrees{0, 0};
}

template <int Degrees::* degree> struct NeighborParts : Writing<4> {
  static void before(TraceLine& line, const void* /*buffer*/, const int* counts, const int* /*offsets*/,
                     MPI_Datatype type)
  {
    line.numbers(counts, degrees(line).*degree).datatype(type);
  }
};

template <int Degrees::* degree> struct NeighborTyped : Writing<4> {
  static void before(TraceLine& line, const void* /*buffer*/, const int* counts, const MPI_Aint* /*offsets*/,
                     const MPI_Datatype* types)
  {
    line.numbers(counts, degrees(line).*degree).datatypes(types, degrees(line).*degree);
  }
};

struct Reduction : Writing<4> {
  static void before(TraceLine& line, const void* send, const void* /*receive*/, int count, MPI_Datatype type)
  {
    if (send == MPI_IN_PLACE)
      line.word("in-place");
    line.number(count).datatype(type);
  }
};

struct PartsReduction : Writing<4> {
  static void before(TraceLine& line, const void* send, const void* /*receive*/, const int* counts, MPI_Datatype type)
  {
    if (send == MPI_IN_PLACE)
      line.word("in-place");
    line.numbers(counts, line.comm->size()).datatype(type);
  }
};

/** Writes a number, or @p name if it equals @p other. */
inline void number_or(TraceLine& line, int number, int other, const char* name)
{
  if (number == other)
    line.word(name);
  else
    line.number(number);
}

inline void request(TraceLine& line, MPI_Request request)
{
  const int number = request == MPI_REQUEST_NULL ? 0 : line.rank.requests.number(request);
  if (number < 0)
    line.unfit = "with a request of a call that traces do not support";
  if (request == MPI_REQUEST_NULL)
    line.word("null");
  else
    line.number(number);
}

/** Writes the numbers of requests as one word. */
inline void requests(TraceLine& line, int count, const MPI_Request* all)
{
  line.requests.assign(all, all + count);
  std::vector<int> numbers;
  for (const MPI_Request one : line.requests) {
    numbers.push_back(one == MPI_REQUEST_NULL ? -1 : line.rank.requests.number(one));
    if (one != MPI_REQUEST_NULL && numbers.back() < 0)
      line.unfit = "with a request of a call that traces do not support";
  }
  line.numbers(numbers.data(), count);
}

/** Closes the requests that the call has set to MPI_REQUEST_NULL. */
inline void close(TraceLine& line, const MPI_Request* all)
{
  for (std::size_t i = 0; i < line.requests.size(); ++i)
    if (line.requests[i] != MPI_REQUEST_NULL && all[i] == MPI_REQUEST_NULL)
      line.rank.requests.close(line.requests[i]);
}

inline std::vector<int> all_places(int count)
{
  std::vector<int> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

} // namespace writing

template <> struct Written<trace::SendBuffer> : writing::Data<false> {};
template <> struct Written<trace::SendToEach> : writing::Data<false> {};
template <> struct Written<trace::SendAtRoot> : writing::Data<true> {};
template <> struct Written<trace::SendParts> : writing::Parts<false> {};
template <> struct Written<trace::SendPartsAtRoot> : writing::Parts<true> {};
template <> struct Written<trace::SendTyped> : writing::Typed {};
template <> struct Written<trace::RecvBuffer> : writing::Data<false> {};
template <> struct Written<trace::RecvFromEach> : writing::Data<false> {};
template <> struct Written<trace::RecvAtRoot> : writing::Data<true> {};
template <> struct Written<trace::RecvParts> : writing::Parts<false> {};
template <> struct Written<trace::RecvPartsAtRoot> : writing::Parts<true> {};
template <> struct Written<trace::RecvTyped> : writing::Typed {};
template <> struct Written<trace::SendToNeighbors> : writing::Data<false> {};
template <> struct Written<trace::RecvFromNeighbors> : writing::Data<false> {};
template <> struct Written<trace::SendNeighborParts> : writing::NeighborParts<&Degrees::out> {};
template <> struct Written<trace::RecvNeighborParts> : writing::NeighborParts<&Degrees::in> {};
template <> struct Written<trace::SendNeighborTyped> : writing::NeighborTyped<&Degrees::out> {};
template <> struct Written<trace::RecvNeighborTyped> : writing::NeighborTyped<&Degrees::in> {};
template <> struct Written<trace::Reduced> : writing::Reduction {};
template <> struct Written<trace::ReducedEach> : writing::Reduction {};
template <> struct Written<trace::ReducedParts> : writing::PartsReduction {};
template <> struct Written<trace::Ignored> : Writing<1> {};

template <> struct Written<trace::Partner> : Writing<1> {
  static void before(TraceLine& line, int rank)
  {
    if (rank == MPI_PROC_NULL)
      line.word("null");
    else
      writing::number_or(line, rank, MPI_ANY_SOURCE, "any");
  }
};

template <> struct Written<trace::Tag> : Writing<1> {
  static void before(TraceLine& line, int tag) { writing::number_or(line, tag, MPI_ANY_TAG, "any"); }
};

template <> struct Written<trace::Root> : Writing<1> {
  static void context(TraceLine& line, int root) { line.root = root; }
  static void before(TraceLine& line, int root) { line.number(root); }
};

template <> struct Written<trace::Number> : Writing<1> {
  static void before(TraceLine& line, int number) { line.number(number); }
};

template <> struct Written<trace::Colour> : Writing<1> {
  static void before(TraceLine& line, int colour) { writing::number_or(line, colour, MPI_UNDEFINED, "undefined"); }
};

template <> struct Written<trace::Operation> : Writing<1> {
  static void before(TraceLine& line, MPI_Op operation)
  {
    int commutes = 0;
    PMPI_Op_commutative(operation, &commutes);
    const char* own = commutes != 0 ? "user" : "user-ordered";
    line.word(is_predefined(operation) ? operation_name(operation) : own);
  }
};

template <> struct Written<trace::Comm> : Writing<1> {
  static void context(TraceLine& line, MPI_Comm comm)
  {
    line.comm = comm;
    if (comm != MPI_COMM_NULL && comm == MPI_COMM_SELF)
      line.word("self");
    else if (comm == MPI_COMM_NULL)
      line.word("null");
    else
      line.number(traced_number(comm));
  }
};

template <> struct Written<trace::Group> : Writing<1> {
  static void before(TraceLine& line, MPI_Group group)
  {
    int size = 0;
    PMPI_Group_size(group, &size);
    MPI_Group all = MPI_GROUP_NULL;
    PMPI_Comm_group(line.comm, &all);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    PMPI_Group_translate_ranks(group, size, writing::all_places(size).data(), all, ranks.data());
    PMPI_Group_free(&all);
    line.places(ranks);
  }
};

template <> struct Written<trace::Grid> : Writing<3> {
  static void before(TraceLine& line, int dimensions, const int* sizes, const int* periods)
  {
    line.numbers(sizes, dimensions).numbers(periods, dimensions);
  }
};

template <> struct Written<trace::Kept> : Writing<1> {
  static void before(TraceLine& line, const int* kept)
  {
    int dimensions = 0;
    PMPI_Cartdim_get(line.comm, &dimensions);
    line.numbers(kept, dimensions);
  }
};

template <> struct Written<trace::Graph> : Writing<3> {
  static void before(TraceLine& line, int nodes, const int* index, const int* edges)
  {
    line.numbers(index, nodes).numbers(edges, nodes > 0 ? index[nodes - 1] : 0);
  }
};

template <> struct Written<trace::Edges> : Writing<5> {
  static void before(TraceLine& line, int count, const int* sources, const int* degrees, const int* destinations,
                     const int* /*weights*/)
  {
    line.numbers(sources, count).numbers(degrees, count);
    line.numbers(destinations, std::accumulate(degrees, degrees + count, 0));
  }
};

template <> struct Written<trace::Neighbors> : Writing<6> {
  static void before(TraceLine& line, int indegree, const int* sources, const int* /*weights*/, int outdegree,
                     const int* destinations, const int* /*weights*/)
  {
    line.numbers(sources, indegree).numbers(destinations, outdegree);
  }
};

template <> struct Written<trace::Opened> : Writing<1> {
  static void after(TraceLine& line, const MPI_Request* request)
  {
    if (*request != MPI_REQUEST_NULL)
      line.rank.requests.open(*request);
    writing::request(line, *request);
  }
};

template <> struct Written<trace::Flag> : Writing<1> {
  static void after(TraceLine& line, const int* flag) { line.number(*flag); }
};

template <> struct Written<trace::Made> : Writing<1> {
  static void after(TraceLine& line, const MPI_Comm* made)
  {
    if (*made == MPI_COMM_NULL) {
      line.word("null");
      return;
    }
    CallTrace::get()->introduce(*made);
    line.number(traced_number(*made));
  }
};

template <> struct Written<trace::MadeByHost> : Writing<1> {
  static void after(TraceLine& line, const MPI_Comm* made)
  {
    if (*made == MPI_COMM_NULL) {
      line.word("undefined").number(0).word("null");
      return;
    }
    CallTrace::get()->introduce(*made);
    const int first = line.comm->group()->rank((*made)->group()->actor(0));
    line.number(first).number((*made)->rank()).number(traced_number(*made));
  }
};

template <> struct Written<trace::Memory> : Writing<3> {
  static void before(TraceLine& line, const void* /*address*/, MPI_Aint size, int unit)
  {
    line.number(size).number(unit);
  }
};

template <> struct Written<trace::Extent> : Writing<2> {
  static void before(TraceLine& line, MPI_Aint size, int unit) { line.number(size).number(unit); }
};

template <> struct Written<trace::Base> : Writing<1> {};

template <> struct Written<trace::Window> : Writing<1> {
  static void before(TraceLine& line, MPI_Win window)
  {
    if (line.rank.windows.number(window) < 0)
      line.unfit = "on a window that traces do not support";
    line.number(line.rank.windows.number(window));
  }
};

template <> struct Written<trace::MadeWindow> : Writing<1> {
  static void after(TraceLine& line, const MPI_Win* window)
  {
    line.rank.windows.open(*window);
    line.number(line.rank.windows.number(*window));
  }
};

template <> struct Written<trace::FreedWindow> : Writing<1> {
  static void before(TraceLine& line, const MPI_Win* window)
  {
    Written<trace::Window>::before(line, *window);
    line.rank.windows.close(*window);
  }
};

template <> struct Written<trace::Target> : Writing<1> {
  static void before(TraceLine& line, int rank) { Written<trace::Partner>::before(line, rank); }
};

template <> struct Written<trace::Displacement> : Writing<1> {
  static void before(TraceLine& line, MPI_Aint place) { line.number(place); }
};

template <> struct Written<trace::Remote> : Writing<2> {
  static void before(TraceLine& line, int count, MPI_Datatype type) { line.number(count).datatype(type); }
};

template <> struct Written<trace::Fetched> : Writing<3> {
  static void before(TraceLine& line, const void* /*origin*/, const void* /*result*/, MPI_Datatype type)
  {
    line.datatype(type);
  }
};

template <> struct Written<trace::Swapped> : Writing<4> {
  static void before(TraceLine& line, const void* /*origin*/, const void* /*compared*/, const void* /*result*/,
                     MPI_Datatype type)
  {
    line.datatype(type);
  }
};

template <> struct Written<trace::WorldGroup> : Writing<1> {
  static void before(TraceLine& line, MPI_Group group)
  {
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> ranks;
    ranks.reserve(static_cast<std::size_t>(size));
    for (int member = 0; member < size; ++member)
      ranks.push_back(Profile::get().rank_of(group->actor(member)));
    line.places(ranks);
  }
};

template <> struct Written<trace::Started> : Writing<1> {
  static void before(TraceLine& line, const MPI_Request* request) { writing::request(line, *request); }
};

template <> struct Written<trace::StartedAll> : Writing<2> {
  static void before(TraceLine& line, int count, const MPI_Request* requests)
  {
    writing::requests(line, count, requests);
  }
};

template <> struct Written<trace::Closed> : Writing<1> {
  static void before(TraceLine& line, const MPI_Request* request)
  {
    writing::request(line, *request);
    line.rank.requests.close(*request);
  }
};

template <> struct Written<trace::Freed> : Writing<1> {
  static void before(TraceLine& line, const MPI_Comm* comm) { Written<trace::Comm>::context(line, *comm); }
};

/** Arguments of a wait or a test up to its requests: one request, or a count and an array. */
struct WaitWriting : Writing<0> {
  template <class... Outputs> static void before(TraceLine& line, const MPI_Request* request, Outputs... /*outputs*/)
  {
    writing::requests(line, 1, request);
  }
  template <class... Outputs>
  static void before(TraceLine& line, int count, const MPI_Request* requests, Outputs... /*outputs*/)
  {
    writing::requests(line, count, requests);
  }
};

template <> struct Written<trace::WaitsForAll> : WaitWriting {
  static void after(TraceLine& line, const MPI_Request* request, const MPI_Status* /*status*/)
  {
    writing::close(line, request);
  }
  static void after(TraceLine& line, int /*count*/, const MPI_Request* requests, const MPI_Status* /*statuses*/)
  {
    writing::close(line, requests);
  }
};

template <> struct Written<trace::TestsAll> : WaitWriting {
  static void after(TraceLine& line, const MPI_Request* request, const int* flag, const MPI_Status* /*status*/)
  {
    after(line, 1, request, flag, nullptr);
  }
  static void after(TraceLine& line, int count, const MPI_Request* requests, const int* flag,
                    const MPI_Status* /*statuses*/)
  {
    writing::close(line, requests);
    line.places(writing::all_places(*flag != 0 ? count : 0));
  }
};

template <> struct Written<trace::EndsOne> : WaitWriting {
  static void after(TraceLine& line, int /*count*/, const MPI_Request* requests, const int* index,
                    const MPI_Status* /*status*/)
  {
    writing::close(line, requests);
    line.places(*index == MPI_UNDEFINED ? std::vector<int>() : std::vector{*index});
  }
  static void after(TraceLine& line, int count, const MPI_Request* requests, const int* index, const int* flag,
                    const MPI_Status* status)
  {
    const int none = MPI_UNDEFINED;
    after(line, count, requests, *flag != 0 ? index : &none, status);
  }
};

template <> struct Written<trace::EndsSome> : WaitWriting {
  static void after(TraceLine& line, int /*count*/, const MPI_Request* requests, const int* ended, const int* indices,
                    const MPI_Status* /*statuses*/)
  {
    writing::close(line, requests);
    line.places(*ended == MPI_UNDEFINED ? std::vector<int>() : std::vector(indices, indices + *ended));
  }
};

} // namespace weft
