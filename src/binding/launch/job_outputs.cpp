// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/launch/job_outputs.hpp"

#include "base/error.hpp"
#include "binding/abi/interposed_symbol.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/settings.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <map>
#include <stdio_ext.h>
#include <unistd.h>

namespace weft {
namespace {

using Descriptors = std::array<int, 2>; // of standard output and standard error

struct JobOutputs {
  std::map<const Job*, Descriptors> of_job;
  const Job* now = nullptr; // job whose files the descriptors 1 and 2 refer to
};

JobOutputs& job_outputs()
{
  static auto* const ALL = new JobOutputs;
  return *ALL;
}

int open_output(const std::string& path)
{
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666); // NOLINT(hicpp-signed-bitwise)
  if (file < 0)
    throw UserError("cannot write " + path + ": " + std::strerror(errno));
  return file;
}

void write_buffered()
{
  static const auto FLUSH = next_definition<void (*)(std::int32_t*)>("_gfortran_flush_i4");
  if (settings().cxx_streams && std::cout.good())
    std::cout.flush();
  if (__fpending(stdout) > 0)
    std::fflush(stdout);
  if (FLUSH)
    FLUSH(nullptr);
}

void follow_turn()
{
  if (not running_context)
    return;
  const Job* const job = current_run().jobs.of(current_actor());
  JobOutputs& outputs  = job_outputs();
  if (not job || job == outputs.now)
    return;
  const int error = errno;
  write_buffered();
  const Descriptors& its = outputs.of_job.at(job);
  dup2(its[0], STDOUT_FILENO);
  dup2(its[1], STDERR_FILENO);
  outputs.now = job;
  errno       = error;
}

} // namespace

void open_outputs(const JobLaunch& launch)
{
  if (launch.output.empty())
    return;
  job_outputs().of_job[&launch.job] = {open_output(launch.output), open_output(launch.error)};
  call_on_turn_change(follow_turn);
}

} // namespace weft
