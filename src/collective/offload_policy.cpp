#include "collective/offload_policy.hpp"

#include <stdexcept>

namespace weft {
std::string_view to_text(Fallback reason)
{
  switch (reason) {
    case Fallback::none:
      return "";
    case Fallback::policy:
      return "policy";
    case Fallback::one_rank:
      return "one rank";
    case Fallback::zero_count:
      return "zero count";
    case Fallback::collective:
      return "collective";
    case Fallback::datatype:
      return "datatype";
    case Fallback::operation:
      return "op";
    case Fallback::one_host:
      return "one host";
    case Fallback::not_on_tree:
      return "communicator not on the tree";
    case Fallback::no_gain:
      return "tree gains nothing";
    case Fallback::no_free_channel:
      return "no free channel";
    case Fallback::host_faster:
      return "host is faster";
    case Fallback::no_nic_memory:
      return "no NIC memory";
    case Fallback::privatization:
      return "privatization";
  }
  throw std::logic_error("no such reason");
}

Fallback decide_call(const SwitchModel& model, const CollectiveCall& call, int ranks)
{
  if (ranks == 1)
    return Fallback::one_rank;
  switch (model.lacks(call.collective, call.datatype, call.operation)) {
    case Unsupported::collective:
      return Fallback::collective;
    case Unsupported::datatype:
      return Fallback::datatype;
    case Unsupported::operation:
      return Fallback::operation;
    case Unsupported::none:
      break;
  }
  return call.message == Bytes{} && call.collective != "barrier" ? Fallback::zero_count : Fallback::none;
}

} // namespace weft
