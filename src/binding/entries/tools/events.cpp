// SPDX-License-Identifier: LGPL-2.1-only
/* Events of the tool information interface: there are none, nor any sources, so every index, handle and instance is
 * invalid. */
#include "binding/entries/tools/tool_use.hpp"

namespace weft {
namespace {

int set_none(int* number)
{
  return for_tools([&]() -> int {
    if (not number)
      return MPI_T_ERR_INVALID;
    *number = 0;
    return MPI_SUCCESS;
  });
}

int refuse_index()
{
  return for_tools([]() -> int { return MPI_T_ERR_INVALID_INDEX; });
}

int refuse_handle()
{
  return for_tools([]() -> int { return MPI_T_ERR_INVALID_HANDLE; });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(source_get_num, (int* num_sources))
{
  return set_none(num_sources);
}

WEFT_TOOL_FUNCTION(source_get_info, (int /*source_index*/, char* /*name*/, int* /*name_len*/, char* /*desc*/,
                                     int* /*desc_len*/, MPI_T_source_order* /*ordering*/,
                                     MPI_Count* /*ticks_per_second*/, MPI_Count* /*max_ticks*/, MPI_Info* /*info*/))
{
  return refuse_index();
}

WEFT_TOOL_FUNCTION(source_get_timestamp, (int /*source_index*/, MPI_Count* /*timestamp*/))
{
  return refuse_index();
}

WEFT_TOOL_FUNCTION(event_get_num, (int* num_events))
{
  return set_none(num_events);
}

WEFT_TOOL_FUNCTION(event_get_info,
                   (int /*event_index*/, char* /*name*/, int* /*name_len*/, int* /*verbosity*/,
                    MPI_Datatype /*array_of_datatypes*/[], MPI_Aint /*array_of_displacements*/[], int* /*num_elements*/,
                    MPI_T_enum* /*enumtype*/, MPI_Info* /*info*/, char* /*desc*/, int* /*desc_len*/, int* /*bind*/))
{
  return refuse_index();
}

WEFT_TOOL_FUNCTION(event_get_index, (const char* /*name*/, int* /*event_index*/))
{
  return for_tools([]() -> int { return MPI_T_ERR_INVALID_NAME; });
}

WEFT_TOOL_FUNCTION(event_handle_alloc, (int /*event_index*/, void* /*obj_handle*/, MPI_Info /*info*/,
                                        MPI_T_event_registration* /*event_registration*/))
{
  return refuse_index();
}

WEFT_TOOL_FUNCTION(event_handle_set_info, (MPI_T_event_registration /*event_registration*/, MPI_Info /*info*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_handle_get_info, (MPI_T_event_registration /*event_registration*/, MPI_Info* /*info_used*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_register_callback,
                   (MPI_T_event_registration /*event_registration*/, MPI_T_cb_safety /*cb_safety*/, MPI_Info /*info*/,
                    void* /*user_data*/, MPI_T_event_cb_function* /*event_cb_function*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_callback_set_info,
                   (MPI_T_event_registration /*event_registration*/, MPI_T_cb_safety /*cb_safety*/, MPI_Info /*info*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_callback_get_info, (MPI_T_event_registration /*event_registration*/,
                                             MPI_T_cb_safety /*cb_safety*/, MPI_Info* /*info_used*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_handle_free, (MPI_T_event_registration /*event_registration*/, void* /*user_data*/,
                                       MPI_T_event_free_cb_function* /*free_cb_function*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_set_dropped_handler, (MPI_T_event_registration /*event_registration*/,
                                               MPI_T_event_dropped_cb_function* /*dropped_cb_function*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_read, (MPI_T_event_instance /*event_instance*/, int /*element_index*/, void* /*buffer*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_copy, (MPI_T_event_instance /*event_instance*/, void* /*buffer*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_get_timestamp, (MPI_T_event_instance /*event_instance*/, MPI_Count* /*event_timestamp*/))
{
  return refuse_handle();
}

WEFT_TOOL_FUNCTION(event_get_source, (MPI_T_event_instance /*event_instance*/, int* /*source_index*/))
{
  return refuse_handle();
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
