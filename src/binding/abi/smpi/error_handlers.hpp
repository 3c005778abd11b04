// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's error handlers (src/smpi/include/smpi_errhandler.hpp). */
#pragma once

#include <smpi/smpi.h>

namespace simgrid::smpi {

class Errhandler {
public:
  void call(MPI_Comm comm, int code) const; ///< only for a function of the program
  void call(MPI_File file, int code) const;
  void ref();
  static void unref(Errhandler* handler);
};

} // namespace simgrid::smpi
