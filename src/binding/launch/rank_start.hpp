// SPDX-License-Identifier: LGPL-2.1-only
/* Start of a rank in one of the launcher's worlds. */
#pragma once

#include "binding/launch/job_file.hpp"

#include <functional>
#include <string>

namespace weft {

/** Position of a rank in its world. */
struct RankPlace {
  std::string world; ///< SMPI's name of the world, which must be registered
  int rank;
  std::string host;
};

/** Starts a rank of a program. Calls @p note with its actor before it runs. */
void start_rank(const JobLaunch& launch, const RankPlace& place, const std::function<void(aid_t)>& note);

} // namespace weft
