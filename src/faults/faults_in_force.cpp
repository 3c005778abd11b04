// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/faults_in_force.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft {
namespace {

[[noreturn]] void refuse_end()
{
  throw std::logic_error("a fault ends that is not in force");
}

/** Counts a fault that begins or ends. Returns whether it is the first or was the last fault of its part. */
bool count(std::map<int, int>& faults, const FabricChange& change)
{
  if (not change.over)
    return ++faults[change.number] == 1;
  const auto found = faults.find(change.number);
  if (found == faults.end())
    refuse_end();
  if (--found->second > 0)
    return false;
  faults.erase(found);
  return true;
}

/** Adds the value of a fault that begins, or removes that of one that ends. */
void collect(std::map<LinkId, std::multiset<double>>& values, const FabricChange& change, double value)
{
  if (not change.over) {
    values[change.number].insert(value);
    return;
  }
  std::multiset<double>& its = values[change.number];
  const auto found           = its.find(value);
  if (found == its.end())
    refuse_end();
  its.erase(found);
  if (its.empty())
    values.erase(change.number);
}

} // namespace

bool FaultsInForce::apply(const FabricChange& change)
{
  switch (change.what) {
    case FabricChange::What::link:
      return count(links_down_, change);
    case FabricChange::What::device:
      return count(switches_down_, change);
    case FabricChange::What::bandwidth:
      collect(factors_, change, change.factor);
      return false;
    case FabricChange::What::loss:
      collect(losses_, change, change.loss);
      return false;
  }
  return false;
}

double FaultsInForce::bandwidth(LinkId link) const
{
  const auto found = factors_.find(link);
  return found == factors_.end() ? 1 : *found->second.begin();
}

double FaultsInForce::loss(LinkId link) const
{
  const auto found = losses_.find(link);
  double lost      = 0;
  if (found != losses_.end())
    for (const double one : found->second)
      lost += one - lost * one;                // exact for one fault
  return std::min(lost, std::nextafter(1, 0)); // rounding of many
}

} // namespace weft
