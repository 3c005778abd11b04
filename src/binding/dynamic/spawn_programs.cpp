// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/dynamic/spawn_programs.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/dynamic/spawn_refusal.hpp"
#include "binding/launch/binary.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <xbt/config.hpp>

namespace fs = std::filesystem;

namespace weft {
namespace {

using ProgramJson = nlohmann::json;

/** Program in the form that ranks load. */
struct CheckedProgram {
  std::string file;
  bool copies;
  Lines private_libraries;
};

bool is_program(const fs::path& file)
{
  std::error_code none;
  return access(file.c_str(), X_OK) == 0 && not fs::is_directory(file, none);
}

/** Returns the program @p name in the first of the colon-separated @p folders that contains it. */
std::optional<fs::path> find_in(const std::string& folders, const std::string& name, const fs::path& directory)
{
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    if (fs::path file = directory / folder / name; is_program(file))
      return file;
  return std::nullopt;
}

/** Returns the working directory of a command's ranks. */
fs::path directory_of(const SpawnCommand& command)
{
  fs::path here = fs::current_path();
  if (not command.wdir)
    return here;
  fs::path directory = here / *command.wdir;
  if (not fs::is_directory(directory))
    throw SpawnRefusal("info key wdir: " + *command.wdir + " is no directory");
  return directory;
}

/** Finds a program as the standard describes it: a path is relative to the working directory of its ranks, or of the
 * caller; a name is looked up in the info's path, in PATH and in the working directory. */
fs::path find_program(const SpawnCommand& command, const fs::path& directory)
{
  if (command.command.find('/') != std::string::npos) {
    fs::path file = directory / command.command;
    if (not fs::exists(file)) // MPI 4.1 does not state the base directory of a path
      file = fs::current_path() / command.command;
    if (not fs::exists(file) && command.path)
      file = find_in(*command.path, command.command, directory).value_or(file);
    if (not fs::exists(file))
      throw SpawnRefusal("cannot find the program " + command.command + "; name an existing file");
    return file;
  }
  for (const std::string& folders : {command.path.value_or(""), program_path(), std::string(".")})
    if (const std::optional<fs::path> file = find_in(folders, command.command, directory))
      return *file;
  throw SpawnRefusal("cannot find the program " + command.command + " in PATH and in " + directory.string() +
                     "; name an existing file, or its directory by the info key path");
}

/** Pipe whose writing end is the standard output of a child process. */
class OutputOfChild {
  std::array<int, 2> ends_{};
  posix_spawn_file_actions_t actions_{};

public:
  OutputOfChild()
  {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw SpawnRefusal("the system refuses a pipe");
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, ends_[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  OutputOfChild(const OutputOfChild&)            = delete;
  OutputOfChild& operator=(const OutputOfChild&) = delete;
  ~OutputOfChild()
  {
    posix_spawn_file_actions_destroy(&actions_);
    close(ends_[0]);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  std::string read_all()
  {
    close(ends_[1]);
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t count = 1; count > 0;) {
      count = read(ends_[0], block.data(), block.size());
      text.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    return text;
  }
};

/** Runs a command and returns its standard output. */
std::string output_of(std::vector<std::string> words)
{
  const KernelScope as_process; // makes the system calls as the process, not as the current rank
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  OutputOfChild output;
  pid_t child = 0;
  if (posix_spawnp(&child, pointers.front(), output.actions(), nullptr, pointers.data(), environ) != 0)
    throw SpawnRefusal(words.front() + ", which checks programs, cannot be run");
  std::string text = output.read_all();
  waitpid(child, nullptr, 0);
  return text;
}

/** Loads the Fortran runtime, which a run without Fortran programs starts without. */
void load_runtime(const std::string& library)
{
  if (not library.empty())
    dlopen(library.c_str(), RTLD_LAZY | RTLD_GLOBAL); // NOLINT(hicpp-signed-bitwise)
}

/** Asks `weft run` to check a program. */
CheckedProgram checked(const fs::path& file)
{
  std::vector<std::string> words(settings().spawn.begin(), settings().spawn.end());
  if (words.empty())
    throw SpawnRefusal("programs other than the run's own can be spawned under `weft run` only");
  words.push_back(file.string());
  const ProgramJson its = ProgramJson::parse(output_of(words), nullptr, false);
  if (its.is_discarded())
    throw SpawnRefusal("the program " + file.string() + " could not be checked");
  if (its.contains("error"))
    throw SpawnRefusal(its.at("error").get<std::string>());
  const KernelScope as_process;
  load_runtime(its.at("fortran_runtime"));
  if (its.at("cxx_streams"))
    keep_cxx_streams();
  return {its.at("file"), its.at("copies"), its.at("private_libraries").get<Lines>()};
}

/** Returns the programs that run, by file. */
std::map<fs::path, CheckedProgram>& known_programs()
{
  static auto* const ALL = [] {
    auto* const all = new std::map<fs::path, CheckedProgram>; // leaked, since ranks may end during static destruction
    const auto add  = [all](const CheckedProgram& one) { all->emplace(fs::weakly_canonical(one.file), one); };
    if (const Settings& its = settings(); not its.program.empty())
      add({its.program, simgrid::config::get_value<std::string>("smpi/privatization") == "dlopen",
           its.private_libraries});
    for (const JobLaunch& one : launches())
      add({one.file, one.copies, one.private_libraries});
    return all;
  }();
  return *ALL;
}

/** Refuses programs built by SimGrid's own compilers: their MPI_COMM_WORLD is the world that SimGrid has launched. */
void check_world(const std::string& file)
{
  bool uses_launched_world = false;
  try {
    uses_launched_world = Binary(file).imports("MPI_COMM_WORLD");
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the loader tells what is wrong with the file
  }
  if (uses_launched_world)
    throw SpawnRefusal("the program " + file +
                       " was compiled by SimGrid's compiler; compile it with `weft cc`, `weft "
                       "cxx` or `weft f90`, whose programs can be spawned");
}

const CheckedProgram& known(const fs::path& file)
{
  const fs::path path = fs::weakly_canonical(file);
  auto found          = known_programs().find(path);
  if (found == known_programs().end())
    found = known_programs().emplace(path, checked(file)).first;
  check_world(found->second.file);
  return found->second;
}

} // namespace

const JobLaunch& launch_of(const SpawnCommand& command, Job& job)
{
  static auto& all              = *new std::deque<JobLaunch>; // leaked for the same reason
  const fs::path directory      = directory_of(command);
  const CheckedProgram& program = known(find_program(command, directory));
  const JobLaunch* const parent = launch_here();
  return all.emplace_back(JobLaunch{.job               = job,
                                    .program           = command.command,
                                    .arguments         = command.arguments,
                                    .file              = program.file,
                                    .copies            = program.copies,
                                    .private_libraries = program.private_libraries,
                                    .environment       = parent ? parent->environment : decltype(parent->environment){},
                                    .hosts             = {},
                                    .offload           = {},
                                    .output            = {},
                                    .error             = {},
                                    .directory         = command.wdir ? directory.string() : std::string()});
}

} // namespace weft
