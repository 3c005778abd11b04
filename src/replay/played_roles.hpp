// SPDX-License-Identifier: LGPL-2.1-only
/* What each role of a call (trace/calls.hpp) is when a trace is played: made of its words, it has the arguments, and
 * takes what the call gives. */
#pragma once

#include "replay/call_player.hpp"
#include "replay/scratch.hpp"
#include "trace/calls.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::replay {

/** What the roles of one call share. */
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

/** Made of a Turn, it has `arguments()`; some have `done(turn)`, for after the call, and `again()`: whether the call
 * has to be made again for what it was to give. */
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

/** Whether the words say that there is no data; what @p buffer is then. */
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
  std::vector<int> offsets; // all parts may lie in the same place
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

/** Converts to whatever a call ignores. */
struct Nothing {
  operator int() const { return 0; } // NOLINT(google-explicit-constructor): that is what it is for
  template <class T> operator T*() const
  {
    return nullptr;
  } // NOLINT(google-explicit-constructor): that is what it is for
};

} // namespace playing

// clang-format off
template <> struct Played<trace::Given> : playing::Data<true, false> { using Data::Data; };
template <> struct Played<trace::GivenToEach> : playing::Data<true, true> { using Data::Data; };
template <> struct Played<trace::GivenAtRoot> : playing::Data<true, true> { using Data::Data; };
template <> struct Played<trace::Got> : playing::Data<false, false> { using Data::Data; };
template <> struct Played<trace::GotFromEach> : playing::Data<false, true> { using Data::Data; };
template <> struct Played<trace::GotAtRoot> : playing::Data<false, true> { using Data::Data; };
template <> struct Played<trace::GivenParts> : playing::Parts<true> { using Parts::Parts; };
template <> struct Played<trace::GivenPartsAtRoot> : playing::Parts<true> { using Parts::Parts; };
template <> struct Played<trace::GotParts> : playing::Parts<false> { using Parts::Parts; };
template <> struct Played<trace::GotPartsAtRoot> : playing::Parts<false> { using Parts::Parts; };
template <> struct Played<trace::GivenTyped> : playing::Typed<true> { using Typed::Typed; };
template <> struct Played<trace::GotTyped> : playing::Typed<false> { using Typed::Typed; };
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

/** MPI_Comm_split_type is played as MPI_Comm_split (call_player.cpp). */
template <> struct Played<trace::MadeByHost> : Played<trace::Made> {
  using Played<trace::Made>::Played;
};

template <> struct Played<trace::Freed> {
  MPI_Comm comm;
  explicit Played(Turn& turn) : comm(turn.player.communicator(turn.words.next())) {}
  auto arguments() { return std::tuple(&comm); }
};

// ---- One-sided communication: all windows are the same memory
// ---------------------------------------------------------

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

template <> struct Played<trace::Fetched> : playing::One<MPI_Datatype> {
  explicit Played(Turn& turn) { value = turn.words.datatype(); }
  auto arguments() { return std::tuple(Scratch::to_send().of(0), Scratch::to_receive().of(0), value); }
};

template <> struct Played<trace::Swapped> : playing::One<MPI_Datatype> {
  explicit Played(Turn& turn) { value = turn.words.datatype(); }
  auto arguments()
  {
    return std::tuple(Scratch::to_send().of(0), Scratch::to_send().of(0), Scratch::to_receive().of(0), value);
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

// ---- Waits and tests ------------------------------------------------------------------------------------------------

/** A wait or a test in the form that those of several requests have; it says which it has ended. */
namespace ending {

inline std::vector<int> all(std::size_t count, int flag)
{
  std::vector<int> places(flag != 0 ? count : 0);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

using Requests = std::vector<MPI_Request>;

inline std::vector<int> make(decltype(&MPI_Wait) wait, Requests& requests)
{
  wait(requests.data(), MPI_STATUS_IGNORE);
  return all(1, 1);
}

inline std::vector<int> make(decltype(&MPI_Test) test, Requests& requests)
{
  int flag = 0;
  test(requests.data(), &flag, MPI_STATUS_IGNORE);
  return all(1, flag);
}

inline std::vector<int> make(decltype(&MPI_Waitall) wait, Requests& requests)
{
  wait(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return all(requests.size(), 1);
}

/** MPI_Testall, and MPI_Waitany, which has an index where that has a flag. */
inline std::vector<int> make(decltype(&MPI_Testall) call, Requests& requests, bool is_index)
{
  int output = is_index ? MPI_UNDEFINED : 0;
  call(static_cast<int>(requests.size()), requests.data(), &output, MPI_STATUSES_IGNORE);
  if (is_index)
    return output == MPI_UNDEFINED ? std::vector<int>() : std::vector{output};
  return all(requests.size(), output);
}

/** MPI_Waitsome and MPI_Testsome; and MPI_Testany, which has an index and a flag where those have a number and indices.
 */
inline std::vector<int> make_several(decltype(&MPI_Waitsome) call, Requests& requests)
{
  int count = 0;
  std::vector<int> indices(requests.size() + 1);
  call(static_cast<int>(requests.size()), requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
  indices.resize(static_cast<std::size_t>(count == MPI_UNDEFINED ? 0 : count));
  return indices;
}

inline std::vector<int> make_any(decltype(&MPI_Testany) test, Requests& requests)
{
  int index = MPI_UNDEFINED;
  int flag  = 0;
  test(static_cast<int>(requests.size()), requests.data(), &index, &flag, MPI_STATUS_IGNORE);
  return flag == 0 || index == MPI_UNDEFINED ? std::vector<int>() : std::vector{index};
}

} // namespace ending

template <class Call> void CallPlayer::wait(const std::vector<int>& numbers, const std::vector<int>& ended, Call&& call)
{
  const auto is_missing = [&](int place) { return is_open(numbers.at(static_cast<std::size_t>(place))); };
  if (not ended.empty() && std::ranges::none_of(ended, is_missing))
    return; // an earlier test has found them
  do {
    std::vector<MPI_Request> now = handles(numbers);
    const std::vector<int> done  = call(now);
    take_back(numbers, now, done);
  } while (std::ranges::any_of(ended, is_missing));
}

template <class Role> void take(Role& role, Turn& turn)
{
  if constexpr (requires { role.done(turn); })
    role.done(turn);
}

template <class Role> bool is_wanted(const Role& role)
{
  if constexpr (requires { role.again(); })
    return role.again();
  else
    return false;
}

/** Play the line of a call: once, or until it has given what the line says. */
template <class... Roles, class Function>
void play_roles(trace::List<Roles...> /*roles*/, Function function, Turn& turn)
{
  if constexpr ((std::is_same_v<Roles, trace::Comm> || ...))
    turn.comm = turn.player.communicator(turn.words.next());
  std::tuple<Played<Roles>...> played{Played<Roles>(turn)...};
  const auto call = [&] {
    std::apply([&](auto&... all) { std::apply(function, std::tuple_cat(all.arguments()...)); }, played);
  };
  call();
  std::apply([&](auto&... all) { (take(all, turn), ...); }, played);
  while (std::apply([](auto&... all) { return (is_wanted(all) || ...); }, played))
    call();
}

template <class Function> void play_roles(trace::List<trace::WaitsForAll> /*roles*/, Function function, Turn& turn)
{
  turn.player.wait(turn.words.numbers(), {}, [&](auto& requests) { return ending::make(function, requests); });
}

template <class Function> void play_roles(trace::List<trace::TestsAll> /*roles*/, Function function, Turn& turn)
{
  const std::vector<int> numbers = turn.words.numbers();
  turn.player.wait(numbers, turn.words.places(), [&](auto& requests) {
    if constexpr (std::is_same_v<Function, decltype(&MPI_Test)>)
      return ending::make(function, requests);
    else
      return ending::make(function, requests, false);
  });
}

template <class Function> void play_roles(trace::List<trace::EndsOne> /*roles*/, Function function, Turn& turn)
{
  const std::vector<int> numbers = turn.words.numbers();
  turn.player.wait(numbers, turn.words.places(), [&](auto& requests) {
    if constexpr (std::is_same_v<Function, decltype(&MPI_Testany)>)
      return ending::make_any(function, requests);
    else
      return ending::make(function, requests, true);
  });
}

template <class Function> void play_roles(trace::List<trace::EndsSome> /*roles*/, Function function, Turn& turn)
{
  const std::vector<int> numbers = turn.words.numbers();
  turn.player.wait(numbers, turn.words.places(),
                   [&](auto& requests) { return ending::make_several(function, requests); });
}

} // namespace weft::replay
