// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/decision.hpp"
#include "model/host/mpi_model.hpp"
#include "model/mechanism/offload_mode.hpp"
#include "model/switch/streaming.hpp"
#include "model/tuning/tuning.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <map>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace weft::python {

namespace py = pybind11;

namespace {

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RowKind<"Mechanism", MechanismKind> MECHANISM{
    "A mechanism that executes collectives in the network.",
    {{"name", [](const MechanismKind& one) { return std::string(one.name); }},
     {"meaning", [](const MechanismKind& one) { return std::string(one.meaning); }},
     {"rest", [](const MechanismKind& one) { return std::string(one.rest); }}}};

Rows<"Mechanism"> mechanisms()
{
  Rows<"Mechanism"> rows;
  for (const MechanismKind* kind : mechanism_kinds())
    rows.append(MECHANISM(*kind));
  return rows;
}

// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RowKind<"Tuning", TuningRow> TUNING{"An optimisation of SimGrid from outside.",
                                          {{"name", [](const TuningRow& one) { return std::string(one.name); }},
                                           {"simgrid", [](const TuningRow& one) { return std::string(one.simgrid); }},
                                           {"weft", [](const TuningRow& one) { return std::string(one.weft); }},
                                           {"gain", [](const TuningRow& one) { return std::string(one.gain); }},
                                           {"oldest", [](const TuningRow& one) { return one.oldest.text(); }},
                                           {"newest", [](const TuningRow& one) { return one.newest.text(); }}}};

Rows<"Tuning"> all_rows()
{
  Rows<"Tuning"> rows;
  for (const TuningRow& one : tunings())
    rows.append(TUNING(one));
  return rows;
}

std::vector<std::string> names_off(const std::string& choice)
{
  return tuning_names(known_tunings(chosen_tunings(choice), SimGridVersion::parse(SIMGRID_VERSION_TEXT)), false);
}

using Factors = std::vector<std::pair<std::string, double>>;

template <class Q> Factors factors()
{
  Factors units;
  for (const Unit& unit : units_of(Q()))
    units.emplace_back(unit.name, unit.factor);
  return units;
}

/** Returns the units by option type. */
std::map<std::string, Factors> units()
{
  return {{"size", factors<Bytes>()},
          {"duration", factors<Seconds>()},
          {"bandwidth", factors<BytesPerSecond>()},
          {"speed", factors<FlopsPerSecond>()},
          {"frequency", factors<Hertz>()}};
}

using Numbers = py::array_t<double>;

Numbers streaming_times(int slots, double payload, double packet_overhead, const Numbers& messages,
                        const Numbers& line_rates, double turnaround)
{
  SwitchModel model;
  model.slots           = slots;
  model.payload         = Bytes(payload);
  model.packet_overhead = Bytes(packet_overhead);
  const auto time       = [&](double message, double line_rate) {
    return streaming_time(model, Bytes(message), BytesPerSecond(line_rate), Seconds(turnaround)).value();
  };
  return {py::vectorize(time)(messages, line_rates)};
}

} // namespace

void bind_lists(py::module_& module)
{
  module.attr("SMPI_ENVELOPE_BYTES")        = static_cast<int>(SMPI_ENVELOPE.value());
  module.attr("SMPI_EAGER_THRESHOLD_BYTES") = static_cast<int>(MpiModel{}.eager_threshold.value());
  module.def("mechanisms", &mechanisms,
             "Mechanisms that execute collectives in the network; `rest`: the mechanism for collectives that it does "
             "not support.");
  module.def("offload_modes", &names_of<OffloadMode>, "What a run may ask for: a mechanism, auto or off.");
  module.def("paths", &path_names, "Executors of a call, as named in records.");
  module.def("fallback_reasons", &names_of<Fallback>, "Fallback reasons, as named in records; \"\" for none.");
  module.def("tunings", &all_rows, "Optimisations of SimGrid from outside, and the SimGrid versions that they know.");
  module.def("tunings_off", &names_off, py::arg("choice") = "",
             "Names of the tunings that a choice (all, none, NAME,…, -NAME,…) or the installed SimGrid's version turns "
             "off.");
  module.def("units", &units, "By the type of a value: its units by rising factor, with that to SI's.");
  module.def("streaming_time", &streaming_times, py::arg("slots"), py::arg("payload_bytes"),
             py::arg("packet_overhead_bytes"), py::arg("message_bytes"), py::arg("line_rate_Bps"),
             py::arg("turnaround_s"), "Seconds in which the packets of messages pass a link that nothing else uses.");
}

} // namespace weft::python
