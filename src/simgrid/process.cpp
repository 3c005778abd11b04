// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

struct State {
  bool running = false; // until the last rank has ended
  bool child   = false;
};

State& state()
{
  static State the_state;
  return the_state;
}

} // namespace

void watch_process()
{
  state().running = true;
  sg::Engine::on_simulation_end_cb([] { state().running = false; });
  // What is in the buffers would be written by both, and all ranks share them.
  pthread_atfork([] { std::fflush(nullptr); }, nullptr, [] { state().child = true; });
}

std::optional<int> rank_here()
{
  const sg::Actor* actor = state().running ? sg::Actor::self() : nullptr;
  const char* rank       = actor ? actor->get_property("rank") : nullptr;
  return rank ? std::optional(static_cast<int>(std::strtol(rank, nullptr, 10))) : std::nullopt;
}

bool is_forked_child()
{
  return state().child;
}

} // namespace weft
