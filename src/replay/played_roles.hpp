// SPDX-License-Identifier: LGPL-2.1-only
/* Replay side of each role of a call (trace/calls.hpp): constructed from the words of a line, it supplies arguments of
 * the call and receives the call's results. */
#pragma once

#include "replay/call_player.hpp"
#include "replay/scratch.hpp"
#include "trace/calls.hpp"

#include <cstdint>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::replay {

/** Context shared by the roles of one call. */
struct Turn {
  CallPlayer& player;
  Words& words;
  MPI_Comm comm = MPI_COMM_NULL;

  int size() const
  {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    return ranks;
  }
};

/** Replay side of a role, constructed from a Turn. All have `arguments()`; some have `done(turn)`, called after the
 * call, and `again()`, which returns whether the call must be repeated to obtain the recorded result. */
template <class Role> struct Played;

namespace playing {

inline std::size_t bytes_of(std::int64_t count, MPI_Datatype type)
{
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

inline std::int64_t sum_of(const std::vector<int>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/** Returns whether the next word replaces the data ("in-place", which sets @p buffer, or "-"), and consumes it if
 * so. */
inline bool is_left_out(Words& words, void*& buffer)
{
  if (words.ahead() == "in-place")
    buffer = MPI_IN_PLACE;
  else if (words.ahead() != "-")
    return false;
  words.next();
  return true;
}

inline Scratch& scratch(bool given)
{
  return given ? Scratch::to_send() : Scratch::to_receive();
}

/** Returns the number of blocks that a rank sends or receives in a neighbourhood collective. */
inline int degree(MPI_Comm comm, bool given)
{
  int kind = MPI_UNDEFINED;
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    MPI_Cartdim_get(comm, &dimensions);
    return 2 * dimensions;
  }
  int in  = 0;
  int out = 0;
  if (kind == MPI_GRAPH) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &out);
    return out;
  }
  int weighted = 0;
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  return given ? out : in;
}

template <bool given> struct NeighborData {
  void* buffer;
  int count;
  MPI_Datatype type;

  explicit NeighborData(Turn& turn)
  {
    count  = turn.words.integer();
    type   = turn.words.datatype();
    buffer = scratch(given).of(bytes_of(count, type) * static_cast<std::size_t>(degree(turn.comm, given)));
  }
  auto arguments() { return std::tuple(buffer, count, type); }
};

template <bool given> struct NeighborParts {
  void* buffer;
  std::vector<int> counts;
  std::vector<int> offsets; // all 0: parts may overlap
  MPI_Datatype type;

  explicit NeighborParts(Turn& turn)
  {
    counts = turn.words.numbers();
    type   = turn.words.datatype();
    offsets.resize(counts.size());
    buffer = scratch(given).of(bytes_of(sum_of(counts), type));
  }
  auto arguments() { return std::tuple(buffer, counts.data(), offsets.data(), type); }
};

template <bool given> struct NeighborTyped {
  void* buffer;
  std::vector<int> counts;
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> types;

  explicit NeighborTyped(Turn& turn)
  {
    counts = turn.words.numbers();
    types  = turn.words.datatypes();
    offsets.resize(counts.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      bytes += bytes_of(counts[i], types.at(i));
    buffer = scratch(given).of(bytes);
  }
  auto arguments() { return std::tuple(buffer, counts.data(), offsets.data(), types.data()); }
};

template <bool given, bool each> struct Data {
  void* buffer      = scratch(given).of(0);
  int count         = 0;
  MPI_Datatype type = MPI_BYTE;

  explicit Data(Turn& turn)
  {
    if (is_left_out(turn.words, buffer))
      return;
    count  = turn.words.integer();
    type   = turn.words.datatype();
    buffer = scratch(given).of(bytes_of(count, type) * static_cast<std::size_t>(each ? turn.size() : 1));
  }
  auto arguments() { return std::tuple(buffer, count, type); }
};

template <bool given> struct Parts {
  void* buffer = scratch(given).of(0);
  std::vector<int> counts;
  std::vector<int> offsets; // all 0: parts may overlap
  MPI_Datatype type = MPI_BYTE;

  explicit Parts(Turn& turn)
  {
    offsets.resize(static_cast<std::size_t>(turn.size()));
    if (is_left_out(turn.words, buffer)) {
      counts = offsets;
      return;
    }
    counts = turn.words.numbers();
    type   = turn.words.datatype();
    buffer = scratch(given).of(bytes_of(sum_of(counts), type));
  }
  auto arguments() { return std::tuple(buffer, counts.data(), offsets.data(), type); }
};

template <bool given> struct Typed {
  void* buffer = scratch(given).of(0);
  std::vector<int> counts;
  std::vector<int> offsets;
  std::vector<MPI_Datatype> types;

  explicit Typed(Turn& turn)
  {
    offsets.resize(static_cast<std::size_t>(turn.size()));
    if (is_left_out(turn.words, buffer)) {
      counts = offsets;
      types.assign(offsets.size(), MPI_BYTE);
      return;
    }
    counts            = turn.words.numbers();
    types             = turn.words.datatypes();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      bytes += bytes_of(counts[i], types.at(i));
    buffer = scratch(given).of(bytes);
  }
  auto arguments() { return std::tuple(buffer, counts.data(), offsets.data(), types.data()); }
};

template <bool each> struct Reduction {
  void* send = nullptr;
  void* receive;
  int count;
  MPI_Datatype type;

  explicit Reduction(Turn& turn)
  {
    const bool in_place     = is_left_out(turn.words, send);
    count                   = turn.words.integer();
    type                    = turn.words.datatype();
    const std::size_t bytes = bytes_of(count, type) * static_cast<std::size_t>(each ? turn.size() : 1);
    receive                 = Scratch::to_receive().of(bytes);
    if (not in_place)
      send = Scratch::to_send().of(bytes);
  }
  auto arguments() { return std::tuple(send, receive, count, type); }
};

inline MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks)
{
  MPI_Group all  = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

inline void free_group(MPI_Group& group)
{
  if (group != MPI_GROUP_EMPTY)
    MPI_Group_free(&group);
}

template <class Value> struct One {
  Value value{};
  auto arguments() { return std::tuple(value); }
};

/** Converts to any argument that a call ignores. */
struct Nothing {
  operator int() const { return 0; } // NOLINT(google-explicit-constructor): that is what it is for
  template <class T> operator T*() const
  {
    return nullptr;
  } // NOLINT(google-explicit-constructor): that is what it is for
};

} // namespace playing

// clang-format off
template <> struct Played<trace::SendBuffer> : playing::Data<true, false> { using Data::Data; };
template <> struct Played<trace::SendToEach> : playing::Data<true, true> { using Data::Data; };
template <> struct Played<trace::SendAtRoot> : playing::Data<true, true> { using Data::Data; };
template <> struct Played<trace::RecvBuffer> : playing::Data<false, false> { using Data::Data; };
template <> struct Played<trace::RecvFromEach> : playing::Data<false, true> { using Data::Data; };
template <> struct Played<trace::RecvAtRoot> : playing::Data<false, true> { using Data::Data; };
template <> struct Played<trace::SendParts> : playing::Parts<true> { using Parts::Parts; };
template <> struct Played<trace::SendPartsAtRoot> : playing::Parts<true> { using Parts::Parts; };
template <> struct Played<trace::RecvParts> : playing::Parts<false> { using Parts::Parts; };
template <> struct Played<trace::RecvPartsAtRoot> : playing::Parts<false> { using Parts::Parts; };
template <> struct Played<trace::SendTyped> : playing::Typed<true> { using Typed::Typed; };
template <> struct Played<trace::RecvTyped> : playing::Typed<false> { using Typed::Typed; };
template <> struct Played<trace::SendToNeighbors> : playing::NeighborData<true> { using NeighborData::NeighborData; };
template <> struct Played<trace::RecvFromNeighbors> : playing::NeighborData<false> { using NeighborData::NeighborData; };
template <> struct Played<trace::SendNeighborParts> : playing::NeighborParts<true> { using NeighborParts::NeighborParts; };
template <> struct Played<trace::RecvNeighborParts> : playing::NeighborParts<false> { using NeighborParts::NeighborParts; };
template <> struct Played<trace::SendNeighborTyped> : playing::NeighborTyped<true> { using NeighborTyped::NeighborTyped; };
template <> struct Played<trace::RecvNeighborTyped> : playing::NeighborTyped<false> { using NeighborTyped::NeighborTyped; };
template <> struct Played<trace::Reduced> : playing::Reduction<false> { using Reduction::Reduction; };
template <> struct Played<trace::ReducedEach> : playing::Reduction<true> { using Reduction::Reduction; };
// clang-format on

template <> struct Played<trace::ReducedParts> {
  void* send = nullptr;
  void* receive;
  std::vector<int> counts;
  MPI_Datatype type;

  explicit Played(Turn& turn)
  {
    const bool in_place     = playing::is_left_out(turn.words, send);
    counts                  = turn.words.numbers();
    type                    = turn.words.datatype();
    const std::size_t bytes = playing::bytes_of(playing::sum_of(counts), type);
    receive                 = Scratch::to_receive().of(bytes);
    if (not in_place)
      send = Scratch::to_send().of(bytes);
  }
  auto arguments() { return std::tuple(send, receive, counts.data(), type); }
};

template <> struct Played<trace::Ignored> : playing::One<playing::Nothing> {
  explicit Played(Turn& /*turn*/) {}
};

template <> struct Played<trace::Partner> : playing::One<int> {
  explicit Played(Turn& turn)
  {
    if (turn.words.ahead() == "null")
      value = turn.words.integer_or("null", MPI_PROC_NULL);
    else
      value = turn.words.integer_or("any", MPI_ANY_SOURCE);
  }
};

template <> struct Played<trace::Tag> : playing::One<int> {
  explicit Played(Turn& turn) { value = turn.words.integer_or("any", MPI_ANY_TAG); }
};

template <> struct Played<trace::Colour> : playing::One<int> {
  explicit Played(Turn& turn) { value = turn.words.integer_or("undefined", MPI_UNDEFINED); }
};

template <> struct Played<trace::Root> : playing::One<int> {
  explicit Played(Turn& turn) { value = turn.words.integer(); }
};

template <> struct Played<trace::Number> : playing::One<int> {
  explicit Played(Turn& turn) { value = turn.words.integer(); }
};

template <> struct Played<trace::Operation> : playing::One<MPI_Op> {
  explicit Played(Turn& turn) { value = turn.words.operation(); }
};

template <> struct Played<trace::Comm> : playing::One<MPI_Comm> {
  explicit Played(Turn& turn) { value = turn.comm; }
};

template <> struct Played<trace::Group> : playing::One<MPI_Group> {
  explicit Played(Turn& turn) { value = playing::group_of(turn.comm, turn.words.places()); }
  void done(Turn& /*turn*/) { playing::free_group(value); }
};

template <> struct Played<trace::Grid> {
  std::vector<int> sizes;
  std::vector<int> periods;
  explicit Played(Turn& turn)
  {
    sizes   = turn.words.numbers();
    periods = turn.words.numbers();
  }
  auto arguments() { return std::tuple(static_cast<int>(sizes.size()), sizes.data(), periods.data()); }
};

template <> struct Played<trace::Kept> {
  std::vector<int> kept;
  explicit Played(Turn& turn) { kept = turn.words.numbers(); }
  auto arguments() { return std::tuple(kept.data()); }
};

template <> struct Played<trace::Graph> {
  std::vector<int> index;
  std::vector<int> edges;
  explicit Played(Turn& turn)
  {
    index = turn.words.numbers();
    edges = turn.words.numbers();
  }
  auto arguments() { return std::tuple(static_cast<int>(index.size()), index.data(), edges.data()); }
};

template <> struct Played<trace::Edges> {
  std::vector<int> sources;
  std::vector<int> degrees;
  std::vector<int> destinations;
  explicit Played(Turn& turn)
  {
    sources      = turn.words.numbers();
    degrees      = turn.words.numbers();
    destinations = turn.words.numbers();
  }
  auto arguments()
  {
    return std::tuple(static_cast<int>(sources.size()), sources.data(), degrees.data(), destinations.data(),
                      MPI_UNWEIGHTED);
  }
};

template <> struct Played<trace::Neighbors> {
  std::vector<int> sources;
  std::vector<int> destinations;
  explicit Played(Turn& turn)
  {
    sources      = turn.words.numbers();
    destinations = turn.words.numbers();
  }
  auto arguments()
  {
    return std::tuple(static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                      static_cast<int>(destinations.size()), destinations.data(), MPI_UNWEIGHTED);
  }
};

template <> struct Played<trace::Opened> {
  MPI_Request request = MPI_REQUEST_NULL;
  explicit Played(Turn& /*turn*/) {}
  auto arguments() { return std::tuple(&request); }
  void done(Turn& turn)
  {
    const int number = turn.words.integer_or("null", -1);
    if (number >= 0)
      turn.player.request(number) = request;
  }
};

template <> struct Played<trace::Flag> {
  int flag    = 0;
  bool wanted = false;
  explicit Played(Turn& /*turn*/) {}
  auto arguments() { return std::tuple(&flag); }
  void done(Turn& turn) { wanted = turn.words.integer() != 0; }
  bool again() const { return wanted && flag == 0; }
};

template <> struct Played<trace::Made> {
  MPI_Comm made = MPI_COMM_NULL;
  explicit Played(Turn& /*turn*/) {}
  auto arguments() { return std::tuple(&made); }
  void done(Turn& turn) { turn.player.add_communicator(turn.words.next(), made); }
};

/** MPI_Comm_split_type is replayed as MPI_Comm_split (call_player.cpp). */
template <> struct Played<trace::MadeByHost> : Played<trace::Made> {
  using Played<trace::Made>::Played;
};

template <> struct Played<trace::Freed> {
  MPI_Comm comm;
  explicit Played(Turn& turn) : comm(turn.player.communicator(turn.words.next())) {}
  auto arguments() { return std::tuple(&comm); }
};

// ---- One-sided communication: all windows share the same memory -----------------------------------------------------

template <> struct Played<trace::Memory> {
  MPI_Aint size;
  int unit;
  explicit Played(Turn& turn) : size(turn.words.bytes()), unit(turn.words.integer()) {}
  auto arguments() { return std::tuple(Scratch::to_receive().of(static_cast<std::size_t>(size)), size, unit); }
};

template <> struct Played<trace::Extent> {
  MPI_Aint size;
  int unit;
  explicit Played(Turn& turn) : size(turn.words.bytes()), unit(turn.words.integer()) {}
  auto arguments() { return std::tuple(size, unit); }
};

template <> struct Played<trace::Base> {
  void* base = nullptr;
  explicit Played(Turn& /*turn*/) {}
  auto arguments() { return std::tuple(static_cast<void*>(&base)); }
};

template <> struct Played<trace::MadeWindow> {
  MPI_Win window = MPI_WIN_NULL;
  explicit Played(Turn& /*turn*/) {}
  auto arguments() { return std::tuple(&window); }
  void done(Turn& turn) { turn.player.window(turn.words.integer()) = window; }
};

template <> struct Played<trace::Window> : playing::One<MPI_Win> {
  explicit Played(Turn& turn) { value = turn.player.window(turn.words.integer()); }
};

template <> struct Played<trace::FreedWindow> : playing::One<MPI_Win*> {
  explicit Played(Turn& turn) { value = &turn.player.window(turn.words.integer()); }
};

template <> struct Played<trace::Target> : Played<trace::Partner> {
  using Played<trace::Partner>::Played;
};

template <> struct Played<trace::Displacement> : playing::One<MPI_Aint> {
  explicit Played(Turn& turn) { value = turn.words.bytes(); }
};

template <> struct Played<trace::Remote> {
  int count;
  MPI_Datatype type;
  explicit Played(Turn& turn) : count(turn.words.integer()), type(turn.words.datatype()) {}
  auto arguments() { return std::tuple(count, type); }
};

template <> struct Played<trace::Fetched> {
  MPI_Datatype type;
  explicit Played(Turn& turn) : type(turn.words.datatype()) {}
  auto arguments() { return std::tuple(Scratch::to_send().of(0), Scratch::to_receive().of(0), type); }
};

template <> struct Played<trace::Swapped> {
  MPI_Datatype type;
  explicit Played(Turn& turn) : type(turn.words.datatype()) {}
  auto arguments()
  {
    return std::tuple(Scratch::to_send().of(0), Scratch::to_send().of(0), Scratch::to_receive().of(0), type);
  }
};

template <> struct Played<trace::WorldGroup> : playing::One<MPI_Group> {
  explicit Played(Turn& turn) { value = playing::group_of(MPI_COMM_WORLD, turn.words.places()); }
  void done(Turn& /*turn*/) { playing::free_group(value); }
};

template <> struct Played<trace::Started> : playing::One<MPI_Request*> {
  explicit Played(Turn& turn) { value = &turn.player.request(turn.words.integer()); }
};

template <> struct Played<trace::Closed> : Played<trace::Started> {
  using Played<trace::Started>::Played;
};

template <> struct Played<trace::StartedAll> {
  std::vector<MPI_Request> requests;
  explicit Played(Turn& turn)
  {
    for (const int number : turn.words.numbers())
      requests.push_back(turn.player.request(number));
  }
  auto arguments() { return std::tuple(static_cast<int>(requests.size()), requests.data()); }
};

} // namespace weft::replay
