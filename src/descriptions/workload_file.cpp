// SPDX-License-Identifier: LGPL-2.1-only
#include "descriptions/workload_file.hpp"

#include "base/error.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

namespace weft {
namespace {

using WorkloadJson = nlohmann::json;

/** Returns {in_order, host_streams, names, works}. Works are a flat list, since traces have millions: kind, stream,
 * groups, collective, peer, tag, amount, name, the number of works for which it waits, and these works. */
WorkloadJson json_of(const Program& program)
{
  WorkloadJson host_streams = WorkloadJson::array();
  for (std::uint32_t stream = 0; stream < program.streams(); ++stream)
    if (program.is_on_host(stream))
      host_streams.push_back(stream);
  WorkloadJson works = WorkloadJson::array();
  std::vector<std::string> names;
  for (WorkNumber number = 0; number < program.size(); ++number) {
    const Work& work = program[number];
    if (work.name >= names.size())
      names.resize(work.name + 1);
    names[work.name] = program.name(number);
    works.push_back(static_cast<int>(work.kind));
    works.push_back(work.stream);
    works.push_back(work.groups);
    works.push_back(static_cast<int>(work.collective));
    works.push_back(work.peer);
    works.push_back(work.tag);
    works.push_back(work.amount);
    works.push_back(work.name);
    works.push_back(program.after(number).size());
    for (const WorkNumber other : program.after(number))
      works.push_back(other);
  }
  return {{"in_order", program.in_order()},
          {"host_streams", std::move(host_streams)},
          {"names", std::move(names)},
          {"works", std::move(works)}};
}

Program program_of_json(const WorkloadJson& its)
{
  Program program(its.at("in_order").get<bool>());
  const auto names          = its.at("names").get<std::vector<std::string>>();
  const WorkloadJson& works = its.at("works");
  std::size_t at            = 0;
  const auto next           = [&works, &at]() -> const WorkloadJson& { return works.at(at++); };
  std::vector<WorkNumber> after;
  while (at < works.size()) {
    const auto kind         = static_cast<WorkKind>(next().get<int>());
    const auto stream       = next().get<std::uint32_t>();
    const auto groups       = next().get<std::uint32_t>();
    const auto collective   = static_cast<NcclCollective>(next().get<int>());
    const int peer          = next();
    const int tag           = next();
    const double amount     = next();
    const std::string& name = names.at(next().get<std::size_t>());
    after.resize(next().get<std::size_t>());
    for (WorkNumber& other : after)
      other = next();
    switch (kind) {
      case WorkKind::compute:
        program.add_computation(stream, amount, after, name);
        break;
      case WorkKind::collective:
        program.add_collective(stream, groups, collective, amount, after, name);
        break;
      case WorkKind::send:
        program.add_send(stream, peer, amount, tag, after, name);
        break;
      case WorkKind::receive:
        program.add_receive(stream, peer, amount, tag, after, name);
        break;
    }
  }
  for (const WorkloadJson& stream : its.at("host_streams"))
    program.set_host_stream(stream);
  return program;
}

} // namespace

std::string describe(const Workload& workload)
{
  WorkloadJson programs = WorkloadJson::array();
  for (const Program& program : workload.programs)
    programs.push_back(json_of(program));
  WorkloadJson divisions = WorkloadJson::array();
  for (const GroupDivision& division : workload.divisions) {
    WorkloadJson groups = WorkloadJson::array();
    for (int group = 0; group < division.number(); ++group)
      groups.push_back(division.members(group));
    divisions.push_back({{"name", division.name()}, {"groups", std::move(groups)}});
  }
  return WorkloadJson{
      {"programs", std::move(programs)}, {"program_of", workload.program_of}, {"divisions", std::move(divisions)}}
      .dump();
}

Workload read_workload(const std::string& path)
{
  std::ifstream file(path);
  try {
    const WorkloadJson all = WorkloadJson::parse(file);
    Workload workload;
    for (const WorkloadJson& one : all.at("programs"))
      workload.programs.push_back(program_of_json(one));
    workload.program_of = all.at("program_of").get<std::vector<int>>();
    for (const WorkloadJson& one : all.at("divisions"))
      workload.divisions.emplace_back(one.at("name"), one.at("groups").get<std::vector<std::vector<int>>>(),
                                      workload.ranks());
    return workload;
  } catch (const WorkloadJson::exception& error) {
    throw UserError(path + " is no description of a workload: " + error.what());
  }
}

} // namespace weft
