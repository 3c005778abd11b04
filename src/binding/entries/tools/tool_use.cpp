// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/tools/tool_use.hpp"

#include "binding/observe/profile.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <map>

namespace weft {

ToolUse& ToolUse::of_this_rank()
{
  static auto& all = *new std::map<aid_t, ToolUse>; // leaked, since ranks may end during static destruction
  return all[current_actor()];
}

void set_text(char* text, int* length, std::string_view value)
{
  if (not length)
    return;
  if (text && *length > 0)
    text[value.copy(text, static_cast<std::size_t>(*length) - 1)] = '\0';
  *length = static_cast<int>(value.size()) + 1;
}

int set_numbers(std::span<const int> numbers, int length, int* found)
{
  if (length < 0 || (length > 0 && not found))
    return MPI_T_ERR_INVALID;
  std::ranges::copy(numbers.first(std::min(numbers.size(), static_cast<std::size_t>(length))), found);
  return MPI_SUCCESS;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(init_thread, (int required, int* provided))
{
  if (not Profile::get().knows(current_actor()))
    return MPI_T_ERR_CANNOT_INIT;
  ToolUse::of_this_rank().users += 1;
  // MPI_Init_thread decides about threads that call concurrently.
  set_output<int>(provided, provide_threads(std::min(required, static_cast<int>(MPI_THREAD_SERIALIZED))));
  return MPI_SUCCESS;
}

WEFT_TOOL_FUNCTION(finalize, ())
{
  return for_tools([]() -> int {
    ToolUse& use = ToolUse::of_this_rank();
    if (--use.users == 0)
      use.opened.clear();
    return MPI_SUCCESS;
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
