// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/fortran.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
constinit StatementCallback before_statement = nullptr;
constinit StatementCallback after_open       = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

using Parameters = StatementParameters;

struct InquireParameters {
  Parameters common;
  std::int32_t* exists;
  std::int32_t* opened;
  std::int32_t* number;
};

constexpr std::uint32_t OPEN_HAS_FILE      = 1U << 8U;
constexpr std::uint32_t INQUIRE_HAS_NUMBER = 1U << 9U;
constexpr std::int32_t FIRST_NUMBER        = 1'000'000'000;
constexpr std::string_view DEFAULT_NAME    = "fort."; // file name of an unnamed unit, followed by its number

class Units {
  std::map<std::pair<aid_t, std::int32_t>, std::int32_t> numbers_; // by actor and the rank's own unit number
  std::map<std::int32_t, std::int32_t> own_numbers_;

public:
  /** Depth of nested calls of libgfortran's statements; a rank neither yields nor ends inside them. */
  int inside = 0;

  static bool is_preconnected(std::int32_t unit) { return unit == 0 || unit == 5 || unit == 6; }

  /** Returns libgfortran's number for a rank's unit. Negative numbers (NEWUNIT, internal units) are
   * unique to a rank anyway. */
  std::int32_t number(aid_t rank, std::int32_t unit, bool opens_file)
  {
    const auto found = numbers_.find({rank, unit});
    if (found != numbers_.end())
      return found->second;
    if (unit < 0 || (is_preconnected(unit) && not opens_file))
      return unit;
    if (own_numbers_.contains(unit)) // a procedure of defined I/O, to which libgfortran passed its number
      return unit;
    const auto fresh = FIRST_NUMBER + static_cast<std::int32_t>(own_numbers_.size());
    numbers_.emplace(std::pair(rank, unit), fresh);
    own_numbers_.emplace(fresh, unit);
    return fresh;
  }

  /** Returns the rank's number for libgfortran's @p number. */
  std::int32_t own(std::int32_t number) const
  {
    const auto found = own_numbers_.find(number);
    return found == own_numbers_.end() ? number : found->second;
  }

  /** Calls @p flush for each of libgfortran's units with a positive number. */
  template <class Flush> void for_each(Flush flush) const
  {
    for (const std::int32_t preconnected : {0, 5, 6})
      flush(preconnected);
    for (const auto& [number, own] : own_numbers_)
      flush(number);
  }

  void forget(aid_t rank, std::int32_t unit)
  {
    if (is_preconnected(unit))
      numbers_.erase({rank, unit});
  }
};

/** Returns the current rank as an actor, which is unique across jobs; nothing if no rank runs. */
std::optional<aid_t> actor_of_rank()
{
  return rank_here() ? std::optional(current_actor()) : std::nullopt;
}

Units& units()
{
  static Units the_units;
  return the_units;
}

/** Executes a statement on the rank's own unit, or the start of a READ or WRITE, which @p end ends. */
void perform_on_own_unit(StatementFunction perform, Parameters* parameters, bool opens_file,
                         StatementFunction end = nullptr)
{
  const std::optional<aid_t> rank = actor_of_rank();
  if (not rank) {
    perform(parameters);
    return;
  }
  const bool is_internal = end && is_internal_transfer(*parameters);
  if (before_statement && not is_internal && units().inside == 0)
    before_statement();
  const std::int32_t number = is_internal ? parameters->unit : units().number(*rank, parameters->unit, opens_file);
  const StatementUnit unit{.number = number, .own = units().own(number), .is_internal = is_internal};
  begin_statement(*parameters, unit, *rank, end);
  parameters->unit = number;
  ++units().inside;
  perform(parameters);
  --units().inside;
  if (not end)
    end_statement(*parameters, units().own(parameters->unit));
}

/** Executes the end of a data transfer. */
void end_transfer(StatementFunction perform, Parameters* parameters)
{
  begin_procedures(*parameters); // a namelist may call procedures of defined I/O
  perform(parameters);
  forget_transfer(*parameters);
  if (actor_of_rank())
    end_statement(*parameters, units().own(parameters->unit));
}

/** Returns the address of libgfortran's number for the rank's unit; null, which means all units, stays null. */
std::int32_t* own_unit(const std::int32_t* unit)
{
  static std::int32_t number;
  const std::optional<aid_t> rank = actor_of_rank();
  if (unit)
    number = rank ? units().number(*rank, *unit, false) : *unit;
  if (unit && rank)
    refuse_unit_in_transfer({.number = number, .own = *unit, .is_internal = false}, *rank);
  return unit ? &number : nullptr;
}

} // namespace

std::string own_name(const char* path)
{
  const std::string_view name(path);
  std::int32_t number = 0;
  if (units().inside > 0 && name.starts_with(DEFAULT_NAME) &&
      std::from_chars(name.data() + DEFAULT_NAME.size(), name.data() + name.size(), number).ec == std::errc())
    return std::string(DEFAULT_NAME) + std::to_string(units().own(number));
  return std::string(name);
}

int told_apart(int result, struct stat* file)
{
  if (result == 0 && units().inside > 0)
    if (const std::optional<aid_t> rank = actor_of_rank())
      file->st_dev ^= static_cast<dev_t>(*rank + 1) << 32U;
  return result;
}

bool is_in_fortran_statement()
{
  return units().inside > 0;
}

void flush_output()
{
  std::fflush(nullptr);
  const auto flush = next_definition<void (*)(std::int32_t*)>("_gfortran_flush_i4");
  if (not flush)
    return;
  ++units().inside; // no rank yields during libgfortran's writes here
  if (not any_transfer()) {
    flush(nullptr);
    --units().inside;
    return;
  }
  // A transfer locks its unit, and flushing all units would wait for it.
  const auto flush_one = [flush](std::int32_t number) {
    if (not is_in_transfer(number))
      flush(&number);
  };
  units().for_each(flush_one);
  std::ranges::for_each(new_units(), flush_one);
  --units().inside;
}

} // namespace weft

// ---- Replaced functions of libgfortran ------------------------------------------------------------------------------

#define WEFT_STATEMENT(name)                                                                                           \
  extern "C" void weft_##name(weft::Parameters* parameters) WEFT_REPLACES("_gfortran_" #name);                         \
  void weft_##name(weft::Parameters* parameters)                                                                       \
  {                                                                                                                    \
    static const auto PERFORM = weft::fortran_definition<weft::StatementFunction>("_gfortran_" #name);                 \
    weft::perform_on_own_unit(PERFORM, parameters, false);                                                             \
  }

WEFT_STATEMENT(st_rewind)
WEFT_STATEMENT(st_backspace)
WEFT_STATEMENT(st_endfile)
WEFT_STATEMENT(st_flush)
WEFT_STATEMENT(st_wait)
WEFT_STATEMENT(st_wait_async)

/** Interposes on the start and the end of a READ or WRITE. */
#define WEFT_TRANSFER(name)                                                                                            \
  extern "C" void weft_##name(weft::Parameters* parameters) WEFT_REPLACES("_gfortran_" #name);                         \
  extern "C" void weft_##name##_done(weft::Parameters* parameters) WEFT_REPLACES("_gfortran_" #name "_done");          \
  void weft_##name(weft::Parameters* parameters)                                                                       \
  {                                                                                                                    \
    static const auto PERFORM = weft::fortran_definition<weft::StatementFunction>("_gfortran_" #name);                 \
    static const auto END     = weft::fortran_definition<weft::StatementFunction>("_gfortran_" #name "_done");         \
    weft::perform_on_own_unit(PERFORM, parameters, false, END);                                                        \
  }                                                                                                                    \
  void weft_##name##_done(weft::Parameters* parameters)                                                                \
  {                                                                                                                    \
    static const auto END = weft::fortran_definition<weft::StatementFunction>("_gfortran_" #name "_done");             \
    weft::end_transfer(END, parameters);                                                                               \
  }

WEFT_TRANSFER(st_read)
WEFT_TRANSFER(st_write)

#define WEFT_DEFINED_TRANSFER(name)                                                                                    \
  extern "C" void weft_##name(weft::Parameters* parameters, void* object, void* type)                                  \
      WEFT_REPLACES("_gfortran_" #name);                                                                               \
  void weft_##name(weft::Parameters* parameters, void* object, void* type)                                             \
  {                                                                                                                    \
    static const auto PERFORM = weft::fortran_definition<decltype(&weft_##name)>("_gfortran_" #name);                  \
    weft::begin_procedures(*parameters);                                                                               \
    PERFORM(parameters, object, type);                                                                                 \
    weft::end_procedures(*parameters);                                                                                 \
  }

WEFT_DEFINED_TRANSFER(transfer_derived)
WEFT_DEFINED_TRANSFER(transfer_derived_write)

extern "C" void weft_st_open(weft::Parameters* parameters) WEFT_REPLACES("_gfortran_st_open");
void weft_st_open(weft::Parameters* parameters)
{
  static const auto PERFORM = weft::fortran_definition<weft::StatementFunction>("_gfortran_st_open");
  weft::perform_on_own_unit(PERFORM, parameters, (parameters->flags & weft::OPEN_HAS_FILE) != 0);
  if (parameters->unit < 0)
    weft::note_new_unit(parameters->unit);
  if (weft::after_open)
    weft::after_open();
}

extern "C" void weft_st_close(weft::Parameters* parameters) WEFT_REPLACES("_gfortran_st_close");
void weft_st_close(weft::Parameters* parameters)
{
  const std::int32_t unit   = parameters->unit;
  static const auto PERFORM = weft::fortran_definition<weft::StatementFunction>("_gfortran_st_close");
  weft::perform_on_own_unit(PERFORM, parameters, false);
  if (const std::optional<aid_t> rank = weft::actor_of_rank())
    weft::units().forget(*rank, unit);
}

extern "C" void weft_st_inquire(weft::InquireParameters* parameters) WEFT_REPLACES("_gfortran_st_inquire");
void weft_st_inquire(weft::InquireParameters* parameters)
{
  static const auto PERFORM = weft::fortran_definition<weft::StatementFunction>("_gfortran_st_inquire");
  weft::perform_on_own_unit(PERFORM, &parameters->common, false);
  if ((parameters->common.flags & weft::INQUIRE_HAS_NUMBER) != 0 && parameters->number)
    *parameters->number = weft::units().own(*parameters->number);
}

#define WEFT_FUNCTION(name, Result, parameters, ...)                                                                   \
  extern "C" Result weft_##name parameters WEFT_REPLACES("_gfortran_" #name);                                          \
  Result weft_##name parameters                                                                                        \
  {                                                                                                                    \
    return weft::fortran_definition<Result(*) parameters>("_gfortran_" #name)(__VA_ARGS__);                            \
  }

WEFT_FUNCTION(flush_i4, void, (std::int32_t* unit), weft::own_unit(unit))
WEFT_FUNCTION(ftell, std::int64_t, (std::int32_t* unit), weft::own_unit(unit))
WEFT_FUNCTION(fseek_sub, void, (std::int32_t* unit, void* offset, void* whence, void* status), weft::own_unit(unit),
              offset, whence, status)

// ---- Replaced function of the C library, which libgfortran calls ----------------------------------------------------

extern "C" int weft_fstat(int descriptor, struct stat* file) WEFT_REPLACES("fstat");
int weft_fstat(int descriptor, struct stat* file)
{
  static const auto THEIRS = weft::next_definition<int (*)(int, struct stat*)>("fstat");
  return weft::told_apart(THEIRS(descriptor, file), file);
}

/** Replacement of fstat() in a libgfortran that was compiled for glibc before 2.33. */
extern "C" int weft_fxstat(int version, int descriptor, struct stat* file) WEFT_REPLACES("__fxstat");
int weft_fxstat(int /*version*/, int descriptor, struct stat* file)
{
  return weft_fstat(descriptor, file);
}
