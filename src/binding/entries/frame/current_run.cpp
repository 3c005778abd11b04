// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/frame/current_run.hpp"

#include <stdexcept>

namespace weft {
namespace {

/** Null before load_platform(). */
RunContext*& run_of_process()
{
  static RunContext* context = nullptr;
  return context;
}

} // namespace

RunContext& current_run()
{
  return *run_of_process();
}

void begin_run(RunContext& context)
{
  if (run_of_process())
    throw std::logic_error("the platform is loaded already");
  run_of_process() = &context;
}

} // namespace weft
