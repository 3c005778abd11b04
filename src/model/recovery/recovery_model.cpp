// SPDX-License-Identifier: LGPL-2.1-only
#include "model/recovery/recovery_model.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace weft {

Seconds RecoveryModel::timeout_after(int others) const
{
  return Seconds(timeout.value() * std::pow(backoff, others));
}

Seconds RecoveryModel::time_of(int timeouts) const
{
  if (backoff == 1)
    return Seconds(timeouts * timeout.value());
  return Seconds(timeout.value() * (std::pow(backoff, timeouts) - 1) / (backoff - 1));
}

std::string RecoveryModel::timeouts() const
{
  const std::string first = std::to_string(retries) + " retries after timeouts of " + to_text(timeout);
  if (backoff == 1)
    return first + " each";
  std::ostringstream factor;
  factor << backoff;
  return first + ", each " + factor.str() + " times as long as the last";
}

std::string RecoveryModel::give_up_message(const std::string& who, Seconds now, const std::string& obstacle) const
{
  return who + " at " + to_text(now) + ": " + timeouts() + " (" + obstacle + ")";
}

RecoveryCounts& RecoveryCounts::operator+=(const RecoveryCounts& others)
{
  cut += others.cut;
  lost += others.lost;
  resumed += others.resumed;
  given_up += others.given_up;
  waited_s += others.waited_s;
  longest_waiting_s = std::max(longest_waiting_s, others.longest_waiting_s);
  return *this;
}

} // namespace weft
