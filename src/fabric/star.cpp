#include "fabric/star.hpp"

#include <stdexcept>
#include <utility>

namespace weft {

Star::Star(int hosts, LinkModel link) : hosts_(hosts), link_(std::move(link))
{
  if (hosts < 1)
    throw std::logic_error("a star has at least one host");
}

int Star::ports_used(int) const
{
  return hosts_;
}

std::vector<Link> Star::links() const
{
  std::vector<Link> links;
  links.reserve(2 * static_cast<std::size_t>(hosts_));
  const VertexId hub = hosts_;
  for (int host = 0; host < hosts_; ++host) {
    const std::string name = host_name(host);
    links.push_back({name + ".up", host, hub, link_.bandwidth, link_.latency});
    links.push_back({name + ".down", hub, host, link_.bandwidth, link_.latency});
  }
  return links;
}

void Star::route(VertexId from, VertexId to, Route& into) const
{
  const VertexId hub = hosts_;
  if (from != hub)
    into.links.push_back(2 * from);
  if (from != hub && to != hub)
    into.through.push_back(hub);
  if (to != hub)
    into.links.push_back(2 * to + 1);
}

std::string Star::switch_name(int) const
{
  return "switch";
}

namespace {

struct StarOptions {
  int hosts = 0;
};

const std::vector<Option<StarOptions>>& star_options()
{
  static const std::vector<Option<StarOptions>> ROWS{{"hosts", "number of hosts", &StarOptions::hosts}};
  return ROWS;
}

std::unique_ptr<Topology> build_star(const OptionTable& table, const LinkModel& link)
{
  StarOptions options;
  require_options(table, star_options(), read_options(table, star_options(), {"kind"}, options));
  return std::make_unique<Star>(options.hosts, link);
}

} // namespace

TopologyKind star_kind()
{
  return {"star", "one switch, a cable to each host", describe_options(star_options()), build_star};
}

} // namespace weft
