// SPDX-License-Identifier: LGPL-2.1-only
/* Objects behind MPI's handles (src/smpi/include/smpi_f2c.hpp). */
#pragma once

#include <memory>
#include <unordered_map>

namespace simgrid::smpi {

/** Base class of these objects, which Fortran knows by number; interposed in binding/tuning/request_numbers.cpp. */
class F2C {
  static std::unique_ptr<std::unordered_map<unsigned, F2C*>> f2c_lookup_; // NOLINT(readability-identifier-naming)

public:
  static void free_f(int number) { f2c_lookup_->erase(static_cast<unsigned>(number)); }
  int add_f();                 ///< assigns a number
  int c2f();                   ///< its number, assigned now if it has none
  static F2C* f2c(int number); ///< null for an unknown number
};

/** First fields of the objects behind handles (F2C), in communicators and requests. */
struct HandleLayout {
  void* virtual_table;
  int f2c_id;
  bool deleted; ///< freed, but still in use within SMPI
};

/** Number of an object that has none yet. */
constexpr int UNNUMBERED = -1;

} // namespace simgrid::smpi
