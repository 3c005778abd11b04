// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/tools/performance_variables.hpp"

#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"
#include "trace/calls.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace weft {
namespace {

constexpr std::array FUNCTION_NAMES{
#define WEFT_CALL(name, ...) std::string_view("MPI_" #name),
    WEFT_TRACED_CALLS(WEFT_CALL) WEFT_UNTRACED_CALLS(WEFT_CALL)
#undef WEFT_CALL
};

/** Properties of one counted quantity. */
struct CountedQuantity {
  CountedWhat what;
  const char* name;
  const char* meaning;
};
constexpr std::array QUANTITIES{
    CountedQuantity{CountedWhat::calls, "calls", "Calls"},
    CountedQuantity{CountedWhat::bytes, "bytes", "Bytes that the rank gives, or gets if it only gets, in calls"},
    CountedQuantity{CountedWhat::offloaded, "offloaded", "Calls that the network executed, among those"},
    CountedQuantity{CountedWhat::time, "time", "Simulated seconds in calls"},
    CountedQuantity{CountedWhat::longest, "longest", "Simulated seconds of the longest of calls"},
};

class VariableTable {
  std::vector<PerformanceVariable> all_;

public:
  void add(const PerformanceVariable& what, const std::string& calls, bool collectives)
  {
    for (const CountedQuantity& quantity : QUANTITIES) {
      if (not collectives && (quantity.what == CountedWhat::bytes || quantity.what == CountedWhat::offloaded))
        continue;
      PerformanceVariable variable = what;
      variable.name += std::string("_") + quantity.name;
      variable.description = std::string(quantity.meaning) + " " + calls;
      variable.what        = quantity.what;
      all_.push_back(std::move(variable));
    }
  }
  void add_clock()
  {
    all_.push_back({.name        = "simulated_time",
                    .description = "Simulated seconds since the start of the run",
                    .of          = CountedOf::run,
                    .what        = CountedWhat::time});
  }
  std::vector<PerformanceVariable> take() { return std::move(all_); }
};

PerformanceVariable variable_of(std::string name, CountedOf of)
{
  return {.name = std::move(name), .description = "", .of = of, .what = CountedWhat::calls};
}

std::vector<PerformanceVariable> make_variables()
{
  VariableTable table;
  for (const std::string_view name : FUNCTION_NAMES) {
    PerformanceVariable its = variable_of(std::string(name), CountedOf::function);
    its.function            = name;
    table.add(its, "to " + its.function, false);
  }
  for (std::size_t kind = 0; kind < CALL_KINDS; ++kind) {
    const std::string named = KIND_NAMES.at(kind);
    PerformanceVariable its = variable_of(named, CountedOf::kind);
    std::ranges::replace(its.name, '-', '_');
    std::ranges::replace(its.name, '/', '_');
    its.row = kind;
    table.add(its, "of the kind " + named, false);
  }
  for (std::size_t row = 0; row < COLLECTIVE_KINDS.size(); ++row) {
    const std::string named(COLLECTIVE_KINDS.at(row).name);
    PerformanceVariable its = variable_of(named, CountedOf::collective);
    its.row                 = row;
    table.add(its, "of " + named + ", blocking or not, until their end", true);
  }
  table.add(variable_of("communicator", CountedOf::communicator), "of collectives on the communicator", true);
  table.add_clock();
  return table.take();
}

} // namespace

int PerformanceVariable::variable_class() const
{
  if (what == CountedWhat::longest)
    return MPI_T_PVAR_CLASS_HIGHWATERMARK;
  return what == CountedWhat::time ? MPI_T_PVAR_CLASS_TIMER : MPI_T_PVAR_CLASS_COUNTER;
}

CallCounters& PerformanceVariable::counters(MPI_Comm comm) const
{
  RankCounters& its = RankCounters::of(current_actor());
  switch (of) {
    case CountedOf::function:
      return its.functions[function];
    case CountedOf::kind:
      return its.kinds.at(row);
    case CountedOf::collective:
      return its.collectives.at(row);
    default:
      return its.communicators[number_of(comm)];
  }
}

const std::vector<PerformanceVariable>& performance_variables()
{
  static const auto& all = *new std::vector<PerformanceVariable>(make_variables());
  return all;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(pvar_get_num, (int* num_pvar))
{
  return for_tools([&]() -> int {
    if (not num_pvar)
      return MPI_T_ERR_INVALID;
    *num_pvar = static_cast<int>(performance_variables().size());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(pvar_get_info, (int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                                   MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                                   int* readonly, int* continuous, int* atomic))
{
  return for_tools([&]() -> int {
    if (not has_index(performance_variables(), pvar_index))
      return MPI_T_ERR_INVALID_INDEX;
    const PerformanceVariable& its = performance_variables()[static_cast<std::size_t>(pvar_index)];
    set_text(name, name_len, its.name);
    set_text(desc, desc_len, its.description);
    set_output<int>(verbosity,
                    its.of == CountedOf::function ? MPI_T_VERBOSITY_USER_DETAIL : MPI_T_VERBOSITY_USER_BASIC);
    set_output(var_class, its.variable_class());
    set_output(datatype, its.type());
    set_output(enumtype, MPI_T_ENUM_NULL);
    set_output(bind, its.bind());
    set_output(readonly, its.continuous() ? 1 : 0);
    set_output(continuous, its.continuous() ? 1 : 0);
    set_output(atomic, its.continuous() ? 0 : 1);
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(pvar_get_index, (const char* name, int var_class, int* pvar_index))
{
  return for_tools([&]() -> int {
    if (not name || not pvar_index)
      return MPI_T_ERR_INVALID;
    const auto& all  = performance_variables();
    const auto found = std::ranges::find_if(
        all, [&](const PerformanceVariable& one) { return one.name == name && one.variable_class() == var_class; });
    if (found == all.end())
      return MPI_T_ERR_INVALID_NAME;
    *pvar_index = static_cast<int>(found - all.begin());
    return MPI_SUCCESS;
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
