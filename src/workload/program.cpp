// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/program.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace weft {

WorkNumber Program::add(Work work, std::span<const WorkNumber> after, const std::string& name)
{
  const auto number = static_cast<WorkNumber>(works_.size());
  if (not(work.amount >= 0) || std::isinf(work.amount))
    throw UserError("operation " + std::to_string(number) + (name.empty() ? "" : " \"" + name + "\"") + ": found " +
                    std::to_string(work.amount) + (work.kind == WorkKind::compute ? " seconds" : " bytes") +
                    "; allowed: 0 or more");
  const auto [place, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new)
    names_.push_back(name);
  work.name = place->second;
  streams_  = std::max(streams_, work.stream + 1);
  works_.push_back(work);
  after_.insert(after_.end(), after.begin(), after.end());
  first_after_.push_back(static_cast<std::uint32_t>(after_.size()));
  return number;
}

WorkNumber Program::add_computation(std::uint32_t stream, double seconds, std::span<const WorkNumber> after,
                                    const std::string& name)
{
  return add({.kind = WorkKind::compute, .stream = stream, .amount = seconds}, after, name);
}

WorkNumber Program::add_collective(std::uint32_t stream, std::uint32_t groups, NcclCollective collective, double bytes,
                                   std::span<const WorkNumber> after, const std::string& name)
{
  return add(
      {.kind = WorkKind::collective, .collective = collective, .stream = stream, .groups = groups, .amount = bytes},
      after, name);
}

WorkNumber Program::add_send(std::uint32_t stream, int peer, double bytes, int tag, std::span<const WorkNumber> after,
                             const std::string& name)
{
  return add({.kind = WorkKind::send, .stream = stream, .peer = peer, .tag = tag, .amount = bytes}, after, name);
}

WorkNumber Program::add_receive(std::uint32_t stream, int peer, double bytes, int tag,
                                std::span<const WorkNumber> after, const std::string& name)
{
  return add({.kind = WorkKind::receive, .stream = stream, .peer = peer, .tag = tag, .amount = bytes}, after, name);
}

void Program::set_host_stream(std::uint32_t stream)
{
  if (on_host_.size() <= stream)
    on_host_.resize(stream + 1);
  on_host_[stream] = true;
}

void Program::check() const
{
  for (WorkNumber number = 0; number < size(); ++number)
    for (const WorkNumber before : after(number))
      if (before >= size() || before == number || (in_order_ && before > number))
        throw UserError("operation " + std::to_string(number) + " \"" + name(number) + "\" waits for operation " +
                        std::to_string(before) + (before < size() ? ", which is not before it" : ", which is missing"));
}

GroupDivision::GroupDivision(std::string name, std::vector<std::vector<int>> members, int ranks)
    : name_(std::move(name)), members_(std::move(members)), group_(static_cast<std::size_t>(ranks), NO_GROUP),
      place_(static_cast<std::size_t>(ranks), 0)
{
  for (std::size_t group = 0; group < members_.size(); ++group)
    for (std::size_t place = 0; place < members_[group].size(); ++place) {
      const int rank = members_[group][place];
      if (rank < 0 || rank >= ranks)
        throw UserError("groups \"" + name_ + "\": found rank " + std::to_string(rank) + "; there are " +
                        std::to_string(ranks) + " ranks");
      const auto at = static_cast<std::size_t>(rank);
      if (group_[at] != NO_GROUP)
        throw UserError("groups \"" + name_ + "\": rank " + std::to_string(rank) +
                        " is in two groups, or twice in one");
      group_[at] = static_cast<int>(group);
      place_[at] = static_cast<int>(place);
    }
}

namespace {

/** Returns the operations for which ranks may lack a partner: the first one on each division, and with each peer. */
std::vector<WorkNumber> with_partners(const Program& program)
{
  std::set<std::uint32_t> divisions;
  std::set<int> peers;
  std::vector<WorkNumber> all;
  for (WorkNumber number = 0; number < program.size(); ++number) {
    const Work& work = program[number];
    if (work.kind == WorkKind::compute)
      continue;
    if (work.kind == WorkKind::collective ? divisions.insert(work.groups).second : peers.insert(work.peer).second)
      all.push_back(number);
  }
  return all;
}

void check_partners(const Workload& workload, int rank, WorkNumber number)
{
  const Work& work = workload.program(rank)[number];
  const auto fail  = [&](const std::string& what) { throw UserError(describe(workload, rank, number) + ": " + what); };
  if (work.kind != WorkKind::collective) {
    if (work.peer == 0)
      fail("the rank cannot exchange messages with itself");
    if (rank + work.peer < 0 || rank + work.peer >= workload.ranks())
      fail("there is no rank " + std::to_string(rank + work.peer) + "; there are " + std::to_string(workload.ranks()));
    return;
  }
  if (work.groups >= workload.divisions.size())
    fail("found division " + std::to_string(work.groups) + "; there are " + std::to_string(workload.divisions.size()));
  if (workload.divisions[work.groups].group_of(rank) == GroupDivision::NO_GROUP)
    fail("the rank is in no group \"" + workload.divisions[work.groups].name() + "\"");
}

} // namespace

void check(const Workload& workload)
{
  if (workload.ranks() == 0)
    throw UserError("there are no ranks");
  for (const int program : workload.program_of)
    if (program < 0 || std::cmp_greater_equal(program, workload.programs.size()))
      throw UserError("found program " + std::to_string(program) + " of a rank; there are " +
                      std::to_string(workload.programs.size()));
  std::vector<std::vector<WorkNumber>> partners;
  for (const Program& program : workload.programs) {
    program.check();
    partners.push_back(with_partners(program));
  }
  for (int rank = 0; rank < workload.ranks(); ++rank)
    for (const WorkNumber number :
         partners[static_cast<std::size_t>(workload.program_of[static_cast<std::size_t>(rank)])])
      check_partners(workload, rank, number);
}

std::vector<std::string> kinds_of(const Workload& workload)
{
  std::vector<std::string> kinds;
  kinds.reserve(workload.divisions.size() + 1);
  for (const GroupDivision& division : workload.divisions)
    kinds.push_back(division.name());
  kinds.emplace_back("messages");
  return kinds;
}

std::string describe(const Workload& workload, int rank, WorkNumber number)
{
  const Program& program = workload.program(rank);
  const Work& work       = program[number];
  std::string text       = "rank " + std::to_string(rank) + ", operation " + std::to_string(number);
  if (not program.name(number).empty())
    text += " \"" + on_one_line(program.name(number)) + "\"";
  text.append(" (").append(to_text(work.kind));
  if (work.kind == WorkKind::collective)
    text.append(" ").append(to_text(work.collective));
  return text + ")";
}

} // namespace weft
