// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/congestion/congestion_control.hpp"

namespace weft {

const CongestionControlRow* find_congestion_control(CongestionControl kind)
{
  for (const CongestionControlRow* const row :
       {&dcqcn_row(), &infiniband_row(), &nscc_row(), &swift_row(), &timely_row()})
    if (row->kind == kind)
      return row;
  return nullptr;
}

} // namespace weft
