// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's windows (src/smpi/include/smpi_win.hpp). */
#pragma once

#include <smpi/smpi.h>

namespace simgrid::smpi {

class Win {
public:
  static int keyval_id_; // NOLINT(readability-identifier-naming): SMPI's name; the next keyval
  MPI_Comm comm() const;
  int flush(int target);
  int start(MPI_Group group, int assertion);
  /* Interposed in binding/entries/windows/locks.cpp. */
  int lock(int type, int target, int assertion);
  int unlock(int target);
  int compare_and_swap(const void* value, const void* compared, void* result, MPI_Datatype type, int target,
                       MPI_Aint displacement);
  int put(const void* origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
          int target_count, MPI_Datatype target_type, MPI_Request* request);
};

} // namespace simgrid::smpi
