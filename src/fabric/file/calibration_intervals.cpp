// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/file/calibration_intervals.hpp"

#include "fabric/file/fabric_schema.hpp"

#include <map>

namespace weft {
namespace {

using Parse = double (*)(std::string_view);

template <class Q> double value_of(std::string_view text)
{
  return parse<Q>(text).value();
}

/** Returns the parser of each value type that can have an interval. */
const std::map<std::string, Parse>& parsers()
{
  static const std::map<std::string, Parse> PARSERS{{"size", value_of<Bytes>},
                                                    {"duration", value_of<Seconds>},
                                                    {"bandwidth", value_of<BytesPerSecond>},
                                                    {"speed", value_of<FlopsPerSecond>},
                                                    {"frequency", value_of<Hertz>}};
  return PARSERS;
}

void check_interval(const OptionTable& table, const std::string& key, Parse parse)
{
  const std::vector<std::string> ends = table.texts(key).value();
  if (ends.size() != 2)
    table.fail(key, "found " + table.found(key) + R"(; allowed: two values, as ["1.9GBps", "2.4GBps"])");
  double low = 0;
  for (const std::string& text : ends) {
    double value = 0;
    try {
      value = parse(text);
    } catch (const UnitError& error) {
      table.fail(key, error.what());
    }
    if (value < low)
      table.fail(key, "found " + table.found(key) + "; allowed: the lower value first, zero or more");
    low = value;
  }
}

} // namespace

void check_calibration_intervals(const OptionTable& file)
{
  const OptionTable calibration = file.table("calibration");
  static const std::vector<std::string> PARTS{"intervals"};
  calibration.allow_only(PARTS);
  const OptionTable intervals = calibration.table("intervals");
  std::vector<std::string> known;
  for (const TableHelp& table : fabric_schema()) {
    if (table.table.starts_with("topology"))
      continue;
    for (const OptionHelp& option : table.options) {
      const auto parser = parsers().find(option.type);
      if (parser == parsers().end())
        continue;
      known.push_back(table.table + "." + option.key);
      if (intervals.has(known.back()))
        check_interval(intervals, known.back(), parser->second);
    }
  }
  intervals.allow_only(known);
}

} // namespace weft
