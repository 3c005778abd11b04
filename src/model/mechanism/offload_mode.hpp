// SPDX-License-Identifier: LGPL-2.1-only
/* Offload mode of a run (`--offload`) or a [[policy]] table: off, a mechanism, or automatic. */
#pragma once

#include "base/named.hpp"
#include "model/mechanism/mechanism_kind.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace weft {

class OffloadMode {
  const MechanismKind* mechanism_ = nullptr;
  bool is_automatic_              = false;

public:
  /** Off: the hosts execute all collectives. */
  OffloadMode() = default;
  /** Offloads every call that @p kind supports. */
  explicit OffloadMode(const MechanismKind& kind) : mechanism_(&kind) {}
  static OffloadMode off() { return {}; }
  /** Offloads the calls that are predicted to be faster than on the hosts. */
  static OffloadMode automatic()
  {
    OffloadMode mode;
    mode.is_automatic_ = true;
    return mode;
  }

  bool is_off() const { return not mechanism_ && not is_automatic_; }
  bool is_automatic() const { return is_automatic_; }
  /** Returns the requested mechanism, or null. */
  const MechanismKind* mechanism() const { return mechanism_; }
  bool operator==(const OffloadMode& other) const = default;
};

template <> struct Names<OffloadMode> {
  /** Returns the modes with their names: the mechanisms in table order, then off and automatic. */
  static std::vector<std::pair<OffloadMode, std::string_view>> rows();
};

} // namespace weft
