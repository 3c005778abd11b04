// SPDX-License-Identifier: LGPL-2.1-only
#include "base/error.hpp"
#include "fabric/analysis/cache_study.hpp"
#include "fabric/fabric.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <map>

namespace weft::python {
namespace {

using Counters = py::typing::Dict<py::str, py::int_>;

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
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

Counters cache_of_hosts(int entries, int ways, const std::string& replacement, const Fabric& fabric,
                        const std::string& hash, const std::vector<VertexId>& hosts, std::int64_t lookups,
                        unsigned seed)
{
  return counters(study_hosts(shape_of(entries, ways, replacement), fabric.topology(), *hash_of(fabric, hash), hosts,
                              lookups, seed));
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

std::pair<Counters, Counters> cache_of_messages(int entries, int ways, const std::string& replacement,
                                                const Fabric& fabric, const std::string& hash,
                                                const std::vector<MessageEnds>& messages, int ahead)
{
  const bool knows_future = replacement == "future";
  const CacheShape shape  = shape_of(entries, ways, knows_future ? "lru" : replacement);
  const MessageStudy study =
      study_messages(shape, fabric.topology(), *hash_of(fabric, hash), messages, {ahead, knows_future});
  return {counters(study.messages), counters(study.empty)};
}

/** Tag that a switch looks up, and its destinations. */
struct TagOfSwitch {
  ForwardingTag tag;
  std::string port; ///< outgoing link of the switch
  int hosts;
  std::string first; ///< first of the destinations
};
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RowKind<"ForwardingTag", TagOfSwitch> TAG{
    "A tag of a switch's forwarding cache: its output link, the number of its hosts, and the first of them.",
    {{"tag", [](const TagOfSwitch& one) { return static_cast<std::int64_t>(one.tag); }},
     {"link", &TagOfSwitch::port},
     {"hosts", &TagOfSwitch::hosts},
     {"first", &TagOfSwitch::first}}};

std::vector<TagOfSwitch> tags_of(const Fabric& fabric, const std::string& name, int index)
{
  const auto hash          = hash_of(fabric, name);
  const Topology& topology = fabric.topology();
  std::map<ForwardingTag, TagOfSwitch> tags;
  for (VertexId host = 0; host < fabric.host_count(); ++host) {
    const ForwardingTag tag = hash->tag(index, hash->address(host));
    const LinkId link       = topology.next_hop(fabric.host_count() + index, host).link;
    const auto found =
        tags.try_emplace(tag, TagOfSwitch{tag, fabric.link(link).name, 0, topology.host_name(host)}).first;
    ++found->second.hosts;
  }
  std::vector<TagOfSwitch> rows;
  rows.reserve(tags.size());
  for (const auto& [tag, row] : tags)
    rows.push_back(row);
  return rows;
}

std::vector<ForwardingAddress> addresses_of(const Fabric& fabric, const std::string& name)
{
  const auto hash = hash_of(fabric, name);
  std::vector<ForwardingAddress> addresses;
  addresses.reserve(static_cast<std::size_t>(fabric.host_count()));
  for (VertexId host = 0; host < fabric.host_count(); ++host)
    addresses.push_back(hash->address(host));
  return addresses;
}

HashProof prove_cube_for(int size, int dimensions, bool wraps)
{
  try {
    return prove_cube(size, dimensions, wraps);
  } catch (const HashError& error) {
    throw UserError("cube: " + std::string(error.what()));
  }
}

} // namespace

void bind_forwarding(py::module_& module)
{
  module.def(
      "cache_of_port", &cache_of_port, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
      py::arg("destinations"), py::arg("scattered"), py::arg("lookups"), py::arg("seed"),
      "Hits and misses of one port's forwarding cache under uniform traffic to a number of hosts, with the CRC hash.");
  module.def("cache_of_hosts", &cache_of_hosts, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("fabric"), py::arg("hash"), py::arg("hosts"), py::arg("lookups"), py::arg("seed"),
             "The same of the port of the first of several hosts under uniform traffic to the others.");
  module.def("cache_of_torus", &cache_of_torus, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("size"), py::arg("dimensions"), py::arg("hashed"), py::arg("messages"), py::arg("seed"),
             "The same of a torus under uniform traffic: ports of hosts, then of each dimension.");
  module.def("cache_of_messages", &cache_of_messages, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("fabric"), py::arg("hash"), py::arg("messages"), py::arg("ahead") = 0,
             "The same of all ports of a fabric while messages, pairs of hosts, are routed one after the other; and of "
             "empty packets that go so many messages of their host ahead. The replacement may be \"future\", too: that "
             "of one who knows it.");
  module.def(
      "uniform_messages",
      [](const Fabric& fabric, int count, unsigned seed) { return uniform_messages(fabric.topology(), count, seed); },
      py::arg("fabric"), py::arg("count"), py::arg("seed"), "Pairs of hosts, all equally often.");
  module.def(
      "alltoall_messages", [](const Fabric& fabric, int count) { return alltoall_messages(fabric.topology(), count); },
      py::arg("fabric"), py::arg("count"),
      "Pairs of hosts, of all-to-alls one after the other: each to the next, then the next but one.");
  module.def(
      "prove_hash",
      [](const Fabric& fabric, const std::string& hash, int step) {
        return HASH_PROOF(prove(*hash_of(fabric, hash), fabric.topology(), step));
      },
      py::arg("fabric"), py::arg("hash"), py::arg("step") = 1,
      "Check every step-th switch against every host: pairs, most tags of a switch, and the violation found.");
  module.def(
      "prove_cube_hash",
      [](int size, int dimensions, bool wraps) { return HASH_PROOF(prove_cube_for(size, dimensions, wraps)); },
      py::arg("size"), py::arg("dimensions"), py::arg("wraps"),
      "The same check for three switches of a cube whose fabric is not built. Raises UserError if it is too large.");
  module.def(
      "forwarding_hash_name",
      [](const Fabric& fabric, const std::string& hash) { return hash_of(fabric, hash)->name(); }, py::arg("fabric"),
      py::arg("hash"), "Hash that \"auto\" selects on a fabric. Raises UserError.");
  module.def("forwarding_addresses", &addresses_of, py::arg("fabric"), py::arg("hash"),
             "Destination address in packets, by host.");
  module.def(
      "forwarding_tags",
      [](const Fabric& fabric, const std::string& hash, int index) { return TAG.all(tags_of(fabric, hash, index)); },
      py::arg("fabric"), py::arg("hash"), py::arg("switch"), "The tags of one switch, by its number.");
  module.def(
      "line_rate",
      [](double latency, int stages, double frame) {
        return line_rate(lookup_interval(Seconds(latency), stages), Bytes(frame)).value();
      },
      py::arg("latency_s"), py::arg("stages"), py::arg("frame_bytes"),
      "Highest line rate at which a port can look up every frame, in bytes per second.");
}

} // namespace weft::python
