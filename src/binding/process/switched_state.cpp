// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/switched_state.hpp"

#include "binding/abi/kernel/actors.hpp"
#include "binding/abi/original.hpp"
#include "binding/settings/settings.hpp"

#include <array>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <getopt.h>
#include <iostream>
#include <memory>
#include <netdb.h>
#include <optional>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace weft {
namespace {

/** Calls uselocale(), which takes no longer than two variable accesses. */
locale_t use_locale(locale_t locale)
{
  static const auto USE = next_definition<locale_t (*)(locale_t)>("uselocale");
  return USE(locale);
}

/** Exception state that the C++ ABI keeps per thread: the stack of caught exceptions, and the
 * number of uncaught ones (Itanium C++ ABI: Exception Handling, 2.2.2). */
struct Exceptions {
  void* handled     = nullptr;
  unsigned uncaught = 0;

  bool operator==(const Exceptions&) const = default;
  static Exceptions& now() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

  /** Restores the state. Exceptions thrown since then belong to the rank as well. */
  void set() const
  {
    now().handled = handled;
    now().uncaught += uncaught;
  }
};

/** Variables of the C and C++ libraries except errno, which is saved without a comparison since it almost always
 *  differs. */
class Variables {
  int h_errno_           = h_errno;
  int signgam_           = signgam;
  int optind_            = optind;
  int opterr_            = opterr;
  int optopt_            = optopt;
  char* optarg_          = optarg;
  char** environ_        = environ;
  char* program_         = program_invocation_name;
  locale_t locale_       = use_locale(nullptr);
  Exceptions exceptions_ = Exceptions::now();

  /** Sets the variables that SimGrid uses as well. */
  void set_common() const
  {
    environ = environ_;
    name_program(program_);
    if (use_locale(nullptr) != locale_)
      use_locale(locale_);
  }

public:
  /** Returns whether the current values equal these. Needs no stack, unlike comparing with a copy. */
  bool are_current() const
  {
    return environ == environ_ && optind == optind_ && opterr == opterr_ && program_invocation_name == program_ &&
           optopt == optopt_ && optarg == optarg_ && signgam == signgam_ && h_errno == h_errno_ &&
           use_locale(nullptr) == locale_ && Exceptions::now() == exceptions_;
  }
  void set_for_simgrid() const
  {
    set_common();
    Exceptions::now() = {};
  }
  void set() const
  {
    set_common();
    exceptions_.set();
    h_errno = h_errno_;
    signgam = signgam_;
    optind  = optind_;
    opterr  = opterr_;
    optopt  = optopt_;
    optarg  = optarg_;
  }
};

#ifdef __x86_64__
/** Rounding, traps, flush-to-zero and accrued exceptions of SSE and of the x87 unit, which long
 * double uses. Setting the x87 exceptions takes about a hundred cycles; they hardly ever differ. */
class FloatingPoint {
  static constexpr unsigned X87_EXCEPTIONS = 0x3f;

  std::uint32_t sse_    = _mm_getcsr();
  std::uint16_t x87_    = control_word();
  std::uint16_t status_ = status_word();

  static std::uint16_t control_word()
  {
    std::uint16_t word = 0;
    __asm__ volatile("fnstcw %0" : "=m"(word)); // NOLINT(hicpp-no-assembler): C++ has no name for it
    return word;
  }
  static std::uint16_t status_word()
  {
    std::uint16_t word = 0;
    __asm__ volatile("fnstsw %0" : "=m"(word)); // NOLINT(hicpp-no-assembler)
    return static_cast<std::uint16_t>(word & X87_EXCEPTIONS);
  }

public:
  // Out of line, so that the stack of a waiting rank fits into one page.
  [[gnu::noinline]] void set_status() const
  {
    std::fenv_t all;
    std::fegetenv(&all);
    all.__status_word = static_cast<std::uint16_t>((all.__status_word & ~X87_EXCEPTIONS) | unsigned{status_});
    std::fesetenv(&all);
  }

  void set() const
  {
    if (status_word() != status_)
      set_status();
    if (control_word() != x87_)
      __asm__ volatile("fldcw %0" : : "m"(x87_)); // NOLINT(hicpp-no-assembler)
    if (_mm_getcsr() != sse_)
      _mm_setcsr(sse_);
  }
};
#else
class FloatingPoint {
  std::fenv_t all_{};

public:
  FloatingPoint() { std::fegetenv(&all_); }
  void set() const { std::fesetenv(&all_); }
};
#endif

/** Stream state that programs change: formatting, destination and error state. */
template <class Stream> class StreamState {
  std::ios_base::fmtflags flags_;
  std::streamsize precision_;
  std::streamsize width_;
  typename Stream::char_type fill_;
  std::ios_base::iostate state_;
  std::ios_base::iostate exceptions_;
  std::streambuf* buffer_;

public:
  explicit StreamState(const Stream& stream)
      : flags_(stream.flags()), precision_(stream.precision()), width_(stream.width()), fill_(stream.fill()),
        state_(stream.rdstate()), exceptions_(stream.exceptions()), buffer_(stream.rdbuf())
  {
  }

  void set(Stream& stream) const
  {
    stream.flags(flags_);
    stream.precision(precision_);
    stream.width(width_);
    stream.fill(fill_);
    if (stream.rdbuf() == buffer_ && stream.rdstate() == state_ && stream.exceptions() == exceptions_)
      return;
    stream.exceptions(std::ios_base::goodbit); // prevents the calls below from throwing
    stream.rdbuf(buffer_);
    stream.clear(state_);
    try {
      stream.exceptions(exceptions_);
    } catch (const std::ios_base::failure&) { // the rank has already seen this exception
      return;
    }
  }
};

class Streams {
  StreamState<std::istream> in_{std::cin};
  StreamState<std::ostream> out_{std::cout};
  StreamState<std::ostream> error_{std::cerr};
  StreamState<std::ostream> log_{std::clog};

public:
  void set() const
  {
    in_.set(std::cin);
    out_.set(std::cout);
    error_.set(std::cerr);
    log_.set(std::clog);
  }
};

/** Flag: C++ streams have one state per rank. */
bool& streams_are_kept()
{
  static bool kept = settings().cxx_streams;
  return kept;
}

/** State of the process when the first rank begins. All ranks begin with it, and SimGrid runs with it. */
struct InitialState {
  Variables variables;
  FloatingPoint floating_point;
  std::optional<Streams> streams;

  InitialState()
  {
    if (streams_are_kept())
      streams.emplace();
  }
  static InitialState& get()
  {
    static InitialState state;
    return state;
  }
};

/** Returns whether any rank's variables have ever differed from the initial ones. */
bool& variables_differ()
{
  static bool differ = false;
  return differ;
}

/** Saves the current rank's variables, which differ from the initial ones. Out of line, so that the stack of a waiting
 * rank fits into one page. */
[[gnu::noinline]] std::unique_ptr<const Variables> keep_variables()
{
  auto own           = std::make_unique<const Variables>();
  variables_differ() = true;
  InitialState::get().variables.set_for_simgrid();
  return own;
}

/** Saves the current rank's state and restores it when the rank resumes, even by an exception. The object is small, and
 * saving and restoring stay out of yield()'s frame: a rank that sleeps in a collective needs one page of stack. */
class KeptState {
  int errno_ = errno;
  FloatingPoint floating_point_;
  std::unique_ptr<const Variables> variables_;

  // Out of line, so that the stack of a waiting rank fits into one page.
  [[gnu::noinline]] void begin()
  {
    const InitialState& start = InitialState::get();
    if (not start.variables.are_current())
      variables_ = keep_variables();
    start.floating_point.set(); // SimGrid divides by zero, which a program may trap
  }
  [[gnu::noinline]] void end()
  {
    floating_point_.set();
    if (variables_differ()) { // otherwise no rank has left other values
      (variables_ ? *variables_ : InitialState::get().variables).set();
      variables_.reset();
    }
    errno = errno_;
  }

public:
  KeptState() { begin(); }
  KeptState(const KeptState&)            = delete;
  KeptState& operator=(const KeptState&) = delete;
  ~KeptState() { end(); }
};

Yield simgrids_yield()
{
  static const auto THEIRS = original<Yield>("_ZN7simgrid6kernel5actor9ActorImpl5yieldEv");
  return THEIRS;
}

/** Yields and preserves the streams. Out of line, since the stacks of programs without
 * streams lack room for them. */
[[gnu::noinline]] void yield_with_streams(simgrid::kernel::actor::ActorImpl* rank)
{
  const Streams own;
  simgrids_yield()(rank);
  own.set();
}

} // namespace

constinit YieldAround around_yield = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

[[gnu::always_inline]] inline void yield_with_state(simgrid::kernel::actor::ActorImpl* rank)
{
  const KeptState kept;
  if (streams_are_kept()) [[unlikely]]
    yield_with_streams(rank);
  else
    simgrids_yield()(rank);
}

void yield_keeping_state(simgrid::kernel::actor::ActorImpl* rank)
{
  yield_with_state(rank);
}

void name_program(const char* path)
{
  // The C library's type is not const, but the library changes no character.
  program_invocation_name       = const_cast<char*>(path); // NOLINT(cppcoreguidelines-pro-type-const-cast)
  program_invocation_short_name = const_cast<char*>(       // NOLINT(cppcoreguidelines-pro-type-const-cast)
      path && std::strrchr(path, '/') ? std::strrchr(path, '/') + 1 : path);
}

void keep_cxx_streams()
{
  if (InitialState& start = InitialState::get(); not start.streams)
    start.streams.emplace();
  streams_are_kept() = true;
}

void begin_switched_state()
{
  const InitialState& start = InitialState::get();
  Exceptions::now()         = {};
  start.variables.set();
  start.floating_point.set();
  if (start.streams)
    start.streams->set();
  errno = 0;
}

} // namespace weft

namespace simgrid::kernel::actor {

WEFT_INTERPOSED void ActorImpl::yield()
{
  if (weft::around_yield) [[unlikely]]
    weft::around_yield(this, weft::yield_keeping_state);
  else
    weft::yield_with_state(this);
}

} // namespace simgrid::kernel::actor

// ---- Replaced functions --------------------------------------------------------------------------------------------

// SMPI keeps optind per rank and overwrites the program's assignments to it. Here it is per rank anyway.
extern "C" {

WEFT_INTERPOSED int smpi_getopt(int argc, char* const* argv, const char* options)
{
  return getopt(argc, argv, options);
}

WEFT_INTERPOSED int smpi_getopt_long(int argc, char* const* argv, const char* options, const option* long_options,
                                     int* index)
{
  return getopt_long(argc, argv, options, long_options, index);
}

WEFT_INTERPOSED int smpi_getopt_long_only(int argc, char* const* argv, const char* options, const option* long_options,
                                          int* index)
{
  return getopt_long_only(argc, argv, options, long_options, index);
}

} // extern "C"
