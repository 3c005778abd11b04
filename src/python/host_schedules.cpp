/* The algorithms by which MPI libraries execute collectives on hosts, for Python. */
#include "python/host_schedules.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/hosts/selection.hpp"
#include "collective/hosts/walk.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

namespace py = pybind11;

namespace weft {
namespace {

py::list algorithms()
{
  py::list rows;
  for (const Algorithm& one : host_algorithms()) {
    py::dict row;
    row["collective"]    = one.collective;
    row["name"]          = one.name;
    row["number"]        = one.number;
    row["any_operation"] = one.needs == Needs::nothing;
    rows.append(row);
  }
  return rows;
}

py::list selections()
{
  py::list rows;
  for (const std::string& name : list_shared("presets/mpi")) {
    py::dict row;
    row["name"]        = name;
    row["description"] = Selection::load(name).description();
    rows.append(row);
  }
  return rows;
}

/** A call as Python tells it; @p counts, by rank, are those of collectives whose blocks differ. */
HostCall make_call(const std::string& collective, int ranks, Elements count, double element_bytes, int root,
                   bool commutative, const std::optional<std::vector<Elements>>& counts)
{
  HostCall call{collective, ranks, root, count, Bytes(element_bytes), commutative};
  if (counts) {
    const bool by_receiver = collective == "scatterv" || collective == "reduce_scatter";
    call.block             = [counts = *counts, by_receiver](int from, int to) {
      return counts.at(static_cast<std::size_t>(by_receiver ? to : from));
    };
  }
  return call;
}

py::dict result(std::string_view algorithm, Tuning tuning, const Walk& walked)
{
  std::vector<std::tuple<int, int, int, double>> messages;
  messages.reserve(walked.messages.size());
  for (const WalkedMessage& one : walked.messages)
    messages.emplace_back(one.round, one.from, one.to, one.bytes.value());
  std::vector<double> sums;
  sums.reserve(walked.sums.size());
  for (const Bytes one : walked.sums)
    sums.push_back(one.value());
  py::dict row;
  row["algorithm"]      = algorithm;
  row["segment_bytes"]  = tuning.segment.value();
  row["fan_out"]        = tuning.fan_out;
  row["rounds"]         = walked.rounds;
  row["messages"]       = messages;
  row["combined_bytes"] = sums;
  return row;
}

py::dict schedule(const std::string& selection_name, const std::string& algorithm_name, double segment_bytes,
                  int fan_out, const std::string& collective, int ranks, Elements count, double element_bytes, int root,
                  bool commutative, const std::optional<std::vector<Elements>>& counts)
{
  const Selection selection = Selection::load(selection_name);
  const HostCall call =
      selection.resolved(make_call(collective, ranks, count, element_bytes, root, commutative, counts));
  Selection::Choice choice = selection.choose(call);
  if (not algorithm_name.empty())
    choice = {find_algorithm(collective, algorithm_name), {Bytes(segment_bytes), fan_out}};
  if (not choice.algorithm)
    throw UserError("no algorithm for " + collective + " of " + std::to_string(ranks) + " ranks in " + selection_name);
  return result(choice.algorithm->name, choice.tuning,
                walk(ranks, [&](int rank) { return choice.algorithm->schedule(call, rank, choice.tuning); }));
}

} // namespace

void bind_host_schedules(py::module_& module)
{
  module.def("host_algorithms", &algorithms, "All algorithms: collective, name, Open MPI's number, what they need.");
  module.def("selections", &selections, "Names and descriptions of the shipped selections of algorithms.");
  module.def("host_schedule", &schedule, py::arg("selection"), py::arg("algorithm"), py::arg("segment_bytes"),
             py::arg("fan_out"), py::arg("collective"), py::arg("ranks"), py::arg("count"), py::arg("element_bytes"),
             py::arg("root"), py::arg("commutative"), py::arg("counts") = py::none(),
             "The messages of a collective on hosts, in rounds: (round, from, to, bytes). The selection's choice where "
             "no algorithm is named.");
}

} // namespace weft
