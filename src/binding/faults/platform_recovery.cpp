// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/faults/platform_recovery.hpp"

#include "binding/faults/fault_rows.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"
#include "descriptions/fault_file.hpp"

namespace weft {

ResentTransfers* PlatformRecovery::serve(RunContext& context)
{
  if (settings().faults.empty())
    return nullptr;
  auto* const recovery = new PlatformRecovery(read_faults(settings().faults).recovery); // lives as long as the process
  context.record_parts.push_back(recovery);
  return &recovery->transfers_;
}

void PlatformRecovery::add_rows(Json& record) const
{
  record["faults"] = fault_rows({{}, 0, transfers_.counts()}, nullptr);
}

} // namespace weft
