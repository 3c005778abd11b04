// SPDX-License-Identifier: LGPL-2.1-only
/* A mechanism's additions to the record, on top of the rows common to all mechanisms. */
#pragma once

#include "binding/observe/json/json.hpp"
#include "fabric/topology/topology.hpp"

#include <string_view>

namespace weft {

class RecordPart {
public:
  RecordPart()                             = default;
  RecordPart(const RecordPart&)            = delete;
  RecordPart& operator=(const RecordPart&) = delete;
  virtual ~RecordPart()                    = default;

  /** Adds fields after the rows of calls. */
  virtual void add_rows(Json& /*record*/) const {}
  /** Adds fields that list individual calls, if events are kept. */
  virtual void add_events(Json& /*record*/) const {}
  /** Name of the field that this mechanism adds to links; empty: none. */
  virtual std::string_view link_field() const { return {}; }
  virtual double on_link(LinkId /*link*/) const { return 0; }
};

} // namespace weft
