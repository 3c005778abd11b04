// SPDX-License-Identifier: LGPL-2.1-only
/* What the MPI library of the hosts adds to messages between them: where its eager protocol ends, and what a host
 * spends on a message beside the network (LogGP's o). */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** What SMPI adds to every message: "tag+dest+communicator" (SimGrid 4.1, src/smpi/mpi/smpi_request.cpp). */
constexpr Bytes SMPI_ENVELOPE{16};

/** Where a collective that does not block goes on, on the hosts: beside the program, as with a thread of the library's;
 * or only in the rank's calls of MPI, as without one. */
enum class Progress { thread, calls };
template <> struct Names<Progress> {
  static constexpr std::array ROWS{std::pair{Progress::thread, std::string_view("thread")},
                                   std::pair{Progress::calls, std::string_view("calls")}};
};

/** What messages of at least `from` bytes cost the hosts: a [[mpi.overheads]] table. */
struct MpiOverheads {
  Bytes from;
  Seconds send_overhead;
  BytesPerSecond send_copy_rate{std::numeric_limits<double>::infinity()};
  Seconds receive_overhead;
  BytesPerSecond receive_copy_rate{std::numeric_limits<double>::infinity()};
};

struct MpiModel {
  std::string preset; ///< of presets/messages
  /// Messages of at least so many bytes wait for their receiver (rendezvous); SMPI's default.
  Bytes eager_threshold{65536};
  Seconds send_overhead;
  BytesPerSecond send_copy_rate{std::numeric_limits<double>::infinity()};
  Seconds receive_overhead;
  BytesPerSecond receive_copy_rate{std::numeric_limits<double>::infinity()};
  Progress progress = Progress::thread;
  /// MPI_Test of a request that goes on took 57 to 74 ns in MPICH 5.0.2 and 16 to 31 ns in Open MPI 5.0.11, MPI_Iprobe
  /// 58 to 94 and 64 to 84 ns, MPI_Testall and its like of four requests up to 193 and 73 ns (a million calls each,
  /// beside a rank of the same host, AMD EPYC). A NIC's queue that is looked at comes on top.
  Seconds poll_overhead{1e-7};
  std::vector<MpiOverheads> overheads; ///< by rising size; smaller messages cost what stands above

  /** What a host spends on sending a message, and on receiving one. Rendezvous copies nothing. */
  Seconds send_time(Bytes size) const;
  Seconds receive_time(Bytes size) const;

private:
  /** None where a message is smaller than those of all rows. */
  const MpiOverheads* overheads_of(Bytes size) const;
  Seconds copy_time(Bytes size, BytesPerSecond rate) const { return size < eager_threshold ? size / rate : Seconds{}; }
};

/** The keys of the [mpi] table. */
const std::vector<Option<MpiModel>>& mpi_options();
/** The keys of a [[mpi.overheads]] table. */
const std::vector<Option<MpiOverheads>>& mpi_overheads_options();
/** The [mpi] table of a fabric file; nothing where there is none. */
std::optional<MpiModel> read_mpi(const OptionTable& file);

} // namespace weft
