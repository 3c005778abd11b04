// SPDX-License-Identifier: LGPL-2.1-only
/* Use of the tool information interface by each rank, and the common parts of its functions: they return MPI_T error
 * codes, call no error handler and take no simulated time. */
#pragma once

#include "binding/abi/original.hpp"

#include <smpi/smpi.h>
#include <weft_mpi_t.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <typeindex>
#include <utility>

/** Begins the definition of PMPI_T_@p name, whose alias is MPI_T_@p name. */
#define WEFT_TOOL_FUNCTION(name, parameters)                                                                           \
  WEFT_INTERPOSED int PMPI_T_##name parameters;                                                                        \
  WEFT_INTERPOSED int MPI_T_##name parameters __attribute__((alias("PMPI_T_" #name)));                                 \
  int PMPI_T_##name parameters

namespace weft {

/** Objects that a rank has created, whose addresses the program holds. */
class OpenedObjects {
  struct Opened {
    std::type_index type;
    std::shared_ptr<void> object;
  };
  std::map<const void*, Opened> all_;

public:
  template <class Object, class... Arguments> Object* add(Arguments&&... arguments)
  {
    auto made           = std::make_shared<Object>(std::forward<Arguments>(arguments)...);
    Object* const where = made.get();
    all_.insert_or_assign(where, Opened{typeid(Object), std::move(made)});
    return where;
  }
  /** Returns the object at the address that the program passes; null if there is none of that type. */
  template <class Object> Object* find(const void* address) const
  {
    const auto found = all_.find(address);
    return found != all_.end() && found->second.type == typeid(Object)
               ? static_cast<Object*>(found->second.object.get())
               : nullptr;
  }
  void remove(const void* address) { all_.erase(address); }
  void clear() { all_.clear(); }
  template <class Object, class Act> void for_each(Act&& act) const
  {
    for (const auto& [address, opened] : all_)
      if (opened.type == typeid(Object))
        act(*static_cast<Object*>(opened.object.get()));
  }
};

/** Sessions and handles that one rank has opened. */
struct ToolUse {
  int users = 0; ///< calls of MPI_T_init_thread without a matching MPI_T_finalize
  OpenedObjects opened;

  static ToolUse& of_this_rank();
};

/** Returns the result of @p execute if the interface is initialized. */
template <class Execute> int for_tools(Execute&& execute)
{
  return ToolUse::of_this_rank().users > 0 ? execute() : MPI_T_ERR_NOT_INITIALIZED;
}

/** Sets an optional output. */
template <class Value> void set_output(Value* output, Value value)
{
  if (output)
    *output = value;
}

/** Copies a text, truncated to *@p length characters including the NUL, and sets *@p length to the required length. */
void set_text(char* text, int* length, std::string_view value);

/** Copies as many numbers as fit. */
int set_numbers(std::span<const int> numbers, int length, int* found);

/** Returns whether there is an element with index @p index. */
template <class All> bool has_index(const All& all, int index)
{
  return index >= 0 && static_cast<std::size_t>(index) < all.size();
}

} // namespace weft
