// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/fortran.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace weft {
namespace {

// Flags of parameter blocks (gcc/fortran/ioparm.def of GCC, and libgfortran's io/io.h).
constexpr std::uint32_t RESULT           = 3U; ///< result of the statement: 0, or one of the next three
constexpr std::uint32_t WITH_ERROR       = 1U;
constexpr std::uint32_t AT_END           = 2U;
constexpr std::uint32_t AT_END_OF_RECORD = 3U;
constexpr std::uint32_t CATCHES_ERROR    = 1U << 2U; ///< ERR=
constexpr std::uint32_t CATCHES_END      = 1U << 3U; ///< END=
constexpr std::uint32_t CATCHES_RECORD   = 1U << 4U; ///< EOR=
constexpr std::uint32_t HAS_STATUS       = 1U << 5U; ///< IOSTAT=
constexpr std::uint32_t HAS_MESSAGE      = 1U << 6U; ///< IOMSG=
constexpr std::uint32_t IS_INTERNAL      = 1U << 14U;
constexpr std::uint32_t INQUIRE_HAS_NAME = 1U << 22U;
constexpr int RUN_TIME_ERROR             = 2; ///< libgfortran's exit status

/** Parameters of INQUIRE up to the name of the file; libgfortran's block is longer. */
struct NameInquiry {
  StatementParameters common{};
  std::array<void*, 23> before{};
  char* name              = nullptr;
  std::size_t name_length = 0;
  std::array<void*, 64> after{};
};

/** READ or WRITE in progress, which holds its unit's lock. */
struct Transfer {
  StatementParameters* parameters;
  StatementUnit unit;
  aid_t rank;
  StatementFunction end;
  int procedures; ///< nesting depth of procedures of defined I/O
};

std::vector<Transfer>& transfers()
{
  static std::vector<Transfer> all;
  return all;
}

std::set<std::int32_t>& chosen_units()
{
  static std::set<std::int32_t> all;
  return all;
}

/** Status and error text supplied to statements that request none. Ranks do not switch between an error and its
 * report. */
std::int32_t& given_status()
{
  static std::int32_t status = 0;
  return status;
}

std::array<char, 1024>& given_message()
{
  static std::array<char, 1024> text{};
  return text;
}

/** Returns a Fortran string without its trailing blanks. */
std::string trimmed(std::string_view text)
{
  const std::size_t last = text.find_last_not_of(' ');
  return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

/** Returns the name of the file that is connected to a unit; empty if none is. */
std::string file_of(std::int32_t number)
{
  static const auto INQUIRE = fortran_definition<void (*)(NameInquiry*)>("_gfortran_st_inquire");
  std::string name(4096, ' ');
  std::int32_t status = 0;
  NameInquiry inquiry;
  inquiry.common.flags  = HAS_STATUS | INQUIRE_HAS_NAME;
  inquiry.common.unit   = number;
  inquiry.common.status = &status;
  inquiry.name          = name.data();
  inquiry.name_length   = name.size();
  INQUIRE(&inquiry);
  return trimmed(name);
}

/** Describes the location of a statement like libgfortran. */
std::string place_of(const StatementParameters& parameters, std::int32_t own_unit, const std::string& file)
{
  std::string text = "At line " + std::to_string(parameters.line) + " of file " +
                     (parameters.source_file ? parameters.source_file : "an unnamed source");
  if (own_unit > 0)
    text += " (unit = " + std::to_string(own_unit) + (file.empty() ? "" : ", file = '" + file + "'") + ")";
  return text;
}

/** Prints a run-time error in libgfortran's form, and ends the rank. */
[[noreturn]] void end_program(const std::string& place, const std::string& error)
{
  const std::string text                 = place + "\nFortran runtime error: " + error + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size()); // may fail, if nobody reads
  std::exit(RUN_TIME_ERROR);
}

const Transfer* transfer_on(std::int32_t number)
{
  const auto found = std::ranges::find_if(
      transfers(), [number](const Transfer& one) { return not one.unit.is_internal && one.unit.number == number; });
  return found == transfers().end() ? nullptr : &*found;
}

Transfer* transfer_of(const StatementParameters& parameters)
{
  const auto found = std::ranges::find(transfers(), &parameters, &Transfer::parameters);
  return found == transfers().end() ? nullptr : &*found;
}

/** Returns the reason why a statement on the unit would wait forever; nothing if it would not. */
std::optional<std::string> why_stuck(const StatementUnit& unit, aid_t rank)
{
  const Transfer* const holder = unit.is_internal ? nullptr : transfer_on(unit.number);
  if (not holder || (holder->rank == rank && holder->procedures > 0))
    return std::nullopt;
  const std::string there =
      " statement at line " + std::to_string(holder->parameters->line) + " of " + holder->parameters->source_file;
  if (holder->rank == rank)
    return "Recursive I/O: the unit is in use by the" + there + ", whose list calls a function that uses the unit";
  return "The unit is shared by all ranks and in use by another rank's" + there +
         ", whose list calls a function that waits in MPI; call the function before the statement";
}

void ask_for_status(StatementParameters& parameters)
{
  if ((parameters.flags & HAS_STATUS) != 0)
    return;
  parameters.flags |= HAS_STATUS;
  parameters.status = &given_status();
  if ((parameters.flags & HAS_MESSAGE) != 0)
    return;
  parameters.flags |= HAS_MESSAGE;
  parameters.message        = given_message().data();
  parameters.message_length = given_message().size();
}

/** Returns whether the program handles the result of the statement. */
bool is_caught(std::uint32_t flags)
{
  switch (flags & RESULT) {
    case WITH_ERROR:
      return (flags & CATCHES_ERROR) != 0;
    case AT_END:
      return (flags & CATCHES_END) != 0;
    case AT_END_OF_RECORD:
      return (flags & CATCHES_RECORD) != 0;
    default:
      return true;
  }
}

} // namespace

bool is_internal_transfer(const StatementParameters& parameters)
{
  return (parameters.flags & IS_INTERNAL) != 0;
}

void begin_statement(StatementParameters& parameters, const StatementUnit& unit, aid_t rank, StatementFunction end)
{
  if (not transfers().empty())
    if (const std::optional<std::string> why = why_stuck(unit, rank))
      end_program(place_of(parameters, unit.own, ""), *why);
  ask_for_status(parameters);
  if (end)
    transfers().push_back({&parameters, unit, rank, end, 0});
}

void refuse_unit_in_transfer(const StatementUnit& unit, aid_t rank)
{
  if (transfers().empty())
    return;
  if (const std::optional<std::string> why = why_stuck(unit, rank))
    end_program("In a procedure for unit " + std::to_string(unit.own), *why);
}

void end_statement(StatementParameters& parameters, std::int32_t own_unit)
{
  if ((parameters.flags & HAS_STATUS) == 0 || parameters.status != &given_status())
    return;
  if (not is_caught(parameters.flags)) {
    const std::string error = trimmed({parameters.message, parameters.message_length});
    end_program(place_of(parameters, own_unit, own_unit > 0 ? file_of(parameters.unit) : ""), error);
  }
  parameters.flags &= ~HAS_STATUS;
  if (parameters.message == given_message().data())
    parameters.flags &= ~HAS_MESSAGE;
}

void begin_procedures(const StatementParameters& parameters)
{
  if (Transfer* const transfer = transfer_of(parameters))
    ++transfer->procedures;
}

void end_procedures(const StatementParameters& parameters)
{
  if (Transfer* const transfer = transfer_of(parameters))
    --transfer->procedures;
}

void forget_transfer(const StatementParameters& parameters)
{
  std::erase_if(transfers(), [&parameters](const Transfer& one) { return one.parameters == &parameters; });
}

void abandon_transfers(aid_t rank)
{
  // A failed transfer neither writes nor reads more data at its end.
  while (not transfers().empty()) {
    const auto last = std::ranges::find(transfers().rbegin(), transfers().rend(), rank, &Transfer::rank);
    if (last == transfers().rend())
      return;
    const Transfer abandoned = *last;
    transfers().erase(std::next(last).base());
    abandoned.parameters->flags = (abandoned.parameters->flags & ~RESULT) | WITH_ERROR;
    abandoned.end(abandoned.parameters);
  }
}

bool any_transfer()
{
  return not transfers().empty();
}

bool is_in_transfer(std::int32_t number)
{
  return transfer_on(number) != nullptr;
}

void note_new_unit(std::int32_t number)
{
  chosen_units().insert(number);
}

const std::set<std::int32_t>& new_units()
{
  return chosen_units();
}

} // namespace weft
