// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/launch/rank_start.hpp"

#include "binding/launch/job_programs.hpp"

#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {

void start_rank(const JobLaunch& launch, const RankPlace& place, const std::function<void(aid_t)>& note)
{
  const std::string number = std::to_string(place.rank);
  const sg::ActorPtr actor =
      sg::Actor::init(place.world + "#" + number, sg::Engine::get_instance()->host_by_name(place.host));
  actor->set_property("instance_id", place.world);
  actor->set_property("rank", number);
  note_launch(actor->get_pid(), launch);
  note(actor->get_pid());
  actor->start([&launch] { run_program(launch); });
}

} // namespace weft
