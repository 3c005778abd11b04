// SPDX-License-Identifier: LGPL-2.1-only
/* Message costs of the hosts' MPI library: eager threshold, and the CPU overhead of a message (LogGP's o). */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Size that SMPI adds to every message for "tag+dest+communicator" (SimGrid 4.1, src/smpi/mpi/smpi_request.cpp). */
constexpr Bytes SMPI_ENVELOPE{16};

/** Progress of rendezvous messages, and of non-blocking collectives on the hosts: asynchronous, as with a progress
 * thread or a NIC that matches messages, or driven by the rank's MPI calls alone. */
enum class Progress { thread, calls };
template <> struct Names<Progress> {
  static constexpr std::array ROWS{std::pair{Progress::thread, std::string_view("thread")},
                                   std::pair{Progress::calls, std::string_view("calls")}};
};

/** Rendezvous protocol. get: the receiver answers the request to send and reads the sender's memory by RDMA; put: the
 * receiver answers, then the sender writes into the receiver's memory. Each step happens inside an MPI call of its
 * rank. */
enum class Rendezvous { get, put };
template <> struct Names<Rendezvous> {
  static constexpr std::array ROWS{std::pair{Rendezvous::get, std::string_view("get")},
                                   std::pair{Rendezvous::put, std::string_view("put")}};
};

/** CPU overheads of messages of at least `from` bytes: a [[mpi.overheads]] table. */
struct MpiOverheads {
  Bytes from;
  Seconds send_overhead;
  BytesPerSecond send_copy_rate{std::numeric_limits<double>::infinity()};
  Seconds receive_overhead;
  BytesPerSecond receive_copy_rate{std::numeric_limits<double>::infinity()};
};

struct MpiModel {
  std::string preset; ///< name in presets/messages
  /// Size from which messages use the rendezvous protocol; SMPI's default.
  Bytes eager_threshold{65536};
  Seconds send_overhead;
  BytesPerSecond send_copy_rate{std::numeric_limits<double>::infinity()};
  Seconds receive_overhead;
  BytesPerSecond receive_copy_rate{std::numeric_limits<double>::infinity()};
  Seconds reduction_overhead; ///< CPU time before a host collective reduces a received vector, whatever its size
  /// MPI libraries progress in calls unless a progress thread is enabled: Open MPI 4.1 and 5.0 (opal_progress, called
  /// by ompi_request_wait_completion and ompi_request_default_test*; pml/ucx registers ucp_worker_progress with it),
  /// MPICH 4 (MPIR_CVAR_ASYNC_PROGRESS is 0), Intel MPI (I_MPI_ASYNC_PROGRESS is 0).
  Progress progress = Progress::calls;
  /// As in UCX, which reads host memory over InfiniBand and RoCE (UCX_RNDV_SCHEME=auto: ucp_rndv_is_get_zcopy in
  /// src/ucp/rndv/rndv.c, 1.12 to 1.16), and in Open MPI's pml/ob1 over openib with registered memory.
  Rendezvous rendezvous = Rendezvous::get;
  /// CPU time of a poll that finds nothing. Measured per call, over a million calls next to a second rank on the host
  /// (AMD EPYC): MPI_Test of a pending request takes 57 to 74 ns in MPICH 5.0.2 and 16 to 31 ns in Open MPI 5.0.11,
  /// MPI_Iprobe 58 to 94 and 64 to 84 ns, MPI_Testall and the like with four requests up to 193 and 73 ns. Polling a
  /// NIC's completion queue is not included.
  Seconds poll_overhead{1e-7};
  Seconds spawn_latency;               ///< from MPI_Comm_spawn until the processes that it starts begin
  std::vector<MpiOverheads> overheads; ///< by increasing size; smaller messages use the overheads above

  /** Return the CPU time of sending and of receiving a message. Rendezvous messages are not copied. */
  Seconds send_time(Bytes size) const;
  Seconds receive_time(Bytes size) const;

private:
  /** Returns the row for a message, or null if it is smaller than all rows. */
  const MpiOverheads* overheads_of(Bytes size) const;
  Seconds copy_time(Bytes size, BytesPerSecond rate) const { return size < eager_threshold ? size / rate : Seconds{}; }
};

/** Returns how messages progress on a fabric with this [mpi] table. Without a table they progress as in SMPI, where no
 * rank needs to take part. */
inline Progress progress_of(const std::optional<MpiModel>& mpi)
{
  return mpi ? mpi->progress : Progress::thread;
}

/** Returns the keys of the [mpi] table. */
const std::vector<Option<MpiModel>>& mpi_options();
/** Returns the keys of a [[mpi.overheads]] table. */
const std::vector<Option<MpiOverheads>>& mpi_overheads_options();
/** Reads the [mpi] table of a fabric file, if there is one. */
std::optional<MpiModel> read_mpi(const OptionTable& file);

} // namespace weft
