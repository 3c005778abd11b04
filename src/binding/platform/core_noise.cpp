// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/core_noise.hpp"

namespace sg = simgrid::s4u;

namespace weft {

/** Shortest sleep of a rank: SimGrid cannot resolve less (its option precision/timing), and warns
 * of shorter ones. */
constexpr Seconds LEAST{1e-9};

CoreNoise::CoreNoise(const Fabric& fabric, const Network& network)
    : noise_(fabric.noise() && not fabric.noise()->hosts.empty() ? &*fabric.noise() : nullptr), network_(network)
{
}

Seconds CoreNoise::with_os_noise(aid_t rank, VertexId host, Seconds start, Seconds work)
{
  if (not any())
    return work;
  std::optional<Detours>& core = cores_[rank];
  if (not core)
    core.emplace(*noise_, host, static_cast<std::uint32_t>(rank));
  return core->end_of(Seconds(sg::Engine::get_clock()), start, work) - start;
}

Seconds CoreNoise::with_os_noise(Seconds work)
{
  const sg::Host* const host = sg::this_actor::get_host();
  if (not any() || not network_.is_host(host))
    return work;
  const Seconds longer =
      with_os_noise(sg::this_actor::get_pid(), network_.vertex_of(host), Seconds(sg::Engine::get_clock()), work);
  return longer - work < LEAST ? work : longer;
}

void CoreNoise::pay(Seconds work)
{
  if (not any())
    return;
  const Seconds more = with_os_noise(work) - work;
  if (more > Seconds())
    sg::this_actor::sleep_for(more.value());
}

} // namespace weft
