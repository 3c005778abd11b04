// SPDX-License-Identifier: LGPL-2.1-only
/* Replays one line: constructs the roles of its call, makes the call, and passes the results to the roles. Waits and
 * tests have overloads by the number of requests that they complete. */
#pragma once

#include "replay/played_roles.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::replay {

/** Adapters that give all waits and tests one form: on several requests, returning the indices of the completed
 * ones. */
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

/** MPI_Testall, and MPI_Waitany, which returns an index in place of the flag. */
inline std::vector<int> make(decltype(&MPI_Testall) call, Requests& requests, bool is_index)
{
  int output = is_index ? MPI_UNDEFINED : 0;
  call(static_cast<int>(requests.size()), requests.data(), &output, MPI_STATUSES_IGNORE);
  if (is_index)
    return output == MPI_UNDEFINED ? std::vector<int>() : std::vector{output};
  return all(requests.size(), output);
}

/** MPI_Waitsome and MPI_Testsome. */
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
    return; // completed by an earlier test
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

/** Keeps the arguments of a persistent operation alive for the rest of the replay, since its starts use them. */
template <class Arguments> Arguments& keep_arguments(std::unique_ptr<Arguments> arguments)
{
  static std::vector<std::unique_ptr<Arguments>> all;
  return *all.emplace_back(std::move(arguments));
}

/** Makes a call once, or repeatedly until it yields the result recorded in the line. */
template <class Arguments, class Function> void play_with(Arguments& played, Function function, Turn& turn)
{
  const auto call = [&] {
    std::apply([&](auto&... all) { std::apply(function, std::tuple_cat(all.arguments()...)); }, played);
  };
  call();
  std::apply([&](auto&... all) { (take(all, turn), ...); }, played);
  while (std::apply([](auto&... all) { return (is_wanted(all) || ...); }, played))
    call();
}

template <class... Roles, class Function>
void play_roles(trace::List<Roles...> /*roles*/, Function function, Turn& turn)
{
  if constexpr ((std::is_same_v<Roles, trace::Comm> || ...))
    turn.comm = turn.player.communicator(turn.words.next());
  using Arguments = std::tuple<Played<Roles>...>;
  // Only calls that open a request and have an info argument are persistent.
  constexpr bool KEPT = (std::is_same_v<Roles, trace::Opened> || ...) && (std::is_same_v<Roles, trace::Ignored> || ...);
  if constexpr (KEPT) {
    play_with(keep_arguments(std::make_unique<Arguments>(Arguments{Played<Roles>(turn)...})), function, turn);
  } else {
    Arguments played{Played<Roles>(turn)...};
    play_with(played, function, turn);
  }
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
