/* SPDX-License-Identifier: LGPL-2.1-only */
/* The platform of the file PLATFORM, with links that never contend: each message gets the whole of each of them. In
 * SimGrid's XML, <cluster sharing_policy="FATPIPE"> does not say so: its hosts' links are shared all the same. */
#include <simgrid/s4u.hpp>

extern "C" void load_platform(const simgrid::s4u::Engine& engine);
void load_platform(const simgrid::s4u::Engine& engine)
{
  engine.load_platform(PLATFORM);
  for (simgrid::s4u::Link* link : engine.get_all_links())
    link->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
}
