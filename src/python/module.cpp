// SPDX-License-Identifier: LGPL-2.1-only
/* weft._core: the core of weft for Python. It uses only version and installation prefix of SimGrid. */
#include "base/error.hpp"
#include "base/text_file.hpp"
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

/** Converts to a Python string. Bytes that are not UTF-8, as in a file of another kind, become
 * backslash escapes. */
py::object as_text(const std::string& bytes)
{
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

/** Raises the audit event of open(), which is how Python observes the files that a process reads (PEP 578). */
void audit_read(const std::string& path)
{
  const py::gil_scoped_acquire held;
  const auto name = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(path.c_str()));
  if (not name || PySys_Audit("open", "Osi", name.ptr(), "rb", 0) != 0)
    throw py::error_already_set();
}

/** Returns Python's UserError, kept for the lifetime of the interpreter, like the module. */
PyObject*& user_error()
{
  static PyObject* one = nullptr;
  return one;
}

void translate(std::exception_ptr thrown) // NOLINT(performance-unnecessary-value-param): pybind11's type
{
  try {
    if (thrown)
      std::rethrow_exception(thrown);
  } catch (const weft::UserError& error) {
    PyErr_SetObject(user_error(), as_text(error.what()).ptr());
  }
}

} // namespace

PYBIND11_MODULE(_core, module)
{
  module.doc()                             = "The pure parts of weft: fabrics and what is in them.";
  module.attr("version")                   = WEFT_VERSION;
  module.attr("simgrid_version")           = SIMGRID_VERSION_TEXT;
  module.attr("simgrid_prefix")            = SIMGRID_PREFIX_TEXT;
  user_error()                             = py::exception<weft::UserError>(module, "UserError").release().ptr();
  py::handle(user_error()).attr("__doc__") = "A mistake in the user's input; its text is the complete message.";
  py::register_exception_translator(&translate);
  weft::observe_reads(audit_read);
  weft::python::bind_fabrics(module);
  weft::python::bind_progress_engines(module);
  weft::python::bind_forwarding(module);
  weft::python::bind_host_schedules(module);
  weft::python::bind_lists(module);
  weft::python::bind_nccl(module);
  weft::python::bind_traces(module);
  weft::python::bind_workloads(module);
  module.def("row_kinds", &row_kinds, "Every kind of row: its meaning, and its keys with their types.");
}
