// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran random numbers, separate for each rank: RANDOM_NUMBER, RANDOM_SEED and RANDOM_INIT, and
 * gfortran's RAND, IRAND and SRAND.
 *
 * libgfortran keeps one state per thread, which all ranks share. When the rank that uses it
 * changes, the previous rank's state is saved and the new one's is loaded, with GET and PUT of
 * RANDOM_SEED, which transfer the complete state (libgfortran's intrinsics/random.c, GCC 7 and
 * later). A rank that sets no seed starts with a seed from the system, like a process. Threads
 * that a rank creates use libgfortran's own states. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/random.h>
#include <vector>

namespace weft {
namespace {

/** libgfortran's descriptor of a one-dimensional array (libgfortran.h, GCC 8 and later). */
struct Seeds {
  std::int32_t* base;
  std::size_t offset         = 0;
  std::size_t element_bytes  = sizeof(std::int32_t);
  int version                = 0;
  signed char dimensions     = 1;
  signed char type           = 1; // INTEGER
  short attribute            = 0;
  std::ptrdiff_t span        = sizeof(std::int32_t);
  std::ptrdiff_t stride      = 1;
  std::ptrdiff_t lower_bound = 0;
  std::ptrdiff_t upper_bound;

  explicit Seeds(std::vector<std::int32_t>& values)
      : base(values.data()), upper_bound(static_cast<std::ptrdiff_t>(values.size()) - 1)
  {
  }
};

/** Signature of RANDOM_SEED: exactly one of its three arguments is non-null. */
using RandomSeed = void (*)(std::int32_t* size, Seeds* put, Seeds* get);

RandomSeed random_seed()
{
  static const auto THEIRS = next_definition<RandomSeed>("_gfortran_random_seed_i4");
  return THEIRS;
}

struct RandomSequence {
  std::vector<std::int32_t> seed; // empty until first used
};

void read_seed(RandomSequence& sequence)
{
  Seeds seeds(sequence.seed);
  random_seed()(nullptr, nullptr, &seeds);
}

void write_seed(RandomSequence& sequence)
{
  if (sequence.seed.empty()) {
    std::int32_t size = 0;
    random_seed()(&size, nullptr, nullptr);
    sequence.seed.resize(static_cast<std::size_t>(size));
    getentropy(sequence.seed.data(), sequence.seed.size() * sizeof(std::int32_t));
  }
  Seeds seeds(sequence.seed);
  random_seed()(nullptr, &seeds, nullptr);
}

/** Loads the current rank's sequence into libgfortran. */
void use_own_sequence()
{
  static RandomSequence* last = nullptr;
  RandomSequence* const own   = OwnState<RandomSequence>::get().here();
  if (not own || own == last)
    return;
  if (last)
    read_seed(*last);
  write_seed(*own);
  last = own;
}

/** State of RAND, IRAND and SRAND: the last number that IRAND returned (intrinsics/rand.c),
 * initially 1. */
struct OldSequence {
  std::int32_t state = 1;
};

void set_old(std::int32_t* seed)
{
  static const auto THEIRS = next_definition<void (*)(std::int32_t*)>("_gfortran_srand");
  THEIRS(seed);
}

std::int32_t next_old(std::int32_t* how)
{
  static const auto THEIRS = next_definition<std::int32_t (*)(std::int32_t*)>("_gfortran_irand");
  return THEIRS(how);
}

} // namespace
} // namespace weft

// ---- Replaced functions of libgfortran ----------------------------------------------------------------------------

#define WEFT_RANDOM(name, parameters, ...)                                                                             \
  extern "C" void weft_##name parameters WEFT_REPLACES("_gfortran_" #name);                                            \
  void weft_##name parameters                                                                                          \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<void(*) parameters>("_gfortran_" #name);                          \
    weft::use_own_sequence();                                                                                          \
    THEIRS(__VA_ARGS__);                                                                                               \
  }

WEFT_RANDOM(random_r4, (void* number), number)
WEFT_RANDOM(random_r8, (void* number), number)
WEFT_RANDOM(random_r10, (void* number), number)
WEFT_RANDOM(random_r16, (void* number), number)
WEFT_RANDOM(arandom_r4, (void* numbers), numbers)
WEFT_RANDOM(arandom_r8, (void* numbers), numbers)
WEFT_RANDOM(arandom_r10, (void* numbers), numbers)
WEFT_RANDOM(arandom_r16, (void* numbers), numbers)
WEFT_RANDOM(random_seed_i4, (void* size, void* put, void* get), size, put, get)
WEFT_RANDOM(random_seed_i8, (void* size, void* put, void* get), size, put, get)
WEFT_RANDOM(random_init, (std::int32_t repeatable, std::int32_t distinct, std::int32_t image), repeatable, distinct,
            image)

extern "C" {

void weft_old_srand(std::int32_t* seed) WEFT_REPLACES("_gfortran_srand");
std::int32_t weft_old_irand(std::int32_t* how) WEFT_REPLACES("_gfortran_irand");
float weft_old_rand(std::int32_t* how) WEFT_REPLACES("_gfortran_rand");

void weft_old_srand(std::int32_t* seed)
{
  if (auto* const own = weft::OwnState<weft::OldSequence>::get().here())
    own->state = *seed;
  else
    weft::set_old(seed);
}

std::int32_t weft_old_irand(std::int32_t* how)
{
  auto* const own = weft::OwnState<weft::OldSequence>::get().here();
  if (not own)
    return weft::next_old(how);
  weft::set_old(&own->state);
  own->state = weft::next_old(how);
  return own->state;
}

// RAND calls IRAND and converts its result, so the resulting state is IRAND's result.
float weft_old_rand(std::int32_t* how)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_old_rand)>("_gfortran_rand");
  auto* const own          = weft::OwnState<weft::OldSequence>::get().here();
  if (not own)
    return THEIRS(how);
  weft::set_old(&own->state);
  const std::int32_t after = weft::next_old(how);
  weft::set_old(&own->state);
  own->state = after;
  return THEIRS(how);
}

} // extern "C"
