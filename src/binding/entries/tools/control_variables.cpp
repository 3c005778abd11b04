// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/tools/control_variables.hpp"

#include "binding/entries/frame/current_run.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <xbt/config.hpp>

namespace weft {
namespace {

using simgrid::config::get_value;

ControlVariable::Value truth(bool value)
{
  return truth_values().value_of(value ? "yes" : "no");
}

OffloadMode mode_of_job()
{
  const RunContext& run = current_run();
  return run.selector.mode_of(run.jobs.world_of_current_rank());
}

std::string fallback_of_job()
{
  const Job* const job = current_run().jobs.of(current_actor());
  return job && not job->fallback_text.empty() ? job->fallback_text : settings().fallback;
}

std::string tunings_off_text()
{
  std::string text;
  for (const std::string& name : tunings_off())
    text += (text.empty() ? "" : ",") + name;
  return text;
}

std::vector<ControlVariable> make_control_variables()
{
  using Value = ControlVariable::Value;
  return {
      {"offload", "Mechanism that executes collectives in the network",
       [] { return Value(offload_modes().value_of(to_text(mode_of_job()))); }, &offload_modes()},
      {"fallback", "Algorithms of collectives that the hosts execute; empty: those of the default MPI library",
       [] { return Value(fallback_of_job()); }},
      {"messages", "Transport of point-to-point messages",
       [] { return Value(transports().value_of(current_run().record.messages)); }, &transports()},
      {"contention", "Whether messages share the capacity of links", [] { return truth(settings().contention); },
       &truth_values()},
      {"fabric", "Name of the simulated fabric", [] { return Value(current_run().fabric.name()); }},
      {"topology", "Kind of the fabric's topology",
       [] { return Value(std::string(current_run().fabric.topology_kind())); }},
      {"hosts", "Hosts of the fabric", [] { return Value(static_cast<int>(current_run().fabric.host_count())); }},
      {"switches", "Switches of the fabric",
       [] { return Value(static_cast<int>(current_run().fabric.switch_count())); }},
      {"eager_limit", "Bytes below which a message leaves before its receive is posted",
       [] { return Value(get_value<int>("smpi/async-small-thresh")); }},
      {"buffered_limit", "Bytes below which MPI_Send returns before its receive is posted",
       [] { return Value(get_value<int>("smpi/send-is-detached-thresh")); }},
      {"simulate_computation", "Whether computation of the program takes simulated time",
       [] { return truth(get_value<bool>("smpi/simulate-computation")); }, &truth_values()},
      {"tunings_off", "Optimisations of the simulator that are off, separated by commas",
       [] { return Value(tunings_off_text()); }},
  };
}

MPI_Datatype type_of_value(const ControlVariable::Value& value)
{
  if (std::holds_alternative<int>(value))
    return MPI_INT;
  return std::holds_alternative<double>(value) ? MPI_DOUBLE : MPI_CHAR;
}

int read_value(const ControlVariable::Value& value, void* buffer)
{
  if (not buffer)
    return MPI_T_ERR_INVALID;
  if (const auto* text = std::get_if<std::string>(&value))
    std::memcpy(buffer, text->c_str(), text->size() + 1);
  else if (const auto* number = std::get_if<int>(&value))
    *static_cast<int*>(buffer) = *number;
  else
    *static_cast<double*>(buffer) = std::get<double>(value);
  return MPI_SUCCESS;
}

} // namespace

const std::vector<ControlVariable>& control_variables()
{
  static const auto& all = *new std::vector<ControlVariable>(make_control_variables());
  return all;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(cvar_get_num, (int* num_cvar))
{
  return for_tools([&]() -> int {
    if (not num_cvar)
      return MPI_T_ERR_INVALID;
    *num_cvar = static_cast<int>(control_variables().size());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(cvar_get_info, (int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                                   MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope))
{
  return for_tools([&]() -> int {
    if (not has_index(control_variables(), cvar_index))
      return MPI_T_ERR_INVALID_INDEX;
    const ControlVariable& its = control_variables()[static_cast<std::size_t>(cvar_index)];
    set_text(name, name_len, its.name);
    set_text(desc, desc_len, its.description);
    set_output<int>(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    set_output(datatype, type_of_value(its.value()));
    set_output(enumtype, its.enumeration ? its.enumeration->handle() : MPI_T_ENUM_NULL);
    set_output<int>(bind, MPI_T_BIND_NO_OBJECT);
    set_output<int>(scope, MPI_T_SCOPE_CONSTANT);
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(cvar_get_index, (const char* name, int* cvar_index))
{
  return for_tools([&]() -> int {
    if (not name || not cvar_index)
      return MPI_T_ERR_INVALID;
    const auto found = std::ranges::find(control_variables(), std::string_view(name), &ControlVariable::name);
    if (found == control_variables().end())
      return MPI_T_ERR_INVALID_NAME;
    *cvar_index = static_cast<int>(found - control_variables().begin());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(cvar_handle_alloc, (int cvar_index, void* /*obj_handle*/, MPI_T_cvar_handle* handle, int* count))
{
  return for_tools([&]() -> int {
    if (not has_index(control_variables(), cvar_index))
      return MPI_T_ERR_INVALID_INDEX;
    if (not handle)
      return MPI_T_ERR_INVALID;
    const ControlVariable& its        = control_variables()[static_cast<std::size_t>(cvar_index)];
    const OpenedControl* const opened = ToolUse::of_this_rank().opened.add<OpenedControl>(its.value());
    const auto* text                  = std::get_if<std::string>(&opened->value);
    set_output(count, text ? static_cast<int>(text->size()) + 1 : 1);
    *handle = reinterpret_cast<MPI_T_cvar_handle>(const_cast<OpenedControl*>(opened));
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(cvar_handle_free, (MPI_T_cvar_handle * handle))
{
  return for_tools([&]() -> int {
    ToolUse& use                   = ToolUse::of_this_rank();
    const OpenedControl* const its = handle ? use.opened.find<OpenedControl>(*handle) : nullptr;
    if (not its)
      return MPI_T_ERR_INVALID_HANDLE;
    use.opened.remove(its);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(cvar_read, (MPI_T_cvar_handle handle, void* buf))
{
  return for_tools([&]() -> int {
    const OpenedControl* const its = ToolUse::of_this_rank().opened.find<OpenedControl>(handle);
    return its ? read_value(its->value, buf) : MPI_T_ERR_INVALID_HANDLE;
  });
}

WEFT_TOOL_FUNCTION(cvar_write, (MPI_T_cvar_handle handle, const void* /*buf*/))
{
  return for_tools([&]() -> int {
    return ToolUse::of_this_rank().opened.find<OpenedControl>(handle) ? MPI_T_ERR_CVAR_SET_NEVER
                                                                      : MPI_T_ERR_INVALID_HANDLE;
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
