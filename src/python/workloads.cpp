// SPDX-License-Identifier: LGPL-2.1-only
/* Python bindings of workloads of accelerators. */
#include "base/error.hpp"
#include "descriptions/disturbance_rows.hpp"
#include "descriptions/fault_file.hpp"
#include "descriptions/packet_rows.hpp"
#include "descriptions/traffic_file.hpp"
#include "descriptions/workload_file.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"
#include "workload/run_iteration.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::python {
namespace {

using After  = std::vector<WorkNumber>;
using Groups = std::vector<std::pair<std::string, std::vector<std::vector<int>>>>;

/** Returns the value called @p name; @p kind names its kind in error messages. */
template <Named E> E value_named(const std::string& kind, const std::string& name)
{
  if (const auto found = find_named<E>(name))
    return *found;
  const std::vector<std::string> known = names_of<E>();
  throw UserError("found " + kind + " \"" + name + "\"; " + did_you_mean(name, known) + "allowed: " + join(known));
}

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
const RowKind<"RankTimes", RankTimes> RANK_TIMES{
    "How a rank spends an iteration, in seconds. Lists have an entry for each division into groups, then one for "
    "messages; the last two have one for each class of links: the exposed communication that a link of the class "
    "limits, and, of this, how long those links carry what is communicated.",
    {{"computing_s", &RankTimes::computing},
     {"exposed_s", &RankTimes::exposed},
     {"late_s", &RankTimes::late},
     {"communicated_s", &RankTimes::communicated},
     {"idle_s", &RankTimes::idle},
     {"end_s", &RankTimes::end},
     {"exposed_at_s", &RankTimes::exposed_at},
     {"carried_at_s", &RankTimes::carried_at}}};

const RowKind<"LinkClassUse", LinkClassUse> LINK_CLASS_USE{
    "Links of a class that have carried something: their number and bytes; the mean of the fractions of what they "
    "could "
    "have carried, and the largest of these fractions, with the name of its link (empty if each message chooses a "
    "route).",
    {{"name", &LinkClassUse::name},
     {"links", &LinkClassUse::links},
     {"bytes", &LinkClassUse::bytes},
     {"utilisation", &LinkClassUse::mean},
     {"busiest", &LinkClassUse::busiest},
     {"busiest_utilisation", &LinkClassUse::most}}};

struct NamedWork {
  TimedWork work;
  std::string name;
  std::string kind;
  std::uint32_t stream;
};

const RowKind<"TimedWork", NamedWork> TIMED_WORK{
    "Operation of a rank in time, in seconds: reached, active once all ranks that it needs have reached it, ended.",
    {{"rank", [](const NamedWork& one) { return one.work.rank; }},
     {"operation", [](const NamedWork& one) { return one.work.number; }},
     {"name", &NamedWork::name},
     {"kind", &NamedWork::kind},
     {"stream", &NamedWork::stream},
     {"begin_s", [](const NamedWork& one) { return one.work.begin; }},
     {"active_s", [](const NamedWork& one) { return one.work.active; }},
     {"end_s", [](const NamedWork& one) { return one.work.end; }}}};

const RowKind<"TimePart", TimePart> TIME_PART{
    "Use of time in seconds: the mean over the ranks, and the most of a rank.",
    {{"name", &TimePart::name}, {"mean_s", &TimePart::mean}, {"most_s", &TimePart::most}}};

struct AlgorithmCalls {
  std::string algorithm;
  int calls;
};
const RowKind<"AlgorithmCalls", AlgorithmCalls> ALGORITHM_CALLS{
    "Calls that NCCL executes with an algorithm and protocol.",
    {{"algorithm", &AlgorithmCalls::algorithm}, {"calls", &AlgorithmCalls::calls}}};

struct NamedTimes {
  const Workload& workload;
  const Fabric& fabric;
  const IterationTimes& times;

  py::typing::List<Row<"RankTimes">> ranks() const { return RANK_TIMES.all(times.ranks); }
  py::typing::List<Row<"TimePart">> parts() const
  {
    return TIME_PART.all(parts_of(times.ranks, kinds_of(workload), times.end));
  }
  py::typing::List<Row<"LinkClassUse">> links() const { return LINK_CLASS_USE.all(times.links); }
  std::vector<std::string> kinds() const { return kinds_of(workload); }
  py::typing::List<Row<"TimedWork">> listed() const
  {
    Rows<"TimedWork"> all;
    for (const TimedWork& work : times.listed) {
      const Program& program = workload.program(work.rank);
      const Work& its        = program[work.number];
      std::string kind(to_text(its.kind));
      if (its.kind == WorkKind::collective)
        kind = to_text(its.collective);
      all.append(TIMED_WORK({work, program.name(work.number), std::move(kind), its.stream}));
    }
    return all;
  }
  std::string faults() const { return times.faults ? fault_rows(*times.faults).dump() : ""; }
  std::string packets() const { return times.packets ? packet_row(fabric.packets(), *times.packets).dump() : ""; }
  std::string traffic() const
  {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const TrafficReport& report : times.traffic)
      rows.push_back(traffic_row(report));
    return rows.dump();
  }
  py::typing::List<Row<"AlgorithmCalls">> algorithms() const
  {
    Rows<"AlgorithmCalls"> all;
    for (const auto& [name, calls] : times.algorithms)
      all.append(ALGORITHM_CALLS({name, calls}));
    return all;
  }
};

const RowKind<"IterationTimes", NamedTimes> ITERATION_TIMES{
    "Times of an iteration: its outcome and, unless it has completed, why; its end in seconds, ranks, kinds "
    "of communication, uses of time, classes of links, operations of listed ranks; messages on the network, "
    "collectives, and those of "
    "them that no equal one has preceded; faults "
    "(empty if there were none to happen), traffic and packets (empty without), as the record has them.",
    {{"outcome", [](const NamedTimes& all) { return all.times.outcome; }},
     {"message", [](const NamedTimes& all) { return all.times.message; }},
     {"end_s", [](const NamedTimes& all) { return all.times.end; }},
     {"ranks", &NamedTimes::ranks},
     {"kinds", &NamedTimes::kinds},
     {"parts", &NamedTimes::parts},
     {"links", &NamedTimes::links},
     {"listed", &NamedTimes::listed},
     {"algorithms", &NamedTimes::algorithms},
     {"messages", [](const NamedTimes& all) { return all.times.messages; }},
     {"calls", [](const NamedTimes& all) { return all.times.calls; }},
     {"executed", [](const NamedTimes& all) { return all.times.executed; }},
     {"faults", &NamedTimes::faults},
     {"traffic", &NamedTimes::traffic},
     {"packets", &NamedTimes::packets}}};
// NOLINTEND(bugprone-throwing-static-initialization)

Workload workload_of(const std::vector<const Program*>& programs, std::vector<int> program_of, const Groups& groups)
{
  Workload workload;
  for (const Program* const program : programs)
    workload.programs.push_back(*program);
  workload.program_of = std::move(program_of);
  for (const auto& [name, members] : groups)
    workload.divisions.emplace_back(name, members, workload.ranks());
  return workload;
}

Row<"IterationTimes"> run_workload(const Fabric& fabric, const std::string& library,
                                   const std::vector<const Program*>& programs, std::vector<int> program_of,
                                   const Groups& groups, bool execute_all, const std::string& detail, bool multicast,
                                   int sms, std::vector<double> slowdown, double noise, std::uint64_t seed,
                                   std::vector<int> listed, const std::string& faults, const std::string& traffic,
                                   const std::optional<std::function<void(double)>>& progress)
{
  const Workload workload = workload_of(programs, std::move(program_of), groups);
  IterationOptions options{.library     = library,
                           .execute_all = execute_all,
                           .detail      = value_named<CallDetail>("detail", detail),
                           .multicast   = multicast,
                           .sms         = sms,
                           .slowdown    = std::move(slowdown),
                           .noise       = noise,
                           .seed        = seed,
                           .listed      = std::move(listed)};
  if (not faults.empty())
    options.disturbances.faults = parse_faults(faults, "faults");
  if (not traffic.empty())
    options.disturbances.traffic = parse_traffic(traffic, "traffic");
  options.progress = [&progress](double done) {
    if (PyErr_CheckSignals() != 0)
      throw py::error_already_set();
    if (progress)
      (*progress)(done);
  };
  const IterationTimes times = run_iteration(workload, fabric, std::move(options));
  return ITERATION_TIMES({workload, fabric, times});
}

void bind_execution(py::module_& module)
{
  module.def(
      "describe_workload",
      [](const Fabric& fabric, const std::string& library, const std::vector<const Program*>& programs,
         std::vector<int> program_of, const Groups& groups) {
        const Workload workload = workload_of(programs, std::move(program_of), groups);
        check(workload);
        const NcclLibrary suits(library, fabric);
        return describe(workload);
      },
      py::arg("fabric"), py::arg("library"), py::arg("programs"), py::arg("program_of"), py::arg("groups"),
      "Return the text of a workload for a run of several jobs, in JSON; the arguments are those of run_workload(), "
      "which are checked.");
  module.def(
      "run_workload", &run_workload, py::arg("fabric"), py::arg("library"), py::arg("programs"), py::arg("program_of"),
      py::arg("groups"), py::kw_only(), py::arg("execute_all") = false, py::arg("detail") = "step",
      py::arg("multicast") = false, py::arg("sms") = 0, py::arg("slowdown") = std::vector<double>(),
      py::arg("noise") = 0.0, py::arg("seed") = 0, py::arg("listed") = std::vector<int>(), py::arg("faults") = "",
      py::arg("traffic") = "", py::arg("progress") = py::none(),
      "Execute programs on a fabric of GPUs: the number of each rank's program, and the groups of ranks that "
      "communicate, by division. `execute_all`: execute equal calls again. `detail`: all messages of NCCL (\"slice\"), "
      "one for each step of its rings (\"step\"), or one flow for each call (\"call\"). `multicast`: Allgathers "
      "between nodes are multicasts. `sms`: multiprocessors of a "
      "GPU, of which NCCL's channels take one each from computation. `slowdown`: factor of computation by rank; "
      "`noise`: standard deviation of the logarithm of a random one. `listed`: ranks whose operations are returned. "
      "`faults`, `traffic`: descriptions in JSON of what disturbs them. `progress` is called with the fraction of "
      "operations that have ended.");
}

} // namespace

void bind_workloads(py::module_& module)
{
  py::class_<Program>(module, "WorkloadProgram",
                      "Operations of a rank in streams. Each method adds one, which begins when those of `after` have "
                      "ended, and returns its number.")
      .def(
          py::init<bool>(), py::arg("in_order"),
          "`in_order`: operations of a stream follow each other as they were added; otherwise a stream takes the first "
          "one that waits for nothing.")
      .def(
          "compute",
          [](Program& program, std::uint32_t stream, double seconds, const After& after, const std::string& name) {
            return program.add_computation(stream, seconds, after, name);
          },
          py::arg("stream"), py::arg("seconds"), py::arg("after") = After(), py::arg("name") = "", "Add computation.")
      .def(
          "collective",
          [](Program& program, std::uint32_t stream, std::uint32_t kind, const std::string& collective, double size,
             const After& after, const std::string& name) {
            return program.add_collective(stream, kind, value_named<NcclCollective>("collective", collective), size,
                                          after, name);
          },
          py::arg("stream"), py::arg("kind"), py::arg("collective"), py::arg("size"), py::arg("after") = After(),
          py::arg("name") = "",
          "Add a collective of the rank's group in division `kind`. `size` in bytes: the vector, or all blocks of an "
          "Allgather, Reduce-Scatter or Alltoall.")
      .def(
          "send",
          [](Program& program, std::uint32_t stream, int peer, double size, int tag, const After& after,
             const std::string& name) { return program.add_send(stream, peer, size, tag, after, name); },
          py::arg("stream"), py::arg("peer"), py::arg("size"), py::arg("tag") = 0, py::arg("after") = After(),
          py::arg("name") = "", "Add a message of `size` bytes to the rank that has this one's number plus `peer`.")
      .def(
          "receive",
          [](Program& program, std::uint32_t stream, int peer, double size, int tag, const After& after,
             const std::string& name) { return program.add_receive(stream, peer, size, tag, after, name); },
          py::arg("stream"), py::arg("peer"), py::arg("size"), py::arg("tag") = 0, py::arg("after") = After(),
          py::arg("name") = "", "Add the receipt of a message from the rank that has this one's number plus `peer`.")
      .def("host_stream", &Program::set_host_stream, py::arg("stream"),
           "Make a stream one of the CPU: its computation is none of the GPU.")
      .def("__len__", &Program::size);
  bind_execution(module);
}

} // namespace weft::python
