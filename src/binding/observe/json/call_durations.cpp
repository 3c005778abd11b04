// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/json/call_durations.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

namespace weft {
namespace {

template <class T> void write_binary(const std::vector<T>& values, std::ostream& file)
{
  const auto bytes = std::as_bytes(std::span(values));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): streams take characters
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

} // namespace

void CallDurations::write(const std::function<std::string(int world)>& job_name, std::ostream& file) const
{
  for (const auto& [kind, calls] : kinds_) {
    const nlohmann::json head = {
        {"job", job_name(kind.world)}, {"collective", kind.collective}, {"communicator_size", kind.communicator_size},
        {"datatype", kind.datatype},   {"op", kind.operation},          {"calls", calls.ranks.size()}};
    file << head.dump() << '\n';
    write_binary(calls.ranks, file);
    write_binary(calls.durations, file);
  }
}

} // namespace weft
