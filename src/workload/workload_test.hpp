// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: fabrics of GPUs with round numbers. */
#pragma once

#include "fabric/fabric_test.hpp"

#include <string>

namespace weft {

/** Returns the text of a fabric of @p nodes nodes with @p gpus GPUs each, whose links have 400 GB/s within a node and
 * 50 GB/s from NIC to leaf, without latencies; one channel of NCCL has 20 GB/s. */
inline std::string gpu_fabric(int nodes, int gpus)
{
  std::string text =
      replaced(FABRIC, "kind = \"star\"\nhosts = 4",
               "kind = \"gpu_cluster\"\nnodes = " + std::to_string(nodes) + "\ngpus = " + std::to_string(gpus));
  text = replaced(text, "max_ports = 8", "max_ports = 64");
  text = replaced(text, "bandwidth = \"1GBps\"\nlatency = \"1us\"", "bandwidth = \"50GBps\"\nlatency = \"0s\"");
  text = replaced(text, "forwarding_latency = \"0.25us\"", "forwarding_latency = \"0s\"");
  text += "\n[[links]]\nmatch = \"node-*.gpu-*--*.nvswitch\"\nbandwidth = \"400GBps\"\nlatency = \"0s\"\n"
          "\n[nccl]\narchitecture = \"hopper\"\ncpu = \"intel\"\ngpus_per_node = " +
          std::to_string(gpus) + "\n";
  for (const std::string of : {"ring", "tree"})
    text += "\n[[nccl.graph]]\nof = \"" + of + "\"\nchannels = 2\nintra = \"20GBps\"\ninter = \"20GBps\"\n";
  return text;
}

} // namespace weft
