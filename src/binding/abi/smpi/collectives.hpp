// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's collectives and their algorithms: src/smpi/include/smpi_coll.hpp, except as noted. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace simgrid::smpi {

struct s_mpi_coll_description_t { // NOLINT(readability-identifier-naming): SMPI's name
  std::string name;
  std::string description;
  void* coll;
};

namespace colls {
/** Returns SMPI's registry of algorithms for one collective; an entry added before the selection
 * can be selected. */
std::vector<s_mpi_coll_description_t>* get_smpi_coll_descriptions(const std::string& collective);
/** Algorithms, entries of that registry, that PMPI_Allreduce and others call after checking their arguments. */
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SMPI's
extern int (*reduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
extern int (*allreduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
extern int (*bcast)(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
extern int (*allgather)(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                        MPI_Datatype type, MPI_Comm comm);
extern int (*reduce_scatter)(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm);
extern int (*allgatherv)(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                         const int* displacements, MPI_Datatype type, MPI_Comm comm);
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
/** Returns whether PMPI_I… has been called for a blocking call: SMPI's MPI_REQUEST_IGNORED (private.hpp). */
inline bool is_blocking(const MPI_Request* request)
{
  return reinterpret_cast<std::intptr_t>(request) == -100;
}
/** Functions that PMPI_I… call; interposed in binding/entries/interposed.cpp. @p external is 0 if
 * SMPI itself calls, otherwise 1. */
int iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request, int external);
int ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request, int external);
int iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request, int external);
int ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request, int external);
} // namespace colls

/** SMPI's Allreduce by recursive doubling (src/smpi/colls/allreduce/allreduce-rdb.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
int allreduce__rdb(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/** SMPI's Bcast by a k-nomial tree of radix 4 (src/smpi/colls/bcast/bcast-mvapich-smp.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
int bcast__mvapich2_knomial_intra_node(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);

/** Collectives that Comm::init_smp() uses to discover which ranks share a host. */
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): SMPI's names
int allgather__ring(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, MPI_Comm comm);
int bcast__scatter_LR_allgather(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int allreduce__default(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/** SMPI's pairwise exchanges for any number of ranks (src/smpi/colls/alltoall/alltoall-ring.cpp,
 * and alltoallv's). */
int alltoall__ring(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                   MPI_Datatype type, MPI_Comm comm);
int alltoallv__ring(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                    void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm);
/** SMPI's Scatter by sequential messages from the root (src/smpi/colls/scatter/scatter-ompi.cpp). */
int scatter__ompi_basic_linear(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                               MPI_Datatype type, int root, MPI_Comm comm);
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

} // namespace simgrid::smpi
