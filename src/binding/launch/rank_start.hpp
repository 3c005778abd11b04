// SPDX-License-Identifier: LGPL-2.1-only
/* Start of a rank of a world of the launcher. */
#pragma once

#include "binding/launch/job_file.hpp"

#include <functional>
#include <string>

namespace weft {

/** Place of a rank in its world. */
struct RankPlace {
  std::string world; ///< SMPI's name of the world, which has been registered
  int rank;
  std::string host;
};

/** Starts a rank of a program. Calls @p note with its actor before it runs. */
void start_rank(const JobLaunch& launch, const RankPlace& place, const std::function<void(aid_t)>& note);

} // namespace weft
