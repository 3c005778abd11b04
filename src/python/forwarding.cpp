// SPDX-License-Identifier: LGPL-2.1-only
#include "base/error.hpp"
#include "fabric/cache_study.hpp"
#include "fabric/fabric.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

namespace weft::python {
namespace {

using Counters = py::typing::Dict<py::str, py::int_>;

// What is static here is made when the module is loaded, before anybody could catch anything.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
const RowKind<"HashProof", HashProof> HASH_PROOF{
    "What was proven of a forwarding hash on a fabric.",
    {{"pairs", &HashProof::pairs},
     {"most_tags", &HashProof::most_tags},
     {"misroutes", [](const HashProof& proof) { return proof.misroute.has_value(); }},
     {"crowded", [](const HashProof& proof) { return proof.crowded.has_value(); }}}};

// NOLINTEND(bugprone-throwing-static-initialization)

CacheShape shape_of(int entries, int ways, const std::string& replacement)
{
  const auto found = find_named<Replacement>(replacement);
  if (not found)
    throw UserError("replacement: found \"" + replacement + "\"; allowed: " + join(names_of<Replacement>()));
  if (ways < 1 || entries < ways || entries % ways != 0)
    throw UserError("ways: found " + std::to_string(ways) + " ways of " + std::to_string(entries) +
                    " entries; allowed: ways that divide the entries");
  return {entries, ways, *found};
}

std::unique_ptr<const ForwardingHash> hash_of(const Fabric& fabric, const std::string& name)
{
  try {
    return make_forwarding_hash(name, fabric.topology());
  } catch (const HashError& error) {
    throw UserError("hash: " + std::string(error.what()) + " (fabric " + fabric.name() + ")");
  }
}

Counters counters(const CacheCounters& of)
{
  Counters row;
  row["hits"]     = of.hits;
  row["initial"]  = of.initial;
  row["capacity"] = of.capacity;
  row["conflict"] = of.conflict;
  return row;
}

Counters cache_of_port(int entries, int ways, const std::string& replacement, int destinations, bool scattered,
                       std::int64_t lookups, unsigned seed)
{
  return counters(study_port(shape_of(entries, ways, replacement), destinations, scattered, lookups, seed));
}

py::typing::List<Counters> cache_of_torus(int entries, int ways, const std::string& replacement, int size,
                                          int dimensions, bool hashed, int messages, unsigned seed)
{
  py::typing::List<Counters> rows;
  for (const CacheCounters& port :
       study_torus(shape_of(entries, ways, replacement), size, dimensions, hashed, messages, seed))
    rows.append(counters(port));
  return rows;
}

Counters cache_of_messages(int entries, int ways, const std::string& replacement, const Fabric& fabric,
                           const std::string& hash, const std::vector<MessageEnds>& messages)
{
  return counters(
      study_messages(shape_of(entries, ways, replacement), fabric.topology(), *hash_of(fabric, hash), messages));
}

} // namespace

void bind_forwarding(py::module_& module)
{
  module.def("cache_of_port", &cache_of_port, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("destinations"), py::arg("scattered"), py::arg("lookups"), py::arg("seed"),
             "Hits and misses of one port's forwarding cache with packets to so many hosts, by CRC.");
  module.def("cache_of_torus", &cache_of_torus, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("size"), py::arg("dimensions"), py::arg("hashed"), py::arg("messages"), py::arg("seed"),
             "The same of a torus under uniform traffic: ports of hosts, then of each dimension.");
  module.def("cache_of_messages", &cache_of_messages, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("fabric"), py::arg("hash"), py::arg("messages"),
             "The same of all ports of a fabric while messages, pairs of hosts, are routed one after the other.");
  module.def(
      "uniform_messages",
      [](const Fabric& fabric, int count, unsigned seed) { return uniform_messages(fabric.topology(), count, seed); },
      py::arg("fabric"), py::arg("count"), py::arg("seed"), "Pairs of hosts, all equally often.");
  module.def(
      "prove_hash",
      [](const Fabric& fabric, const std::string& hash) {
        return HASH_PROOF(prove(*hash_of(fabric, hash), fabric.topology()));
      },
      py::arg("fabric"), py::arg("hash"),
      "Hold every switch against every host: pairs, most tags of a switch, and what does not hold.");
  module.def(
      "line_rate",
      [](double latency, int stages, double frame) {
        return line_rate(lookup_interval(Seconds(latency), stages), Bytes(frame)).value();
      },
      py::arg("latency_s"), py::arg("stages"), py::arg("frame_bytes"),
      "Bytes a second of frames that a port can look up.");
}

} // namespace weft::python
