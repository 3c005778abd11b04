// SPDX-License-Identifier: LGPL-2.1-only
#include "model/link/link_model.hpp"

#include <string>

namespace weft {

const std::vector<Option<LinkModel>>& link_options()
{
  using M = LinkModel;
  static const std::vector<Option<M>> ROWS{
      {"bandwidth", "bandwidth of each direction of a cable", &M::bandwidth},
      {"latency", "latency of each direction of a cable, including the host and NIC at its end", &M::latency,
       Need::required, Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<CablePort>>& cable_port_options()
{
  static const std::vector<Option<CablePort>> ROWS{
      {"port", "number of the cable's port at its upper switch, from 0", &CablePort::port,
       Need::otherwise("in the order of its cables"), Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<LinkTable>>& link_sharing_options()
{
  static const std::vector<Option<LinkTable>> ROWS{
      {"sharing", "who shares a full link: each flow, each source host, or each job by its weight", &LinkTable::sharing,
       Need::optional},
  };
  return ROWS;
}

namespace {

/** Returns the names of the keys of a table. */
template <class T> std::vector<std::string> keys_of(const std::vector<Option<T>>& rows)
{
  std::vector<std::string> keys;
  keys.reserve(rows.size());
  for (const Option<T>& row : rows)
    keys.push_back(row.key);
  return keys;
}

} // namespace

LinkTable read_link(const OptionTable& table)
{
  LinkTable link;
  const auto given = read_options(table, link_options(), keys_of(link_sharing_options()), link.model);
  read_options(table, link_sharing_options(), keys_of(link_options()), link);
  require_options(table, link_options(), given);
  return link;
}

} // namespace weft
