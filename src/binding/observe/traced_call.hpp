// SPDX-License-Identifier: LGPL-2.1-only
/* Writes the trace line of a program's call from the roles of its arguments (written_roles.hpp). */
#pragma once

#include "binding/observe/written_roles.hpp"

#include <optional>
#include <simgrid/s4u/Engine.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft {

/** Records a call of the program before and after it runs; other calls are not recorded. */
template <class Roles, class... Arguments> class TracedRoles;

template <class... Roles, class... Arguments> class TracedRoles<trace::List<Roles...>, Arguments...> {
  std::tuple<Arguments...> arguments_;

  template <class Role> static constexpr std::size_t width()
  {
    if constexpr (std::is_base_of_v<WaitWriting, Written<Role>>)
      return sizeof...(Arguments);
    else
      return Written<Role>::WIDTH;
  }
  /** Calls @p visit with each role's Writing and its arguments. */
  template <class Visit> void each(Visit&& visit) const { next<0, Visit, Roles...>(visit); }
  template <std::size_t at, class Visit> void next(Visit& /*visit*/) const {}
  template <std::size_t at, class Visit, class Role, class... Rest> void next(Visit& visit) const
  {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
      visit(Written<Role>(), std::get<at + index>(arguments_)...);
    }(std::make_index_sequence<width<Role>()>());
    next<at + width<Role>(), Visit, Rest...>(visit);
  }

public:
  explicit TracedRoles(Arguments... arguments) : arguments_(arguments...) {}

  void before(TraceLine& line) const
  {
    each([&line](auto role, const auto&... all) { role.context(line, all...); });
    each([&line](auto role, const auto&... all) { role.before(line, all...); });
  }
  bool after(TraceLine& line) const
  {
    each([&line](auto role, const auto&... all) { role.after(line, all...); });
    return true;
  }
};

template <class... Arguments> class TracedRoles<trace::List<trace::Implied>, Arguments...> {
public:
  explicit TracedRoles(Arguments... /*arguments*/) {}
  void before(TraceLine& /*line*/) const {}
  bool after(TraceLine& line) const
  {
    line.rank.since = simgrid::s4u::Engine::get_clock();
    return false;
  }
};

template <class... Arguments> class TracedRoles<trace::List<trace::Untraceable>, Arguments...> {
public:
  explicit TracedRoles(Arguments... /*arguments*/) {}
  void before(TraceLine& line) const { line.unfit = "which traces do not support"; }
  bool after(TraceLine& /*line*/) const { return false; }
};

template <class Call, class... Arguments> class TracedCall {
  TracedRoles<typename Call::Roles, Arguments...> roles_;
  std::optional<TraceLine> line_;

public:
  TracedCall(bool is_programs, Arguments... arguments) : roles_(arguments...)
  {
    if (not is_programs || not CallTrace::get())
      return;
    line_.emplace(CallTrace::get()->enter(Call::NAME));
    roles_.before(*line_);
  }

  int end(int result)
  {
    if (line_)
      CallTrace::get()->leave(*line_, result == MPI_SUCCESS && roles_.after(*line_));
    return result;
  }
};

template <class Call, class... Arguments>
  requires std::is_same_v<typename Call::Roles, trace::List<trace::Unrecorded>>
class TracedCall<Call, Arguments...> {
public:
  explicit TracedCall(bool /*is_programs*/, Arguments... /*arguments*/) {}
  template <class Result> Result end(Result result) { return result; }
};

/** Deduces the types of the arguments. */
template <class Call, class... Arguments> TracedCall<Call, Arguments...> traced_call(bool is_programs, Arguments... all)
{
  return TracedCall<Call, Arguments...>(is_programs, all...);
}

} // namespace weft
