// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid's platform errors as exceptions. */
#pragma once

namespace weft {

/** Scope in which a critical log message of SimGrid, after which SimGrid would abort, is thrown as a std::runtime_error
 * (smpi_log.cpp). For use while no rank runs. */
class RefusalsAsErrors {
  bool before_;

public:
  RefusalsAsErrors();
  RefusalsAsErrors(const RefusalsAsErrors&)            = delete;
  RefusalsAsErrors& operator=(const RefusalsAsErrors&) = delete;
  ~RefusalsAsErrors();
  /** Returns whether such a scope is open. */
  static bool exist();
};

} // namespace weft
