// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran I/O units and files, separate for each rank.
 *
 * libgfortran numbers the units of a process and refuses to open a file twice. Since all ranks run
 * in one process, each rank's unit numbers are mapped to unique ones on the way into libgfortran,
 * and a file appears as a different one to each rank. Units 0, 5 and 6 belong to the process until
 * a rank opens a file as such a unit.
 *
 * Layouts are those of libgfortran 5 (GCC 8 and later): libgfortran/io/io.h,
 * gcc/fortran/ioparm.def.
 *
 * libgfortran ends the program at an error that a statement does not catch (IOSTAT=, ERR=, END=, EOR=), while it holds
 * the unit's lock, for which flushing all units would then wait forever. Here each such statement gets a status and an
 * error text, so that libgfortran completes it and releases the unit; then the rank reports the error with
 * libgfortran's wording and the program's unit number, and ends as by exit(2), libgfortran's status for run-time errors
 * (exit_error() in its runtime/error.c). */
#pragma once

#include "binding/abi/interposed_symbol.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <simgrid/forward.h>
#include <string>

struct stat; // NOLINT(readability-identifier-naming): the system's

namespace weft {

/** Flushes all output buffers of C and Fortran. */
void flush_output();

// ---- I/O statements ------------------------------------------------------------------------------------------------

/** Common head of libgfortran's parameter blocks (st_parameter_common in its io/io.h). */
struct StatementParameters {
  std::uint32_t flags;
  std::int32_t unit;
  const char* source_file;
  std::int32_t line;
  std::size_t message_length;
  char* message;
  std::int32_t* status;
};

/** Unit of a statement: libgfortran's number, and the rank's own number. */
struct StatementUnit {
  std::int32_t number;
  std::int32_t own;
  bool is_internal; ///< true for a character variable rather than a file
};

/** Returns a function of libgfortran for the program. Linkers omit the library from a program whose calls libweft.so
 * all interposes on; it is then loaded here. */
template <class Function> Function fortran_definition(const char* symbol)
{
  if (const auto found = next_definition<Function>(symbol))
    return found;
  static void* const LIBRARY = dlopen("libgfortran.so.5", RTLD_LAZY);
  return reinterpret_cast<Function>(LIBRARY ? dlsym(LIBRARY, symbol) : nullptr);
}

/** libgfortran's function that executes a statement, or starts or ends a READ or WRITE. */
using StatementFunction = void (*)(StatementParameters*);

using StatementCallback = void (*)();
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): at each statement
/** Called before each file statement of a rank, outside libgfortran's locks; null if unused. */
extern constinit StatementCallback before_statement;
/** Called after each OPEN of a rank. */
extern constinit StatementCallback after_open;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** Returns whether libgfortran is executing a statement, during which a rank neither yields nor ends. */
bool is_in_fortran_statement();

/** Maps the default file name of an unnamed unit, such as "fort.1000000007", to the name with the rank's own unit
 * number. */
std::string own_name(const char* path);

/** Makes device numbers differ between ranks: libgfortran identifies files by device and inode. @return @p result */
int told_apart(int result, struct stat* file);

/** Returns whether a READ or WRITE accesses a character variable. */
bool is_internal_transfer(const StatementParameters& parameters);

/** Prepares a statement of the actor @p rank. A READ or WRITE, which @p end ends, lasts until forget_transfer(); other
 * statements start no transfer. Ends the rank if a transfer in progress holds the unit's lock, since the statement
 * would wait forever. */
void begin_statement(StatementParameters& parameters, const StatementUnit& unit, aid_t rank, StatementFunction end);

/** Ends the rank if a transfer in progress holds the unit's lock, for functions that are not statements. */
void refuse_unit_in_transfer(const StatementUnit& unit, aid_t rank);

/** Reports an error of a completed statement that the program does not catch, and ends the rank. */
void end_statement(StatementParameters& parameters, std::int32_t own_unit);

/** Marks the start and the end of procedures of defined I/O in a transfer, which may use its unit. */
void begin_procedures(const StatementParameters& parameters);
void end_procedures(const StatementParameters& parameters);

/** Records that a READ or WRITE has ended. */
void forget_transfer(const StatementParameters& parameters);

/** Completes the transfers of the actor @p rank, which ends during them (STOP in a function in the I/O list), without
 * the rest of their records, so that no unit stays locked. */
void abandon_transfers(aid_t rank);

bool any_transfer();
bool is_in_transfer(std::int32_t number);

/** Records a unit number that libgfortran has chosen (NEWUNIT=). */
void note_new_unit(std::int32_t number);
/** Returns the unit numbers passed to note_new_unit(). */
const std::set<std::int32_t>& new_units();

} // namespace weft
