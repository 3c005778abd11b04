// SPDX-License-Identifier: LGPL-2.1-only
/* Who does the multicast protocol's work at a host, chunk by chunk: hardware threads of a SmartNIC, or the host's
 * cores.
 *
 * The model (Khalilov et al., SC '24, sections IV-C and VI-C). A worker is a thread; the traffic is spread evenly over
 * the workers of its direction. For each chunk a thread needs so many cycles when it is alone: in some of them its core
 * issues its instructions, in the others it waits for loads and stores. The threads of a core share what the core
 * issues and wait each for itself, which is a closed queueing network of one server and think times; its throughput is
 * that of exact mean value analysis (closed_throughput). Threads fill one core after the other, and cores do not
 * disturb each other.
 *
 * UD chunks arrive in a staging ring, whose entries are free again when a chunk has been processed and copied to the
 * user's buffer: the ring's entries over that time bound the rate as well. UC chunks are written where they belong.
 * Rates are of payload and know no link: its speed is a ceiling that the caller adds. Idealised are: chunks that cost
 * the same whatever their size, and a memory and a NIC that all cores find unloaded.
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

/** InfiniBand's unreliable transports: datagrams of at most an MTU, and connections with messages of any length. */
enum class Transport { ud, uc };
template <> struct Names<Transport> {
  static constexpr std::array ROWS{std::pair{Transport::ud, std::string_view("ud")},
                                   std::pair{Transport::uc, std::string_view("uc")}};
};

struct ProgressEngine {
  std::string preset;
  std::string place = "progress engine"; ///< where it was read, for messages
  int cores         = 0;
  int threads       = 1; ///< hardware threads of a core
  Hertz clock;
  double issue_rate        = 1; ///< instructions that a core issues a cycle at most, those of all its threads together
  double ud_cycles         = 0; ///< of one chunk by a thread alone
  double uc_cycles         = 0;
  double ud_instructions   = 0; ///< of one chunk; 0: its cycles are all the core's, and threads do not overlap
  double uc_instructions   = 0;
  double send_cycles       = 0; ///< of a chunk that is sent; 0: sending is not bounded
  double send_instructions = 0;
  int receive_workers      = 1;
  int send_workers         = 1;
  Bytes staging{std::numeric_limits<double>::infinity()};
  int staging_entries = 0; ///< chunks that the staging ring holds at most, whatever their size; 0: no limit is known
  Seconds activation;      ///< of the receive workers, by a call's first chunk
  Seconds copy_latency;    ///< from a chunk's processing to the end of its copy to the user's buffer; UD
  Bytes memory{std::numeric_limits<double>::infinity()}; ///< fast memory, for bitmaps and contexts
  Bytes context;                                         ///< of a communicator, beside its bitmap

  /** Throws UserError where the staging ring has less than an entry per receive worker. */
  void check(Transport transport, Bytes chunk) const { check(transport, chunk, receive_workers); }
  void check(Transport transport, Bytes chunk, int workers) const;

  /** Chunks and bytes that the receive workers process in a second. Throws UserError as check does. */
  Hertz receive_chunks(Transport transport, Bytes chunk, int workers) const;
  BytesPerSecond receive_rate(Transport transport, Bytes chunk) const
  {
    return chunk * receive_chunks(transport, chunk, receive_workers);
  }
  /** Chunks that the receive workers of one rank and communicator process in a second while @p busy workers, these
   * among them, are at work in the engine: its threads fill one core after the other, and workers beyond its threads
   * take turns. The traffic comes over @p trees subgroups, each of which one worker serves (Khalilov et al., SC '24,
   * section IV-C): there are no more workers than subgroups, and the slowest has most of those. */
  Hertz received_chunks(Transport transport, Bytes chunk, int trees, int busy) const;
  /** Of one rank and communicator. */
  int workers_of(int trees) const { return std::min(receive_workers, trees); }
  /** Chunks that the staging ring has room for; infinite where there is none, as UC needs none. */
  double staging_room(Transport transport, Bytes chunk) const;
  /** From a chunk's arrival to its data's in the user's buffer, when no other is there. */
  Seconds latency(Transport transport) const;
  /** Bytes that the send workers send in a second; infinite where nothing is known to bound them. */
  BytesPerSecond send_rate(Transport transport, Bytes chunk) const;
  /** From a buffer's first byte on a link of this speed until all of it is in the user's buffer: the longest of what
   *  the link, the workers together and one worker's share take at least. */
  Seconds receive_time(Transport transport, Bytes chunk, Bytes buffer, int workers, BytesPerSecond link) const;

  /** How many communicators with receive buffers of so many chunks fit into its memory. */
  std::int64_t communicators(std::int64_t chunks) const;
};

/** The bitmap of a receive buffer: a bit per chunk. */
Bytes bitmap_size(std::int64_t chunks);

/** Throughput of @p customers that take turns of @p service at one server (processor sharing) and think for @p think in
 *  between: exact mean value analysis (M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing
 *  Networks, J. ACM 27(2), 1980). */
double closed_throughput(int customers, double service, double think);

/** The keys of a [progress_engine] table and of presets/progress_engine/. */
const std::vector<Option<ProgressEngine>>& progress_engine_options();
/** The [progress_engine] table of a fabric file; nothing where there is none. */
std::optional<ProgressEngine> read_progress_engine(const OptionTable& file);
/** A [[progress_engines]] table: what it says of some hosts, and @p standard where it is silent. Throws UserError. */
ProgressEngine read_progress_engine(const OptionTable& rule, const ProgressEngine& standard);
/** A preset by its name, or the table of a file by its path. Throws UserError. */
ProgressEngine load_progress_engine(const std::string& name_or_path);

/** What an engine is, in one line. */
std::string describe(const ProgressEngine& engine);

} // namespace weft
