// SPDX-License-Identifier: LGPL-2.1-only
/* Python bindings of NCCL's tuner. */
#include "base/error.hpp"
#include "collective/host/nccl/nccl_tuner.hpp"
#include "fabric/fabric.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weft::python {
namespace {

struct SizedChoice {
  double bytes;
  NcclChoice choice;
};

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
const RowKind<"NcclChoice", SizedChoice> NCCL_CHOICE{
    "NCCL's choice for a call of a size, with the time that its tuner predicts.",
    {{"bytes", &SizedChoice::bytes},
     {"algorithm", [](const SizedChoice& one) { return one.choice.algorithm; }},
     {"protocol", [](const SizedChoice& one) { return one.choice.protocol; }},
     {"channels", [](const SizedChoice& one) { return one.choice.channels; }},
     {"threads", [](const SizedChoice& one) { return one.choice.threads; }},
     {"chunk_bytes", [](const SizedChoice& one) { return one.choice.chunk; }},
     {"seconds", [](const SizedChoice& one) { return one.choice.time; }}}};

const RowKind<"NcclOption", NcclOption> NCCL_OPTION{
    "An algorithm and protocol that NCCL can take, and its tuner's model: latency and bandwidth.",
    {{"algorithm", &NcclOption::algorithm},
     {"protocol", &NcclOption::protocol},
     {"latency_s", &NcclOption::latency},
     {"bandwidth_Bps", &NcclOption::bandwidth}}};
// NOLINTEND(bugprone-throwing-static-initialization)

NcclTuner tuner_on(const Fabric& fabric, const std::string& version)
{
  if (not fabric.nccl())
    throw UserError(fabric.file() + ": there is no table [nccl], which says what GPUs the hosts are; add one, or take "
                                    "a fabric of GPUs");
  return {NcclConstants::load(version), *fabric.nccl()};
}

NcclRanks ranks_on_gpus(const Fabric& fabric, int ranks)
{
  if (ranks < 2 || ranks > fabric.host_count())
    throw UserError("found " + std::to_string(ranks) + " ranks; allowed: 2 to " + std::to_string(fabric.host_count()) +
                    ", one for each GPU of " + fabric.name());
  const int gpus  = fabric.nccl()->gpus_per_node;
  const int nodes = (ranks + gpus - 1) / gpus;
  if (ranks % nodes != 0)
    throw UserError("found " + std::to_string(ranks) + " ranks, which do not fill nodes of " + std::to_string(gpus) +
                    " GPUs evenly; allowed: at most " + std::to_string(gpus) + ", or a multiple");
  return {ranks, nodes};
}

NcclCollective nccl_collective_named(const std::string& name)
{
  std::vector<std::string> known = names_of<NcclCollective>();
  std::erase(known, to_text(NcclCollective::alltoall)); // point-to-point messages, for which there is no choice
  if (std::ranges::count(known, name) > 0)
    return *find_named<NcclCollective>(name);
  throw UserError("found collective \"" + name + "\", for which NCCL has no choice; " + did_you_mean(name, known) +
                  "allowed: " + join(known));
}

Rows<"NcclChoice"> nccl_choices(const Fabric& fabric, const std::string& version, const std::string& collective,
                                int ranks, const std::vector<double>& sizes)
{
  const NcclTuner tuner   = tuner_on(fabric, version);
  const NcclCollective of = nccl_collective_named(collective);
  const NcclRanks in      = ranks_on_gpus(fabric, ranks);
  std::vector<SizedChoice> all;
  all.reserve(sizes.size());
  for (const double bytes : sizes)
    all.push_back({bytes, tuner.choose(of, in, Bytes(bytes))});
  return NCCL_CHOICE.all(all);
}

Rows<"NcclOption"> nccl_options(const Fabric& fabric, const std::string& version, const std::string& collective,
                                int ranks)
{
  return NCCL_OPTION.all(
      tuner_on(fabric, version).options(nccl_collective_named(collective), ranks_on_gpus(fabric, ranks)));
}

} // namespace

void bind_nccl(py::module_& module)
{
  module.def("nccl_choices", &nccl_choices, py::arg("fabric"), py::arg("version"), py::arg("collective"),
             py::arg("ranks"), py::arg("sizes"),
             "Algorithm, protocol, channels and chunk that a version of NCCL chooses for calls of one rank a GPU, by "
             "the bytes of the larger buffer.");
  module.def(
      "gpus_per_node", [](const Fabric& fabric) { return fabric.nccl() ? fabric.nccl()->gpus_per_node : 0; },
      py::arg("fabric"), "Consecutive hosts of a fabric that are the GPUs of a node; 0 if its hosts are no GPUs.");
  module.def("nccl_options", &nccl_options, py::arg("fabric"), py::arg("version"), py::arg("collective"),
             py::arg("ranks"),
             "All algorithms and protocols that a version of NCCL chooses among, with its model of them.");
}

} // namespace weft::python
