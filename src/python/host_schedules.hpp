#pragma once

#include <pybind11/pybind11.h>

namespace weft {

void bind_host_schedules(pybind11::module_& module);

} // namespace weft
