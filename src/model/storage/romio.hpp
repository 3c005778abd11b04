// SPDX-License-Identifier: LGPL-2.1-only
/* Accesses that ROMIO generates from MPI calls: data sieving of independent non-contiguous accesses, and two-phase
 * collective buffering. R. Thakur, W. Gropp, E. Lusk: Data sieving and collective I/O in ROMIO, Frontiers '99; defaults
 * and rules as in MPICH 4.1's src/mpi/romio/adio/common (hints: ad_hints.c; selection and rounds: ad_read_coll.c,
 * ad_write_coll.c; file domains: ad_aggregate.c; sieving: ad_read_str.c, ad_write_str.c). */
#pragma once

#include "model/storage/extents.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Setting of a ROMIO optimisation. */
enum class HintSwitch { enable, disable, automatic };

/** ROMIO's hints, with their defaults (ad_hints.c, adio/include/adio.h). */
struct RomioHints {
  HintSwitch collective_read  = HintSwitch::automatic;          ///< romio_cb_read
  HintSwitch collective_write = HintSwitch::automatic;          ///< romio_cb_write
  HintSwitch sieve_reads      = HintSwitch::automatic;          ///< romio_ds_read
  HintSwitch sieve_writes     = HintSwitch::automatic;          ///< romio_ds_write
  std::int64_t buffer         = std::int64_t{16} * 1024 * 1024; ///< cb_buffer_size: ADIOI_CB_BUFFER_SIZE_DFLT
  int aggregators             = 0;                              ///< cb_nodes; 0: one per host (cb_config_list "*:1")
  int per_host                = 1;                              ///< cb_config_list
  std::int64_t read_buffer    = std::int64_t{4} * 1024 * 1024;  ///< ind_rd_buffer_size: ADIOI_IND_RD_BUFFER_SIZE_DFLT
  std::int64_t write_buffer   = std::int64_t{512} * 1024;       ///< ind_wr_buffer_size: ADIOI_IND_WR_BUFFER_SIZE_DFLT
  std::int64_t striping_unit  = 0;                              ///< file domains end at multiples of it; 0: anywhere
  int striping_factor         = 0;                              ///< 0: the file system's default

  /** Sets a hint from its text. Unknown hints and invalid values are ignored, as MPI requires. */
  void set(std::string_view key, std::string_view value);
  /** Returns all hints as keys and values. */
  std::vector<std::pair<std::string, std::string>> list() const;
  /** Returns the keys of all hints. */
  static std::vector<std::string> keys();
};

/** Access of a host to a device. */
struct DeviceAccess {
  Extents extents;
  bool read_first = false; ///< for a write: the extent is read first, to preserve the bytes between the written ones
                           ///< (read-modify-write)
};

/** Returns the accesses, in order, of an independent call. @p contiguous_memory: the buffer is contiguous. */
std::vector<DeviceAccess> independent_accesses(const Extents& extents, bool write, bool contiguous_memory,
                                               const RomioHints& hints);

/** Accesses of one rank in a collective call. */
struct RankPart {
  Extents extents;
  int host               = 0;
  bool contiguous_memory = true;
};

/** Returns true if the accesses of ranks interleave: a rank begins before the end of the previous rank. */
bool interleave(std::span<const RankPart> ranks);

/** Round of two-phase I/O: data moves between ranks and aggregators, and aggregators access the file. */
struct CollectiveRound {
  struct Piece {
    int rank;
    int aggregator; ///< a rank
    std::int64_t bytes;
  };
  struct Access {
    int aggregator;
    DeviceAccess access;
  };
  std::vector<Piece> pieces;
  std::vector<Access> accesses;
};

/** Plan of the two-phase I/O of a call. */
struct CollectivePlan {
  /** List of the extents that a rank sends to an aggregator. */
  struct RequestList {
    int rank;
    int aggregator;
    std::int64_t extents;
  };
  std::vector<RequestList> lists;
  std::vector<CollectiveRound> rounds;
};

/** Returns the aggregators, the ranks that access the file: the first ones on each host, in rank order. */
std::vector<int> aggregators_of(std::span<const RankPart> ranks, const RomioHints& hints);

/** Plans a collective call by two-phase I/O. */
CollectivePlan plan_two_phase(std::span<const RankPart> ranks, bool write, const RomioHints& hints);

} // namespace weft
