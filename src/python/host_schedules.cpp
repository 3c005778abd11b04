// SPDX-License-Identifier: LGPL-2.1-only
/* Python bindings of the MPI libraries' algorithms for collectives on hosts. */
#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/host/algorithms/neighbor.hpp"
#include "collective/host/engine/walk.hpp"
#include "collective/host/fallback.hpp"
#include "collective/host/prediction.hpp"
#include "collective/host/selection/selection.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::python {
namespace {

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
const RowKind<"HostAlgorithm", Algorithm> ALGORITHM{
    "One algorithm of a collective, with its number in Open MPI and its library.",
    {{"collective", [](const Algorithm& one) { return std::string(one.collective); }},
     {"name", [](const Algorithm& one) { return std::string(one.name); }},
     {"number", [](const Algorithm& one) { return one.number; }},
     {"source", [](const Algorithm& one) { return std::string(to_text(one.source)); }},
     {"any_operation",
      [](const Algorithm& one) { return one.needs != Needs::commutative && one.needs != Needs::one_host_commutative; }},
     {"two_ranks", [](const Algorithm& one) { return one.needs == Needs::two_ranks; }},
     {"one_host",
      [](const Algorithm& one) { return one.needs == Needs::one_host || one.needs == Needs::one_host_commutative; }}}};

struct NamedSelection {
  std::string name;
  std::string description;
};
const RowKind<"Selection", NamedSelection> SELECTION{
    "A shipped selection of algorithms.",
    {{"name", &NamedSelection::name}, {"description", &NamedSelection::description}}};

using Message = std::tuple<int, int, int, double>;
struct Schedule {
  std::string algorithm;
  Tuning tuning;
  int rounds;
  std::vector<Message> messages;
  std::vector<double> sums;
};
const RowKind<"HostSchedule", Schedule> SCHEDULE{
    "Schedule of a collective on hosts: messages as (round, from, to, bytes), and the bytes that each rank reduces.",
    {{"algorithm", &Schedule::algorithm},
     {"segment_bytes", [](const Schedule& one) { return one.tuning.segment; }},
     {"fan_out", [](const Schedule& one) { return one.tuning.fan_out; }},
     {"rounds", &Schedule::rounds},
     {"messages", &Schedule::messages},
     {"combined_bytes", &Schedule::sums}}};

// NOLINTEND(bugprone-throwing-static-initialization)

Rows<"Selection"> selections()
{
  std::vector<NamedSelection> all;
  for (const std::string& name : list_shared("presets/mpi"))
    all.push_back({name, Selection::load(name).description()});
  return SELECTION.all(all);
}

/** Builds a call from Python's arguments. @p counts, by rank, apply to collectives with blocks of different sizes. */
HostCall make_call(const std::string& collective, int ranks, Elements count, double element_bytes, int root,
                   bool commutative, bool blocking, const std::optional<std::vector<Elements>>& counts)
{
  HostCall call{collective, ranks, root, count, Bytes(element_bytes), commutative, blocking};
  if (counts) {
    const bool by_receiver = collective == "scatterv" || collective == "reduce_scatter";
    call.block             = [counts = *counts, by_receiver](int from, int to) {
      return counts.at(static_cast<std::size_t>(by_receiver ? to : from));
    };
  }
  return on_a_ring(std::move(call));
}

Row<"HostSchedule"> result(std::string_view algorithm, Tuning tuning, const Walk& walked)
{
  std::vector<Message> messages;
  messages.reserve(walked.messages.size());
  for (const WalkedMessage& one : walked.messages)
    messages.emplace_back(one.round, one.from, one.to, one.bytes.value());
  std::vector<double> sums;
  sums.reserve(walked.sums.size());
  for (const Bytes one : walked.sums)
    sums.push_back(one.value());
  return SCHEDULE({std::string(algorithm), tuning, walked.rounds, std::move(messages), std::move(sums)});
}

Row<"HostSchedule"> schedule(const std::string& selection_name, const std::string& algorithm_name, double segment_bytes,
                             int fan_out, const std::string& collective, int ranks, Elements count,
                             double element_bytes, int root, bool commutative, bool blocking,
                             const std::optional<std::vector<Elements>>& counts,
                             const std::optional<std::vector<int>>& hosts, bool predefined)
{
  const Selection selection = Selection::load(selection_name);
  HostCall call             = make_call(collective, ranks, count, element_bytes, root, commutative, blocking, counts);
  call.predefined           = predefined;
  if (hosts)
    call.host = [&hosts](int rank) { return hosts->at(static_cast<std::size_t>(rank)); };
  call                     = selection.resolved(std::move(call));
  Selection::Choice choice = selection.choose(call);
  if (choice.library)
    call = choice.library->resolved(std::move(call));
  if (not algorithm_name.empty())
    choice = selection.executed({find_algorithm(collective, algorithm_name), {Bytes(segment_bytes), fan_out}}, call);
  if (not choice.algorithm)
    throw UserError("no algorithm for " + collective + " of " + std::to_string(ranks) + " ranks in " + selection_name);
  return result(choice.name(), choice.tuning,
                walk(ranks, [&](int rank) { return choice.algorithm->schedule(call, rank, choice.tuning); }));
}

using TimedCall = std::tuple<std::string, int, int, Elements, double>;

/** Visits each call with its ranks' hosts and the algorithm that a fallback selects for it. Ranks fill the hosts in
 * order. */
template <class Visit>
void for_each_choice(const Fabric& fabric, const std::string& fallback_text, const std::vector<TimedCall>& calls,
                     const Visit& visit)
{
  HostFallback fallback = HostFallback::parse(fallback_text);
  fallback.predict_on(fabric, [&fabric] { return costs_of(fabric.mpi(), fabric.host()); });
  for (const auto& [collective, ranks, ranks_per_host, count, element_bytes] : calls) {
    std::vector<int> hosts;
    hosts.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      hosts.push_back(rank / ranks_per_host);
    HostCall call{collective, ranks, 0, count, Bytes(element_bytes)};
    call.host                      = [&hosts](int rank) { return hosts[static_cast<std::size_t>(rank)]; };
    call                           = fallback.selection().resolved(std::move(call));
    const Selection::Choice choice = fallback.choose(call);
    if (choice.algorithm)
      call = fallback.resolved(std::move(call), choice);
    visit(hosts, call, choice);
  }
}

/** Returns the mean time of each call over its ranks, in seconds. */
std::vector<double> predicted_times(const Fabric& fabric, const std::string& fallback_text,
                                    const std::vector<TimedCall>& calls)
{
  const MessageCosts costs = costs_of(fabric.mpi(), fabric.host());
  std::vector<double> times;
  for_each_choice(fabric, fallback_text, calls,
                  [&](const std::vector<int>& hosts, const HostCall& call, const Selection::Choice& choice) {
                    if (not choice.algorithm)
                      throw UserError(std::string("found \"")
                                          .append(fallback_text)
                                          .append("\", where weft has no algorithm for ")
                                          .append(call.collective));
                    times.push_back(predicted_time(fabric, costs, hosts, call, choice).value());
                  });
  return times;
}

/** Returns the algorithm of each call by its name in records; empty if SMPI executes the call. */
std::vector<std::string> selected_algorithms(const Fabric& fabric, const std::string& fallback_text,
                                             const std::vector<TimedCall>& calls)
{
  std::vector<std::string> names;
  for_each_choice(fabric, fallback_text, calls,
                  [&names](const std::vector<int>&, const HostCall&, const Selection::Choice& choice) {
                    names.push_back(choice.algorithm ? choice.name() : std::string());
                  });
  return names;
}

} // namespace

void bind_host_schedules(py::module_& module)
{
  module.def(
      "host_algorithms", [] { return ALGORITHM.all(host_algorithms()); },
      "All algorithms: collective, name, number in Open MPI, library, requirements.");
  module.def("selections", &selections, "Names and descriptions of the shipped selections of algorithms.");
  module.def(
      "smpi_fallbacks", [](const std::string& text) { return HostFallback::parse(text).left_to_smpi(); },
      py::arg("fallback"),
      "Check the fallback of a run (collective/host/fallback.hpp); returns SMPI's names in it by collective, and for "
      "all collectives under an empty name.");
  module.def("host_schedule", &schedule, py::arg("selection"), py::arg("algorithm"), py::arg("segment_bytes"),
             py::arg("fan_out"), py::arg("collective"), py::arg("ranks"), py::arg("count"), py::arg("element_bytes"),
             py::arg("root"), py::arg("commutative"), py::arg("blocking"), py::arg("counts") = py::none(),
             py::arg("hosts") = py::none(), py::arg("predefined") = true,
             "Messages of a collective on hosts, in rounds: (round, from, to, bytes). Without an algorithm, the "
             "selection chooses one.");
  module.def("predicted_times", &predicted_times, py::arg("fabric"), py::arg("fallback"), py::arg("calls"),
             "Predicted times of collectives on the hosts of an idle network, in seconds, averaged over the ranks: "
             "calls as (collective, ranks, ranks per host, elements, bytes of one).");
  module.def("selected_algorithms", &selected_algorithms, py::arg("fabric"), py::arg("fallback"), py::arg("calls"),
             "Algorithms of the hosts that a fallback selects for calls, as records name them; empty for calls that "
             "SMPI executes. Calls as in predicted_times.");
}

} // namespace weft::python
