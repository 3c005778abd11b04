// SPDX-License-Identifier: LGPL-2.1-only
/* Random numbers of the C library, separate for each rank: the families of rand (std::rand), random
 * and drand48.
 *
 * A process has one state per generator. glibc also offers the same generators on a caller's state
 * (random_r, drand48_r), so each rank gets the same numbers as a separate process with the same seed, or without
 * one. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"

#include <array>
#include <cstdlib>

namespace weft {
namespace {

/** State of random(); the default has 128 bytes and seed 1 (POSIX, initstate). */
struct RandomState {
  std::array<char, 128> table{};
  random_data data{};

  RandomState() { initstate_r(1, table.data(), table.size(), &data); }
};

RandomState* own_random()
{
  return OwnState<RandomState>::get().here();
}

/** Returns the table in use, as initstate() and setstate() return it: it begins one word before the
 * numbers. */
char* table_of(const RandomState& own)
{
  return reinterpret_cast<char*>(&own.data.state[-1]);
}

std::int32_t next_random(RandomState& own)
{
  std::int32_t number = 0;
  random_r(&own.data, &number);
  return number;
}

/** State of drand48(), initially all zero (glibc's stdlib/drand48_r.c sets the multiplier on first
 * use). */
struct Drand48State {
  drand48_data data{};
};

Drand48State* own_drand48()
{
  return OwnState<Drand48State>::get().here();
}

/** Returns the next number from the rank's state by @p own_function; from the process's state by @p symbol if no rank
 * runs. */
template <class Number, class OwnFunction, class... State>
Number drand48_number(const char* symbol, OwnFunction own_function, State... state)
{
  Drand48State* const own = own_drand48();
  if (not own)
    return next_definition<Number (*)(State...)>(symbol)(state...);
  Number number{};
  own_function(state..., &own->data, &number);
  return number;
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_rand() WEFT_REPLACES("rand");
long weft_random() WEFT_REPLACES("random");
void weft_srand(unsigned int seed) WEFT_REPLACES("srand");
void weft_srandom(unsigned int seed) WEFT_REPLACES("srandom");
char* weft_initstate(unsigned int seed, char* table, std::size_t size) WEFT_REPLACES("initstate");
char* weft_setstate(char* table) WEFT_REPLACES("setstate");

int weft_rand()
{
  static const auto THEIRS = weft::next_definition<int (*)()>("rand");
  auto* const own          = weft::own_random();
  return own ? weft::next_random(*own) : THEIRS();
}

long weft_random()
{
  static const auto THEIRS = weft::next_definition<long (*)()>("random");
  auto* const own          = weft::own_random();
  return own ? weft::next_random(*own) : THEIRS();
}

void weft_srandom(unsigned int seed)
{
  if (auto* const own = weft::own_random())
    srandom_r(seed, &own->data);
  else
    weft::next_definition<void (*)(unsigned int)>("srandom")(seed);
}

void weft_srand(unsigned int seed)
{
  weft_srandom(seed);
}

char* weft_initstate(unsigned int seed, char* table, std::size_t size)
{
  auto* const own = weft::own_random();
  if (not own)
    return weft::next_definition<decltype(&weft_initstate)>("initstate")(seed, table, size);
  char* const before = weft::table_of(*own);
  return initstate_r(seed, table, size, &own->data) == 0 ? before : nullptr;
}

char* weft_setstate(char* table)
{
  auto* const own = weft::own_random();
  if (not own)
    return weft::next_definition<decltype(&weft_setstate)>("setstate")(table);
  char* const before = weft::table_of(*own);
  return setstate_r(table, &own->data) == 0 ? before : nullptr;
}

double weft_drand48() WEFT_REPLACES("drand48");
long weft_lrand48() WEFT_REPLACES("lrand48");
long weft_mrand48() WEFT_REPLACES("mrand48");
double weft_erand48(unsigned short* state) WEFT_REPLACES("erand48");
long weft_nrand48(unsigned short* state) WEFT_REPLACES("nrand48");
long weft_jrand48(unsigned short* state) WEFT_REPLACES("jrand48");
void weft_srand48(long seed) WEFT_REPLACES("srand48");
unsigned short* weft_seed48(unsigned short* seed) WEFT_REPLACES("seed48");
void weft_lcong48(unsigned short* parameters) WEFT_REPLACES("lcong48");

double weft_drand48()
{
  return weft::drand48_number<double>("drand48", drand48_r);
}

long weft_lrand48()
{
  return weft::drand48_number<long>("lrand48", lrand48_r);
}

long weft_mrand48()
{
  return weft::drand48_number<long>("mrand48", mrand48_r);
}

double weft_erand48(unsigned short* state)
{
  return weft::drand48_number<double>("erand48", erand48_r, state);
}

long weft_nrand48(unsigned short* state)
{
  return weft::drand48_number<long>("nrand48", nrand48_r, state);
}

long weft_jrand48(unsigned short* state)
{
  return weft::drand48_number<long>("jrand48", jrand48_r, state);
}

void weft_srand48(long seed)
{
  if (auto* const own = weft::own_drand48())
    srand48_r(seed, &own->data);
  else
    weft::next_definition<void (*)(long)>("srand48")(seed);
}

unsigned short* weft_seed48(unsigned short* seed)
{
  auto* const own = weft::own_drand48();
  if (not own)
    return weft::next_definition<decltype(&weft_seed48)>("seed48")(seed);
  seed48_r(seed, &own->data);
  return static_cast<unsigned short*>(own->data.__old_x); // the value returned by glibc's seed48 (stdlib/seed48.c)
}

void weft_lcong48(unsigned short* parameters)
{
  if (auto* const own = weft::own_drand48())
    lcong48_r(parameters, &own->data);
  else
    weft::next_definition<decltype(&weft_lcong48)>("lcong48")(parameters);
}

} // extern "C"
