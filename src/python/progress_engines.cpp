// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/progress_engine.hpp"

#include "base/error.hpp"
#include "python/bindings.hpp"

#include <pybind11/stl.h>

namespace weft::python {

namespace py = pybind11;

namespace {

Transport transport_of(const std::string& name)
{
  if (const std::optional<Transport> transport = find_named<Transport>(name))
    return *transport;
  throw py::value_error("transport: found \"" + name + "\"; allowed: ud, uc");
}

double receive_chunks(const ProgressEngine& engine, const std::string& transport, double chunk, int workers)
{
  return engine.receive_chunks(transport_of(transport), Bytes(chunk), workers).value();
}

double receive_time(const ProgressEngine& engine, const std::string& transport, double chunk, double buffer,
                    int workers, double link)
{
  return engine.receive_time(transport_of(transport), Bytes(chunk), Bytes(buffer), workers, BytesPerSecond(link))
      .value();
}

double parse_bandwidth(const std::string& text)
{
  try {
    return parse<BytesPerSecond>(text).value();
  } catch (const UnitError& error) {
    throw UserError(std::string("bandwidth: ") + error.what());
  }
}

} // namespace

void bind_progress_engines(py::module_& module)
{
  py::class_<ProgressEngine>(module, "ProgressEngine", "Progress engine of the multicast protocol at a host.")
      .def_readonly("preset", &ProgressEngine::preset)
      .def_readonly("cores", &ProgressEngine::cores)
      .def_readonly("threads", &ProgressEngine::threads, "Hardware threads of a core.")
      .def_readonly("host_cores", &ProgressEngine::host_cores, "Cores of the host that it occupies.")
      .def_property_readonly("memory_bytes", [](const ProgressEngine& engine) { return engine.memory.value(); })
      .def("describe", [](const ProgressEngine& engine) { return describe(engine); })
      .def("receive_chunks_per_s", &receive_chunks, py::arg("transport"), py::arg("chunk_bytes"), py::arg("workers"),
           "Chunks per second that a number of threads receives. Raises UserError.")
      .def("receive_time_s", &receive_time, py::arg("transport"), py::arg("chunk_bytes"), py::arg("buffer_bytes"),
           py::arg("workers"), py::arg("link_Bps"),
           "Seconds from the first byte of a buffer on the link until the user has all of it. Raises UserError.")
      .def("communicators", &ProgressEngine::communicators, py::arg("chunks"),
           "Number of communicators with receive buffers of this many chunks that its memory holds.");

  module.def("load_progress_engine", &load_progress_engine, py::arg("name_or_path"),
             "A preset, or the table [progress_engine] of a file. Raises UserError.");
  module.def(
      "bitmap_bytes", [](std::int64_t chunks) { return bitmap_size(chunks).value(); }, py::arg("chunks"),
      "The bitmap of a receive buffer: a bit per chunk.");
  module.def("parse_bandwidth", &parse_bandwidth, py::arg("text"), "Bytes per second. Raises UserError.");
}

} // namespace weft::python
