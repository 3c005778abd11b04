#include "simgrid/loopback.hpp"

#include <algorithm>
#include <simgrid/simcall.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

std::unordered_map<sg::Comm*, sg::CommPtr>& in_flight()
{
  static std::unordered_map<sg::Comm*, sg::CommPtr> transfers;
  return transfers;
}

/** SimGrid still looks at a transfer after telling that it ended: those that did go when the next one starts. */
std::vector<sg::CommPtr>& ended()
{
  static std::vector<sg::CommPtr> transfers;
  return transfers;
}

void begin(sg::Host* host, Bytes bytes, std::function<void()> done)
{
  ended().clear();
  const sg::CommPtr transfer  = sg::Comm::sendto_init();
  in_flight()[transfer.get()] = transfer;
  // SimGrid never ends a transfer of nothing.
  transfer->set_payload_size(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes.value())));
  transfer->on_this_completion_cb([key = transfer.get(), done = std::move(done)](const sg::Comm&) {
    ended().push_back(std::move(in_flight().extract(key).mapped()));
    done();
  });
  transfer->set_source(host)->set_destination(host); // starts it
}

} // namespace

void send_within(sg::Host* host, Bytes bytes, std::function<void()> done)
{
  simgrid::kernel::actor::simcall_answered([&] { begin(host, bytes, std::move(done)); });
}

} // namespace weft
