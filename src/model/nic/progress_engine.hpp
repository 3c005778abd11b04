// SPDX-License-Identifier: LGPL-2.1-only
/* Progress engine: executes the multicast protocol at a host, chunk by chunk, on hardware threads of a SmartNIC or on
 * cores of the host.
 *
 * Model (Khalilov et al., SC '24, sections IV-C and VI-C): a worker is a thread, and the traffic is spread evenly over
 * the workers of its direction. A thread alone on its core needs a fixed number of cycles per chunk, in part of which
 * the core issues instructions; otherwise it waits for memory. The threads of a core share its issue slots and wait
 * independently: a closed queueing network with one server and think times, solved by exact mean value analysis
 * (closed_throughput). Threads fill one core after the other; cores are independent.
 *
 * UD chunks arrive in a staging ring. An entry is occupied until its chunk has been processed and copied to the user's
 * buffer, which bounds the rate as well. UC chunks are written to their destination. Rates are payload rates and ignore
 * the link; the caller applies the link's bound. Simplifications: the cost of a chunk does not depend on its size, and
 * cores do not contend for memory and NIC.
 */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** InfiniBand's unreliable transports: datagrams of at most one MTU (UD), and connections with messages of any length
 *  (UC). */
enum class Transport { ud, uc };
template <> struct Names<Transport> {
  static constexpr std::array ROWS{std::pair{Transport::ud, std::string_view("ud")},
                                   std::pair{Transport::uc, std::string_view("uc")}};
};

struct ProgressEngine {
  std::string preset;
  std::string place = "progress engine"; ///< location in its file, for error messages
  int cores         = 0;
  int threads       = 1; ///< hardware threads per core
  int host_cores    = 0; ///< cores taken from ranks in runs that may multicast
  Hertz clock;
  double issue_rate        = 1; ///< maximum instructions per cycle of a core, over all its threads
  double ud_cycles         = 0; ///< per chunk, for a thread that has the core to itself
  double uc_cycles         = 0;
  double ud_instructions   = 0; ///< per chunk; 0: all cycles issue instructions, and threads do not overlap
  double uc_instructions   = 0;
  double send_cycles       = 0; ///< per sent chunk; 0: sending is not limited
  double send_instructions = 0;
  int receive_workers      = 1;
  int send_workers         = 1;
  Bytes staging{std::numeric_limits<double>::infinity()};
  int staging_entries = 0; ///< capacity of the staging ring in chunks of any size; 0: no known limit
  Seconds activation;      ///< wake-up time of the receive workers at a call's first chunk
  Seconds copy_latency;    ///< from the processing of a UD chunk to the end of its copy to the user's buffer
  Bytes memory{std::numeric_limits<double>::infinity()}; ///< fast memory for bitmaps and contexts
  Bytes context;                                         ///< per communicator, in addition to its bitmap

  /** Throws UserError if the staging ring has less than one entry per receive worker. */
  void check(Transport transport, Bytes chunk) const { check(transport, chunk, receive_workers); }
  void check(Transport transport, Bytes chunk, int workers) const;

  /** Return the receive rate in chunks and in bytes per second. Throw UserError under the same conditions as
   * check(). */
  Hertz receive_chunks(Transport transport, Bytes chunk, int workers) const;
  BytesPerSecond receive_rate(Transport transport, Bytes chunk) const
  {
    return chunk * receive_chunks(transport, chunk, receive_workers);
  }
  /** Returns the receive rate, in chunks per second, of one rank and communicator while @p busy workers, including its
   * own, are active in the engine. Workers fill cores one by one; if there are more workers than threads, they share
   * threads. The traffic arrives over @p trees subgroups, each served by one worker (Khalilov et al., SC '24, section
   * IV-C), so that there are at most as many workers as subgroups, and the worker with the most subgroups sets the
   * rate. */
  Hertz received_chunks(Transport transport, Bytes chunk, int trees, int busy) const;
  /** Returns the number of receive workers of one rank and communicator. */
  int workers_of(int trees) const { return std::min(receive_workers, trees); }
  /** Returns the capacity of the staging ring in chunks; infinite for UC, which does not use it. */
  double staging_room(Transport transport, Bytes chunk) const;
  /** Returns the time from the arrival of a single chunk until its data are in the user's buffer. */
  Seconds latency(Transport transport) const;
  /** Returns the rate of the send workers; infinite if sending is not limited. */
  BytesPerSecond send_rate(Transport transport, Bytes chunk) const;
  /** Returns the time from the first byte on @p link until all @p buffer bytes are in the user's buffer: the maximum of
   * the lower bounds by the link, by all workers, and by one worker's share. */
  Seconds receive_time(Transport transport, Bytes chunk, Bytes buffer, int workers, BytesPerSecond link) const;

  /** Returns the number of communicators with receive buffers of @p chunks that fit into the memory. */
  std::int64_t communicators(std::int64_t chunks) const;
};

/** Returns the size of a receive bitmap: one bit per chunk. */
Bytes bitmap_size(std::int64_t chunks);

/** Returns the throughput of a closed network: @p customers with service time @p service at one server (processor
 *  sharing) and think time @p think. Exact mean value analysis (M. Reiser, S. S. Lavenberg: Mean-Value Analysis of
 * Closed Multichain Queuing Networks, J. ACM 27(2), 1980). */
double closed_throughput(int customers, double service, double think);

/** Returns the keys of a [progress_engine] table and of presets/progress_engine/. */
const std::vector<Option<ProgressEngine>>& progress_engine_options();
/** Reads the [progress_engine] table of a fabric file, if there is one. */
std::optional<ProgressEngine> read_progress_engine(const OptionTable& file);
/** Reads a [[progress_engines]] table, which overrides @p standard for some hosts. Throws UserError. */
ProgressEngine read_progress_engine(const OptionTable& rule, const ProgressEngine& standard);
/** Reads a preset by name, or the table of a file by path. Throws UserError. */
ProgressEngine load_progress_engine(const std::string& name_or_path);

/** Returns a one-line summary. */
std::string describe(const ProgressEngine& engine);

} // namespace weft
