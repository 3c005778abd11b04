// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/core_call.hpp"

#include "mpi/names.hpp"

#include <algorithm>
#include <cstddef>

namespace weft {

SwitchCall switch_call(const Described& described)
{
  const CallSignature& signature = described.signature;
  return {signature.called.kind, datatype_name(signature.datatype), operation_name(signature.operation),
          Bytes(static_cast<double>(described.message))};
}

HostCall host_call(const Communicator& communicator, const Described& described)
{
  const CallSignature& signature = described.signature;
  HostCall call;
  call.collective = described.kind().name;
  call.ranks      = communicator.size();
  call.root       = std::max(0, signature.root);
  call.blocking   = signature.called.blocking;
  call.host       = [&communicator](int rank) { return communicator.rank_hosts[static_cast<std::size_t>(rank)]; };
  if (signature.operation != MPI_OP_NULL) {
    call.commutative = commutes(signature.operation);
    call.predefined  = is_predefined(signature.operation);
  }
  if (not signature.parts.empty()) {
    const bool to = call.collective == "reduce_scatter";
    call.element  = Bytes(static_cast<double>(signature.part_size));
    call.block    = [to, parts = signature.parts](int from, int rank) {
      return parts[static_cast<std::size_t>(to ? rank : from)];
    };
  } else if (signature.datatype != MPI_DATATYPE_NULL) {
    call.count   = signature.count;
    call.element = Bytes(static_cast<double>(size_of(1, signature.datatype)));
  } else {
    const bool in_blocks = described.movement().in_parts();
    call.count           = described.message / (in_blocks ? call.ranks : 1);
  }
  return call;
}

} // namespace weft
