/* The platform that SimGrid loads: `smpirun -platform libweft.so`.
 *
 * SimGrid refuses options that it does not know, so weft's own travel in the environment:
 *   WEFT_FABRIC   a fabric file, or the name of one that ships with weft
 *   WEFT_OFFLOAD  stream (default), message or off
 *   WEFT_RECORD   where the record of the run goes; none where absent
 *   WEFT_EVENTS   1: the record also lists every offloaded collective with its times
 */
#include "base/error.hpp"
#include "simgrid/collectives.hpp"
#include "simgrid/simulation.hpp"

#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <xbt/config.hpp>

namespace {

std::string environment(const char* name, const std::string& otherwise = "")
{
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

template <class T> void set_unless_chosen(const char* option, T value)
{
  if (simgrid::config::is_default(option))
    simgrid::config::set_value<T>(option, value);
}

/** SMPI's defaults describe TCP over Gigabit Ethernet (its source: src/kernel/resource/models/network_cm02.cpp). The
 *  fabric's own numbers say all about this network. Must come before the engine makes its network model. */
void describe_network()
{
  set_unless_chosen("network/crosstraffic", false);
  set_unless_chosen("network/TCP-gamma", 0.0);
  set_unless_chosen("network/weight-S", 0.0);
  for (const char* option : {"network/latency-factor", "network/bandwidth-factor"})
    if (not simgrid::config::is_default(option))
      throw weft::UserError(std::string(option) +
                            ": found on the command line; give such factors in the fabric file, as [[point_to_point]]");
}

weft::Granularity read_granularity()
{
  const std::string text = environment("WEFT_OFFLOAD", "stream");
  if (const auto granularity = weft::parse_granularity(text))
    return *granularity;
  throw weft::UserError("WEFT_OFFLOAD: found \"" + text + "\"; allowed: stream, message, off");
}

/** With privatization by mmap, SimGrid takes every actor for an MPI rank and dies of the switch's. */
void check_privatization(weft::Granularity granularity)
{
  if (granularity == weft::Granularity::message &&
      simgrid::config::get_value<std::string>("smpi/privatization") == "mmap")
    throw weft::UserError("smpi/privatization: found \"mmap\", which does not go with offload granularity \"message\";"
                          " take \"dlopen\", or granularity \"stream\"");
}

void load()
{
  const std::string fabric = environment("WEFT_FABRIC");
  if (fabric.empty())
    throw weft::UserError("WEFT_FABRIC is not set; set it to a fabric file or to the name of a shipped fabric");
  describe_network();
  const weft::Granularity granularity = read_granularity();
  check_privatization(granularity);
  weft::Simulation& simulation = weft::Simulation::create(
      weft::Fabric::load(fabric), granularity, environment("WEFT_RECORD"), environment("WEFT_EVENTS") == "1");
  weft::register_collectives(simulation);
}

} // namespace

extern "C" __attribute__((visibility("default"))) void load_platform(const simgrid::s4u::Engine& /*engine*/)
{
  try {
    load();
  } catch (const weft::UserError& error) {
    std::fprintf(stderr, "weft: %s\n", error.what());
    std::exit(2);
  }
}
