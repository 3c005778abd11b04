// SPDX-License-Identifier: LGPL-2.1-only
/* Places in the program from which MPI is called (src/instr/instr_smpi.hpp). */
#pragma once

#include <string>

/** Interposed in binding/tuning/message_numbers.cpp. */
class smpi_trace_call_location_t { // NOLINT(readability-identifier-naming): SMPI's name
public:
  std::string get_call_location() const;
};
