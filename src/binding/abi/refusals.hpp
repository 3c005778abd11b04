// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid's refusals of a platform as exceptions. */
#pragma once

namespace weft {

/** While one exists, a critical message of SimGrid's, after which it would abort, is thrown as a std::runtime_error
 *  (complaints.cpp). For times in which no rank runs. */
class RefusalsAsErrors {
  bool before_;

public:
  RefusalsAsErrors();
  RefusalsAsErrors(const RefusalsAsErrors&)            = delete;
  RefusalsAsErrors& operator=(const RefusalsAsErrors&) = delete;
  ~RefusalsAsErrors();
  /** Whether there is one. */
  static bool exist();
};

} // namespace weft
