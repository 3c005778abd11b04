// SPDX-License-Identifier: LGPL-2.1-only
/* For tests: fabrics from text. */
#pragma once

#include "base/test_file.hpp"
#include "fabric/fabric.hpp"

#include <stdexcept>
#include <string>

namespace weft {

/** A complete fabric file of round numbers and without presets, which tests change parts of. */
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

/** @p text with its first @p what replaced; a test that replaces what is not there is wrong. */
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

/** The message with which a fabric file of @p text is refused, with its path as FILE; "" where it is not. */
inline std::string fabric_message(const std::string& text)
{
  return message_about(text, [](const std::string& path) { Fabric::load(path); });
}

} // namespace weft
