// SPDX-License-Identifier: LGPL-2.1-only
#include "python/bindings.hpp"
#include "trace/call_check.hpp"

#include <pybind11/stl.h>

namespace weft::python {

namespace py = pybind11;

void bind_traces(const py::module_& module)
{
  py::class_<trace::CallCheck>(module, "CallCheck", "Checks that a file of recorded calls can be replayed.")
      .def(py::init<int, trace::CallCheck::Names, trace::CallCheck::Names>(), py::arg("ranks"), py::arg("datatypes"),
           py::arg("operations"), "Of so many ranks; the names are those that lines may have.")
      .def(
          "add", [](trace::CallCheck& check, const py::bytes& text) { check.add(std::string_view(text)); },
          py::arg("text"), "Take in a part of the file. Raises UserError, which names the line.")
      .def("end", &trace::CallCheck::end, "Prove that nothing is missing; return the number of lines of ranks.");
}

} // namespace weft::python
