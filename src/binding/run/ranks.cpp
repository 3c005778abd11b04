// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/ranks.hpp"

#include "binding/observe/profile.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

void Ranks::watch(const Network& network, std::function<void(aid_t)> on_end, std::function<void()> on_exit)
{
  on_end_  = std::move(on_end);
  on_exit_ = std::move(on_exit);
  sg::Actor::on_creation_cb([this, &network](const sg::Actor& actor) {
    if (not network.is_host(actor.get_host()) || is_creating_thread())
      return;
    ++count_;
    ++running_;
    Profile::get().rank_begins(actor.get_pid());
    hosts_.insert(actor.get_host());
    actor.on_exit([this, pid = actor.get_pid()](bool killed) {
      if (is_forked_child())
        leave_process(0);
      end_threads_of_rank(pid);
      Profile::get().rank_ends(pid);
      if (not killed)
        on_end_(pid);
      --running_;
      on_exit_();
    });
  });
}

} // namespace weft
