// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's extension of hosts (src/smpi/include/smpi_host.hpp). */
#pragma once

#include <simgrid/forward.h>
#include <xbt/Extendable.hpp>

#include <cstddef>

namespace simgrid::smpi {

/** Overheads of messages. */
class Host {
public:
  static xbt::Extension<s4u::Host, Host> EXTENSION_ID; // NOLINT(readability-identifier-naming): SimGrid's name
  double osend(std::size_t size, s4u::Host* from, s4u::Host* to) const;
  double oisend(std::size_t size, s4u::Host* from, s4u::Host* to) const;
  double orecv(std::size_t size, s4u::Host* from, s4u::Host* to) const;
};

} // namespace simgrid::smpi
