// SPDX-License-Identifier: LGPL-2.1-only
/* Reaction of senders to links that the profiles of a SimGrid platform turn off. The platform defines the profiles, so
 * a fault file contains only the table [recovery]. */
#pragma once

#include "binding/messages/resent_transfers.hpp"
#include "binding/observe/record_part.hpp"

namespace weft {

class RunContext;

class PlatformRecovery : public RecordPart {
  ResentTransfers transfers_;

  explicit PlatformRecovery(const RecoveryModel& model) : transfers_(model) {}

public:
  /** Adds the recovery of the settings to a run on a platform. Returns null if there is none; the result lives as long
   * as the process. Throws UserError. */
  static ResentTransfers* serve(RunContext& context);

  void add_rows(Json& record) const override;
};

} // namespace weft
