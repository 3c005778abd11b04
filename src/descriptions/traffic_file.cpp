// SPDX-License-Identifier: LGPL-2.1-only
#include "descriptions/traffic_file.hpp"

#include "base/error.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft {
namespace {

using TrafficJson = nlohmann::json;

TrafficPattern pattern_of(const std::string& name)
{
  static const std::map<std::string, TrafficPattern> PATTERNS{{"uniform", TrafficPattern::uniform},
                                                              {"permutation", TrafficPattern::permutation},
                                                              {"incast", TrafficPattern::incast},
                                                              {"hot-spot", TrafficPattern::hot_spot}};
  return PATTERNS.at(name);
}

GoalOperation::Kind kind_of(const std::string& name)
{
  static const std::map<std::string, GoalOperation::Kind> OPERATIONS{{"send", GoalOperation::Kind::send},
                                                                     {"recv", GoalOperation::Kind::receive},
                                                                     {"calc", GoalOperation::Kind::compute}};
  return OPERATIONS.at(name);
}

/** Reads [kind, bytes or nanoseconds, peer, tag, cpu, required, started]. */
GoalOperation operation_of(const TrafficJson& its)
{
  constexpr double NANOSECOND = 1e-9;
  GoalOperation operation;
  operation.kind = kind_of(its.at(0));
  if (operation.kind == GoalOperation::Kind::compute)
    operation.time = Seconds(its.at(1).get<double>() * NANOSECOND);
  else
    operation.bytes = Bytes(its.at(1));
  operation.peer         = its.at(2);
  operation.tag          = its.at(3);
  operation.cpu          = its.at(4);
  operation.after_ends   = its.at(5).get<std::vector<int>>();
  operation.after_starts = its.at(6).get<std::vector<int>>();
  return operation;
}

TrafficTable table_of(const TrafficJson& its)
{
  TrafficTable table;
  table.name       = its.at("name");
  table.pattern    = its.at("pattern");
  table.start      = Seconds(its.at("start_s"));
  table.weight     = its.at("weight");
  table.load.hosts = its.at("hosts").get<std::vector<VertexId>>();
  if (not its.at("end_s").is_null())
    table.end = Seconds(its.at("end_s"));
  if (table.pattern == "goal") {
    table.repeat = its.at("repeat");
    for (const TrafficJson& rank : its.at("schedule")) {
      table.goal.emplace_back();
      for (const TrafficJson& operation : rank)
        table.goal.back().push_back(operation_of(operation));
    }
    return table;
  }
  table.load.pattern = pattern_of(table.pattern);
  table.load.targets = its.at("targets").get<std::vector<VertexId>>();
  table.load.bytes   = Bytes(its.at("bytes"));
  table.load.hot     = its.at("hot");
  table.load.seed    = its.at("seed");
  table.share        = its.at("load");
  table.window       = its.at("window");
  return table;
}

} // namespace

std::vector<TrafficTable> parse_traffic(const std::string& text, const std::string& source)
{
  try {
    std::vector<TrafficTable> tables;
    for (const TrafficJson& one : TrafficJson::parse(text))
      tables.push_back(table_of(one));
    return tables;
  } catch (const std::exception& error) {
    throw UserError(source + " is no description of traffic: " + error.what());
  }
}

std::vector<TrafficTable> read_traffic(const std::string& path)
{
  std::ifstream file(path);
  return parse_traffic({std::istreambuf_iterator<char>(file), {}}, "WEFT_TRAFFIC: " + path);
}

} // namespace weft
