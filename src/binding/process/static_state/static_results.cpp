// SPDX-License-Identifier: LGPL-2.1-only
/* Static results and internal state of C library functions, separate for each rank.
 *
 * In a real process only the process's own next call overwrites such a result; here another rank's call does too. Each
 * rank therefore gets its own copy. strtok and hsearch keep state between calls; glibc's re-entrant forms store it in
 * the caller's memory. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <net/ethernet.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <search.h>

namespace weft {
namespace {

/** Upper bound on the length of results; the longest are asctime's for years beyond any calendar, and qfcvt's. */
constexpr std::size_t LONGEST = 512;

template <class Result> struct OwnResult {
  Result value{};
};
/** Text buffer of one function. As in glibc, only asctime and ctime share one. */
template <int Function> struct OwnText {
  std::array<char, LONGEST> value{};
};
enum : int { ASCTIME, INET_NTOA, ETHER_NTOA, L64A, ECVT, FCVT, QECVT, QFCVT, TMPNAM };

/** Copies the process's @p result for the rank; returns @p result itself if no rank runs or it is null. */
template <class Result> Result* own_copy(Result* result)
{
  auto* const own = result ? OwnState<OwnResult<Result>>::get().here() : nullptr;
  if (not own)
    return result;
  own->value = *result;
  return &own->value;
}

template <int Function> char* own_text(char* result)
{
  auto* const own = result ? OwnState<OwnText<Function>>::get().here() : nullptr;
  if (not own)
    return result;
  const std::size_t length = std::min(std::strlen(result), LONGEST - 1);
  std::copy_n(result, length, own->value.begin());
  own->value[length] = '\0';
  return own->value.data();
}

struct OwnTokens {
  char* rest = nullptr;
};

struct OwnTable {
  hsearch_data table{};
};

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

#define WEFT_OWN_RESULT(name, Result, copy, parameters, ...)                                                           \
  Result weft_##name parameters WEFT_REPLACES(#name);                                                                  \
  Result weft_##name parameters                                                                                        \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<Result(*) parameters>(#name);                                     \
    return weft::copy(THEIRS(__VA_ARGS__));                                                                            \
  }

WEFT_OWN_RESULT(gmtime, std::tm*, own_copy, (const std::time_t* time), time)
WEFT_OWN_RESULT(localtime, std::tm*, own_copy, (const std::time_t* time), time)
WEFT_OWN_RESULT(localeconv, std::lconv*, own_copy, (), )
WEFT_OWN_RESULT(ether_aton, ether_addr*, own_copy, (const char* text), text)
WEFT_OWN_RESULT(asctime, char*, own_text<weft::ASCTIME>, (const std::tm* time), time)
WEFT_OWN_RESULT(ctime, char*, own_text<weft::ASCTIME>, (const std::time_t* time), time)
WEFT_OWN_RESULT(inet_ntoa, char*, own_text<weft::INET_NTOA>, (in_addr address), address)
WEFT_OWN_RESULT(ether_ntoa, char*, own_text<weft::ETHER_NTOA>, (const ether_addr* address), address)
WEFT_OWN_RESULT(l64a, char*, own_text<weft::L64A>, (long number), number)
WEFT_OWN_RESULT(ecvt, char*, own_text<weft::ECVT>, (double number, int digits, int* point, int* sign), number, digits,
                point, sign)
WEFT_OWN_RESULT(fcvt, char*, own_text<weft::FCVT>, (double number, int digits, int* point, int* sign), number, digits,
                point, sign)
WEFT_OWN_RESULT(qecvt, char*, own_text<weft::QECVT>, (long double number, int digits, int* point, int* sign), number,
                digits, point, sign)
WEFT_OWN_RESULT(qfcvt, char*, own_text<weft::QFCVT>, (long double number, int digits, int* point, int* sign), number,
                digits, point, sign)

char* weft_tmpnam(char* name) WEFT_REPLACES("tmpnam");
char* weft_tmpnam(char* name)
{
  char* const made = weft::next_definition<char* (*)(char*)>("tmpnam")(name);
  return name ? made : weft::own_text<weft::TMPNAM>(made);
}

char* weft_strtok(char* text, const char* separators) WEFT_REPLACES("strtok");
char* weft_strtok(char* text, const char* separators)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_strtok)>("strtok");
  auto* const own          = weft::OwnState<weft::OwnTokens>::get().here();
  return own ? strtok_r(text, separators, &own->rest) : THEIRS(text, separators);
}

int weft_hcreate(std::size_t size) WEFT_REPLACES("hcreate");
int weft_hcreate(std::size_t size)
{
  auto* const own = weft::OwnState<weft::OwnTable>::get().here();
  return own ? hcreate_r(size, &own->table) : weft::next_definition<decltype(&weft_hcreate)>("hcreate")(size);
}

ENTRY* weft_hsearch(ENTRY item, ACTION action) WEFT_REPLACES("hsearch");
ENTRY* weft_hsearch(ENTRY item, ACTION action)
{
  auto* const own = weft::OwnState<weft::OwnTable>::get().here();
  if (not own)
    return weft::next_definition<decltype(&weft_hsearch)>("hsearch")(item, action);
  ENTRY* found = nullptr;
  hsearch_r(item, action, &found, &own->table);
  return found;
}

void weft_hdestroy() WEFT_REPLACES("hdestroy");
void weft_hdestroy()
{
  if (auto* const own = weft::OwnState<weft::OwnTable>::get().here())
    hdestroy_r(&own->table);
  else
    weft::next_definition<void (*)()>("hdestroy")();
}

} // extern "C"
