/* SimGrid's settings that weft chooses where the user has not. */
#pragma once

#include <xbt/config.hpp>

namespace weft {

template <class T> void set_unless_chosen(const char* option, T value)
{
  if (simgrid::config::is_default(option))
    simgrid::config::set_value<T>(option, value);
}

} // namespace weft
