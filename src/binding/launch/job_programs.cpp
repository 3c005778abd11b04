// SPDX-License-Identifier: LGPL-2.1-only
/* Follows SMPI's launcher (smpi_init_privatization_dlopen and smpi_run_entry_point in
 * src/smpi/internals/smpi_global.cpp), which supports a single program. */
#include "binding/launch/job_programs.hpp"

#include "base/error.hpp"
#include "binding/abi/interposed_symbol.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/rank_exit.hpp"
#include "binding/jobs/stopped_ranks.hpp"
#include "binding/launch/libraries.hpp"
#include "binding/launch/rank_libraries.hpp"
#include "binding/process/exit_handlers.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/ranks/current.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <simgrid/Exception.hpp>
#include <span>
#include <unistd.h>
#include <vector>
#include <xbt/config.hpp>

namespace fs = std::filesystem;

namespace weft {
namespace {

/** Words of a command line, as passed to main(). */
class CommandLine {
  std::vector<std::string> words_;
  std::vector<char*> pointers_;

public:
  explicit CommandLine(const JobLaunch& launch) : words_{launch.program}
  {
    words_.insert(words_.end(), launch.arguments.begin(), launch.arguments.end());
    for (std::string& word : words_)
      pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  int count() const { return static_cast<int>(words_.size()); }
  char** words() { return pointers_.data(); }
};

/** Programs that ranks share, by launch. */
std::map<const JobLaunch*, void*>& shared_programs()
{
  static auto* const ALL = new std::map<const JobLaunch*, void*>;
  return *ALL;
}

/** Returns the command lines of launches, for Fortran's procedures. */
std::map<const JobLaunch*, CommandLine>& command_lines()
{
  static auto* const ALL = new std::map<const JobLaunch*, CommandLine>;
  return *ALL;
}

fs::path copy_path(const JobLaunch& launch, const std::string& folder)
{
  static std::size_t number = 0;
  const fs::path temporary  = simgrid::config::get_value<std::string>("smpi/tmpdir");
  return temporary / folder / (fs::path(launch.file).filename().string() + "_" + std::to_string(number++) + ".so");
}

void* load(const JobLaunch& launch, const fs::path& copy)
{
  std::error_code error;
  fs::create_directories(copy.parent_path(), error);
  if (not fs::copy_file(launch.file, copy, error))
    throw UserError("job " + launch.job.name + ": cannot copy " + launch.file + " to " + copy.string() + ": " +
                    error.message());
  void* const handle = load_copy(copy, launch.file, launch.private_libraries);
  if (not simgrid::config::get_value<bool>("smpi/keep-temps"))
    fs::remove(copy, error);
  if (not handle)
    throw UserError("job " + launch.job.name + ": " + launch.file + " cannot be loaded: " + dlerror());
  return handle;
}

/** Calls the program's main function, or a Fortran main program that SMPI's compiler has renamed. */
int call_main(void* program, int count, char** words)
{
  if (auto* const fortran = reinterpret_cast<void (*)()>(dlsym(program, "user_main_"))) {
    fortran();
    return 0;
  }
  auto* const entry = reinterpret_cast<int (*)(int, char**)>(dlsym(program, "main"));
  return entry(count, words);
}

/** Returns a program for the current rank. Ends its job if the program cannot be loaded. */
void* program_of_rank(const JobLaunch& launch)
{
  if (not launch.copies) {
    use_program(shared_programs().at(&launch));
    return shared_programs().at(&launch);
  }
  try {
    return load(launch, copy_path(launch, ""));
  } catch (const UserError& error) {
    current_run().abort("memory", error.what());
  }
}

} // namespace

void load_shared(const JobLaunch& launch)
{
  const fs::path copy = copy_path(launch, "shared");
  share_exit_handlers(copy);
  shared_programs()[&launch] = load(launch, copy);
}

void run_program(const JobLaunch& launch)
{
  begin_switched_state();
  name_program(launch.program.c_str());
  if (launch.job.failed) // failed at the instant of its start
    stay_stopped();
  for (const auto& [name, value] : launch.environment)
    setenv(name.c_str(), value.c_str(), 1);
  if (not launch.directory.empty() && chdir(launch.directory.c_str()) != 0)
    current_run().abort("error", launch.program + " cannot run in the directory " + launch.directory + ": " +
                                     std::strerror(errno));
  void* const program = program_of_rank(launch);
  enter_directory_of_files();
  try {
    CommandLine line(launch); // a copy, since the program may change its words
    const int status = call_main(program, line.count(), line.words());
    if (status != 0 && not launch.job.own_launcher)
      exit(status); // passes the status to SMPI's launcher
    if (status != 0)
      rank_returns(status);
  } catch (const simgrid::ForcefulKillException&) { // NOLINT(bugprone-empty-catch): SimGrid has cleaned up
  }
  run_exit_handlers();
  if (is_forked_child())
    leave_process(0); // any other status has already been reported
}

namespace {

using SetArguments = void (*)(int, char**);

/** Returns the command line that ranks of SMPI's launcher share, with a terminating null pointer; empty if there is
 * none yet. */
std::vector<char*>& shared_line()
{
  static auto* const ALL = new std::vector<char*>;
  return *ALL;
}

/** Sets libgfortran's command line to the current rank's, once several differ. */
void set_arguments()
{
  static const auto SET = next_definition<SetArguments>("_gfortran_set_args");
  if (const JobLaunch* const launch = launch_here()) {
    CommandLine& line = command_lines().try_emplace(launch, *launch).first->second;
    SET(line.count(), line.words());
  } else if (rank_here() && not command_lines().empty() && not shared_line().empty())
    SET(static_cast<int>(shared_line().size()) - 1, shared_line().data());
}

/** Sets libgfortran's command line once, in memory that outlives the rank. */
void keep_arguments(int count, char** words)
{
  static const auto SET = next_definition<SetArguments>("_gfortran_set_args");
  if (rank_here() && not launch_here()) {
    std::vector<char*>& line = shared_line();
    if (line.empty()) {
      for (const char* const word : std::span(words, static_cast<std::size_t>(count)))
        line.push_back(strdup(word));
      line.push_back(nullptr);
    }
    SET(static_cast<int>(line.size()) - 1, line.data());
  } else if (not rank_here())
    SET(count, words);
}

/** Forwards the options of a Fortran main program, except those that install signal handlers, which would affect the
 * whole process. */
void set_options(int count, const int* options)
{
  constexpr std::size_t BACKTRACE = 3; // index of -fbacktrace
  static const auto SET           = next_definition<void (*)(int, int*)>("_gfortran_set_options");
  std::vector<int> own(options, options + count); // NOLINT(*-pointer-arithmetic)
  if (rank_here() && own.size() > BACKTRACE)
    own[BACKTRACE] = 0;
  SET(count, own.data());
}

} // namespace
} // namespace weft

// ---- Replaced functions of libgfortran ------------------------------------------------------------------------------

extern "C" {

void weft_set_args(int count, char** words) WEFT_REPLACES("_gfortran_set_args");
void weft_set_options(int count, const int* options) WEFT_REPLACES("_gfortran_set_options");
void weft_set_fpe(int exceptions) WEFT_REPLACES("_gfortran_set_fpe");

void weft_set_args(int count, char** words)
{
  weft::keep_arguments(count, words);
}

void weft_set_options(int count, const int* options)
{
  weft::set_options(count, options);
}

/** -ffpe-trap has no effect on ranks: exceptions would also end the simulator's own arithmetic. */
void weft_set_fpe(int exceptions)
{
  if (not weft::rank_here())
    weft::next_definition<void (*)(int)>("_gfortran_set_fpe")(exceptions);
}

} // extern "C"

#define WEFT_ARGUMENTS_FUNCTION(name, Result, parameters, ...)                                                         \
  extern "C" Result weft_##name parameters WEFT_REPLACES("_gfortran_" #name);                                          \
  Result weft_##name parameters                                                                                        \
  {                                                                                                                    \
    weft::set_arguments();                                                                                             \
    return weft::next_definition<Result(*) parameters>("_gfortran_" #name)(__VA_ARGS__);                               \
  }

WEFT_ARGUMENTS_FUNCTION(iargc, std::int32_t, ())
WEFT_ARGUMENTS_FUNCTION(getarg_i4, void, (std::int32_t* position, char* value, std::size_t length), position, value,
                        length)
WEFT_ARGUMENTS_FUNCTION(get_command_argument_i4, void,
                        (std::int32_t* number, char* value, std::int32_t* length, std::int32_t* status,
                         std::size_t room),
                        number, value, length, status, room)
WEFT_ARGUMENTS_FUNCTION(get_command_i4, void,
                        (char* command, std::int32_t* length, std::int32_t* status, std::size_t room), command, length,
                        status, room)
