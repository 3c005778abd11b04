// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/registry.hpp"

#include "binding/mechanisms/message/message.hpp"
#include "binding/mechanisms/multicast/multicast.hpp"
#include "binding/mechanisms/stream/stream.hpp"

namespace weft {
namespace {

std::vector<MakeMechanism>& makers()
{
  static std::vector<MakeMechanism> all{&make_stream, &make_message, &make_multicast};
  return all;
}

} // namespace

std::vector<std::unique_ptr<Mechanism>> make_mechanisms(RunContext& context)
{
  std::vector<std::unique_ptr<Mechanism>> mechanisms;
  for (const MakeMechanism make : makers())
    mechanisms.push_back(make(context));
  return mechanisms;
}

bool add_mechanism(MakeMechanism make)
{
  makers().push_back(make);
  return true;
}

} // namespace weft
