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
 * the unit's lock, for which flushing all units would then wait for ever. Here each such statement gets a status and a
 * message, so that libgfortran completes it and frees the unit; then the rank reports the error in libgfortran's words,
 * with the program's unit number, and ends as by exit(2), libgfortran's status for run-time errors (exit_error() in its
 * runtime/error.c). */
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

/** Unit of a statement: libgfortran's number, and the rank's own. */
struct StatementUnit {
  std::int32_t number;
  std::int32_t own;
  bool is_internal; ///< a character variable rather than a file
};

/** Returns a function of libgfortran, which a program calls. Linkers leave the library out of a program that calls only
 * functions that libweft.so replaces; it is loaded here then. */
template <class Function> Function fortran_definition(const char* symbol)
{
  if (const auto found = next_definition<Function>(symbol))
    return found;
  static void* const LIBRARY = dlopen("libgfortran.so.5", RTLD_LAZY);
  return reinterpret_cast<Function>(LIBRARY ? dlsym(LIBRARY, symbol) : nullptr);
}

/** libgfortran's function that executes a statement, or begins or ends a READ or WRITE. */
using StatementFunction = void (*)(StatementParameters*);

using StatementCallback = void (*)();
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): at each statement
/** Called before each statement of a rank on a file, outside of libgfortran's locks; null if nobody needs it. */
extern constinit StatementCallback before_statement;
/** Called after each OPEN of a rank. */
extern constinit StatementCallback after_open;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** Returns whether libgfortran executes a statement, in which a rank neither yields nor ends. */
bool is_in_fortran_statement();

/** Maps the default file name of an unnamed unit, such as "fort.1000000007", to the name with the rank's own unit
 * number. */
std::string own_name(const char* path);

/** Makes device numbers differ between ranks: libgfortran identifies files by device and inode. @return @p result */
int told_apart(int result, struct stat* file);

/** Returns whether a READ or WRITE accesses a character variable. */
bool is_internal_transfer(const StatementParameters& parameters);

/** Prepares a statement of the actor @p rank. A READ or WRITE, which @p end ends, lasts until forget_transfer(); other
 * statements have none. Ends the rank if a transfer in progress holds the unit's lock: the statement would wait for
 * ever. */
void begin_statement(StatementParameters& parameters, const StatementUnit& unit, aid_t rank, StatementFunction end);

/** Ends the rank if a transfer in progress holds the unit's lock, for functions that are not statements. */
void refuse_unit_in_transfer(const StatementUnit& unit, aid_t rank);

/** Reports an error of a completed statement that the program does not catch, and ends the rank. */
void end_statement(StatementParameters& parameters, std::int32_t own_unit);

/** Marks the begin and the end of procedures of defined I/O in a transfer, which may use its unit. */
void begin_procedures(const StatementParameters& parameters);
void end_procedures(const StatementParameters& parameters);

/** Notes that a READ or WRITE has ended. */
void forget_transfer(const StatementParameters& parameters);

/** Completes the transfers of the actor @p rank, which ends inside of them (STOP in a function of the list), without
 * the rest of their records, so that no unit stays locked. */
void abandon_transfers(aid_t rank);

bool any_transfer();
bool is_in_transfer(std::int32_t number);

/** Notes a unit number that libgfortran has chosen (NEWUNIT=). */
void note_new_unit(std::int32_t number);
/** Returns the numbers that note_new_unit() was given. */
const std::set<std::int32_t>& new_units();

} // namespace weft
