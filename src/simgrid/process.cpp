// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

struct ProcessState {
  bool running = false; // until the last rank has ended
  bool child   = false;
};

ProcessState& process_state()
{
  static ProcessState the_state;
  return the_state;
}

} // namespace

void watch_process()
{
  process_state().running = true;
  sg::Engine::on_simulation_end_cb([] { process_state().running = false; });
  // What is in the buffers would be written by both, and all ranks share them.
  pthread_atfork([] { std::fflush(nullptr); }, nullptr, [] { process_state().child = true; });
}

std::optional<int> rank_here()
{
  const sg::Actor* actor = process_state().running ? sg::Actor::self() : nullptr;
  const char* rank       = actor ? actor->get_property("rank") : nullptr;
  return rank ? std::optional(static_cast<int>(std::strtol(rank, nullptr, 10))) : std::nullopt;
}

bool is_forked_child()
{
  return process_state().child;
}

} // namespace weft
