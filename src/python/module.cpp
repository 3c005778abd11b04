// SPDX-License-Identifier: LGPL-2.1-only
/* weft._core: the pure parts of weft for Python. Knows nothing of SimGrid but where it was found. */
#include "base/error.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace {

using KindText = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

std::map<std::string, KindText> row_kinds()
{
  std::map<std::string, KindText> kinds;
  for (const weft::python::KindOfRow& kind : weft::python::row_kinds())
    kinds[kind.name] = {kind.meaning, kind.fields};
  return kinds;
}

} // namespace

PYBIND11_MODULE(_core, module)
{
  module.doc()                   = "The pure parts of weft: fabrics and what is in them.";
  module.attr("version")         = WEFT_VERSION;
  module.attr("simgrid_version") = SIMGRID_VERSION_TEXT;
  module.attr("simgrid_prefix")  = SIMGRID_PREFIX_TEXT;
  py::register_exception<weft::UserError>(module, "UserError").doc() =
      "A mistake in the user's input; its text is the complete message.";
  weft::python::bind_fabrics(module);
  weft::python::bind_progress_engines(module);
  weft::python::bind_forwarding(module);
  weft::python::bind_host_schedules(module);
  weft::python::bind_lists(module);
  weft::python::bind_traces(module);
  module.def("row_kinds", &row_kinds, "Every kind of row: its meaning, and its keys with their types.");
}
