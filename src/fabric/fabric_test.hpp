// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: fabrics from text. */
#pragma once

#include "base/test_file.hpp"
#include "fabric/fabric.hpp"

#include <stdexcept>
#include <string>

namespace weft {

/** Complete fabric file with round numbers and without presets, for tests to modify. */
inline const std::string FABRIC = R"([fabric]
name = "small"

[topology]
kind = "star"
hosts = 4

[host]
speed = "1Gf"
cores = 2
loopback_bandwidth = "10GBps"
loopback_latency = "0.1us"

[nic]
offload_overhead = "2us"
message_gap = "0.5us"

[link]
bandwidth = "1GBps"
latency = "1us"

[switch]
max_ports = 8
forwarding_latency = "0.25us"
processing_latency = "3us"
turnaround = "9us"
channels = 2
slots = 4
payload = "100B"
packet_overhead = "25B"

[[switch.offload]]
collectives = ["allreduce"]
datatypes = ["MPI_INT"]
operations = ["MPI_SUM"]
)";

/** Returns @p text with the first occurrence of @p what replaced; there must be one. */
inline std::string replaced(std::string text, const std::string& what, const std::string& by)
{
  const std::size_t at = text.find(what);
  if (at == std::string::npos)
    throw std::logic_error("\"" + what + "\" is not in the file");
  return text.replace(at, what.size(), by);
}

inline Fabric fabric_of(const std::string& text)
{
  return Fabric::load(TestFile(text).path());
}

/** Returns the error of loading a fabric file with @p text, with "FILE" for its path, or "". */
inline std::string fabric_message(const std::string& text)
{
  return message_about(text, [](const std::string& path) { Fabric::load(path); });
}

} // namespace weft
