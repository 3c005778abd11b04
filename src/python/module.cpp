/* weft._core: the pure parts of weft for Python. Knows nothing of SimGrid but where it was found. */
#include "base/error.hpp"
#include "base/share.hpp"
#include "fabric/fabric.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace {

py::list switches(const weft::Fabric& fabric)
{
  py::list rows;
  for (int index = 0; index < fabric.switch_count(); ++index) {
    const weft::SwitchModel& model = fabric.switch_model(index);
    py::dict row;
    row["name"]                 = fabric.topology().switch_name(index);
    row["preset"]               = model.preset;
    row["smart"]                = model.smart();
    row["max_ports"]            = model.max_ports;
    row["forwarding_latency_s"] = model.forwarding_latency.value();
    row["processing_latency_s"] = model.processing_latency.value();
    row["turnaround_s"]         = model.turnaround.value();
    row["window_bytes"]         = model.window().value();
    rows.append(row);
  }
  return rows;
}

std::vector<std::string> hosts(const weft::Fabric& fabric)
{
  std::vector<std::string> names;
  for (int index = 0; index < fabric.host_count(); ++index)
    names.push_back(fabric.topology().host_name(index));
  return names;
}

py::list schema()
{
  py::list tables;
  for (const weft::TableHelp& table : weft::fabric_schema()) {
    py::list options;
    for (const weft::OptionHelp& option : table.options) {
      py::dict row;
      row["key"]      = option.key;
      row["type"]     = option.type;
      row["meaning"]  = option.meaning;
      row["required"] = option.required;
      options.append(row);
    }
    py::dict row;
    row["table"]   = table.table;
    row["meaning"] = table.meaning;
    row["options"] = options;
    tables.append(row);
  }
  return tables;
}

} // namespace

PYBIND11_MODULE(_core, module)
{
  module.doc()                    = "The pure parts of weft: fabrics and what is in them.";
  module.attr("version")          = WEFT_VERSION;
  module.attr("simgrid_version")  = SIMGRID_VERSION_TEXT;
  module.attr("simgrid_prefix")   = SIMGRID_PREFIX_TEXT;
  py::register_exception<weft::UserError>(module, "UserError");

  py::class_<weft::Fabric>(module, "Fabric", "A fabric as a file describes it; nothing of it can be changed.")
      .def_property_readonly("name", &weft::Fabric::name)
      .def_property_readonly("description", &weft::Fabric::description)
      .def_property_readonly("file", &weft::Fabric::file)
      .def_property_readonly("topology", &weft::Fabric::topology_kind)
      .def_property_readonly("hosts", &hosts, "Names of the hosts, in order.")
      .def_property_readonly("cores_per_host", [](const weft::Fabric& fabric) { return fabric.host().cores; })
      .def_property_readonly("switches", &switches, "One dictionary a switch; durations in seconds.")
      .def_property_readonly("links", [](const weft::Fabric& fabric) { return fabric.links().size(); },
                             "Number of links, two a cable.")
      .def("describe", [](const weft::Fabric& fabric) { return weft::describe(fabric); })
      .def("check", [](const weft::Fabric& fabric) { return weft::check(fabric); },
           "Prove the routes; returns what was proven, raises UserError where it does not hold.");

  module.def("load_fabric", &weft::Fabric::load, py::arg("name_or_path"),
             "Read a fabric file, or a shipped fabric by its name. Raises UserError.");
  module.def("list_fabrics", [] { return weft::list_shared("fabrics"); }, "Names of the shipped fabrics.");
  module.def("list_presets", [](const std::string& kind) { return weft::list_shared("presets/" + kind); },
             py::arg("kind"), "Names of the presets of a kind: switch, nic or host.");
  module.def("fabric_schema", &schema, "Every table and key of a fabric file.");
}
