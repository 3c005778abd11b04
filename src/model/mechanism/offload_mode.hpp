// SPDX-License-Identifier: LGPL-2.1-only
/* What a run (`--offload`) or a [[policy]] table asks for: nothing, a mechanism, or what is predicted to be fastest. */
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
  /** Off: the hosts do everything. */
  OffloadMode() = default;
  /** @p kind wherever it can do a call. */
  explicit OffloadMode(const MechanismKind& kind) : mechanism_(&kind) {}
  static OffloadMode off() { return {}; }
  /** A mechanism wherever that is predicted to be faster than the hosts. */
  static OffloadMode automatic()
  {
    OffloadMode mode;
    mode.is_automatic_ = true;
    return mode;
  }

  bool is_off() const { return not mechanism_ && not is_automatic_; }
  bool is_automatic() const { return is_automatic_; }
  /** The one that is asked for; null where none is. */
  const MechanismKind* mechanism() const { return mechanism_; }
  bool operator==(const OffloadMode& other) const = default;
};

template <> struct Names<OffloadMode> {
  /** The mechanisms first, in their order. */
  static std::vector<std::pair<OffloadMode, std::string_view>> rows();
};

} // namespace weft
