// SPDX-License-Identifier: LGPL-2.1-only
/* Large-count forms of MPI functions. Written by setup/large_counts.py. */
#include "binding/entries/added/large_counts.hpp"

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                        const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request);
int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request);
int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request);
int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* senddisps, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* recvdisps, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request);
int PMPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* senddisps, MPI_Datatype sendtype,
                        void* recvbuf, const int* recvcounts, const int* recvdisps, MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* senddisps, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* recvdisps, const MPI_Datatype* recvtypes,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* senddisps, const MPI_Datatype* sendtypes,
                        void* recvbuf, const int* recvcounts, const int* recvdisps, const MPI_Datatype* recvtypes,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Bcast_init(void* buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request* request);
int PMPI_Bcast_init(void* buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request* request);
int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request* request);
int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request);
int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                     const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request);
int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                      const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request);
int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request* request);
int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request);
int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Scatterv_init(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                      void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request);
int PMPI_Scatterv_init(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request);
int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request);
int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request);
int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request);
int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* senddisps, MPI_Datatype sendtype,
                                void* recvbuf, const int* recvcounts, const int* recvdisps, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* senddisps,
                                 MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* recvdisps,
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* senddisps,
                                const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request);
int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* senddisps,
                                 const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                 const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request);

WEFT_INTERPOSED int MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag, MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Send_c", true);
  return MPI_Send(buf, count_.count(), count_.type(), dst, tag, comm);
}

WEFT_INTERPOSED int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag,
                                MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Send_c", false);
  return PMPI_Send(buf, count_.count(), count_.type(), dst, tag, comm);
}

WEFT_INTERPOSED int MPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bsend_c", true);
  return MPI_Bsend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int PMPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bsend_c", false);
  return PMPI_Bsend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int MPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ssend_c", true);
  return MPI_Ssend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ssend_c", false);
  return PMPI_Ssend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int MPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Rsend_c", true);
  return MPI_Rsend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Rsend_c", false);
  return PMPI_Rsend(buf, count_.count(), count_.type(), dest, tag, comm);
}

WEFT_INTERPOSED int MPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag,
                                MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Isend_c", true);
  return keep_until_complete(MPI_Isend(buf, count_.count(), count_.type(), dst, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag,
                                 MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Isend_c", false);
  return keep_until_complete(PMPI_Isend(buf, count_.count(), count_.type(), dst, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ibsend_c", true);
  return keep_until_complete(MPI_Ibsend(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                  MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ibsend_c", false);
  return keep_until_complete(PMPI_Ibsend(buf, count_.count(), count_.type(), dest, tag, comm, request), request,
                             count_);
}

WEFT_INTERPOSED int MPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Issend_c", true);
  return keep_until_complete(MPI_Issend(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                  MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Issend_c", false);
  return keep_until_complete(PMPI_Issend(buf, count_.count(), count_.type(), dest, tag, comm, request), request,
                             count_);
}

WEFT_INTERPOSED int MPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Irsend_c", true);
  return keep_until_complete(MPI_Irsend(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                  MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Irsend_c", false);
  return keep_until_complete(PMPI_Irsend(buf, count_.count(), count_.type(), dest, tag, comm, request), request,
                             count_);
}

WEFT_INTERPOSED int MPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag,
                                    MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Send_init_c", true);
  return keep_always(MPI_Send_init(buf, count_.count(), count_.type(), dst, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int tag,
                                     MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Send_init_c", false);
  return keep_always(PMPI_Send_init(buf, count_.count(), count_.type(), dst, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                     MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bsend_init_c", true);
  return keep_always(MPI_Bsend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                      MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bsend_init_c", false);
  return keep_always(PMPI_Bsend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                     MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ssend_init_c", true);
  return keep_always(MPI_Ssend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                      MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ssend_init_c", false);
  return keep_always(PMPI_Ssend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                     MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Rsend_init_c", true);
  return keep_always(MPI_Rsend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                      MPI_Comm comm, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Rsend_init_c", false);
  return keep_always(PMPI_Rsend_init(buf, count_.count(), count_.type(), dest, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                               MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Recv_c", true);
  return MPI_Recv(buf, count_.count(), count_.type(), src, tag, comm, status);
}

WEFT_INTERPOSED int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                                MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Recv_c", false);
  return PMPI_Recv(buf, count_.count(), count_.type(), src, tag, comm, status);
}

WEFT_INTERPOSED int MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                                MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Irecv_c", true);
  return keep_until_complete(MPI_Irecv(buf, count_.count(), count_.type(), src, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                                 MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Irecv_c", false);
  return keep_until_complete(PMPI_Irecv(buf, count_.count(), count_.type(), src, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                                    MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Recv_init_c", true);
  return keep_always(MPI_Recv_init(buf, count_.count(), count_.type(), src, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int src, int tag, MPI_Comm comm,
                                     MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Recv_init_c", false);
  return keep_always(PMPI_Recv_init(buf, count_.count(), count_.type(), src, tag, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                                MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Mrecv_c", true);
  return MPI_Mrecv(buf, count_.count(), count_.type(), message, status);
}

WEFT_INTERPOSED int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                                 MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Mrecv_c", false);
  return PMPI_Mrecv(buf, count_.count(), count_.type(), message, status);
}

WEFT_INTERPOSED int MPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                                 MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Imrecv_c", true);
  return keep_until_complete(MPI_Imrecv(buf, count_.count(), count_.type(), message, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                                  MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Imrecv_c", false);
  return keep_until_complete(PMPI_Imrecv(buf, count_.count(), count_.type(), message, request), request, count_);
}

WEFT_INTERPOSED int MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dst,
                                   int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int src,
                                   int recvtag, MPI_Comm comm, MPI_Status* status)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Sendrecv_c", true);
  return MPI_Sendrecv(sendbuf, sendcount_.count(), sendcount_.type(), dst, sendtag, recvbuf, recvcount_.count(),
                      recvcount_.type(), src, recvtag, comm, status);
}

WEFT_INTERPOSED int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dst,
                                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int src,
                                    int recvtag, MPI_Comm comm, MPI_Status* status)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Sendrecv_c", false);
  return PMPI_Sendrecv(sendbuf, sendcount_.count(), sendcount_.type(), dst, sendtag, recvbuf, recvcount_.count(),
                       recvcount_.type(), src, recvtag, comm, status);
}

WEFT_INTERPOSED int MPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int sendtag,
                                           int src, int recvtag, MPI_Comm comm, MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Sendrecv_replace_c", true);
  return MPI_Sendrecv_replace(buf, count_.count(), count_.type(), dst, sendtag, src, recvtag, comm, status);
}

WEFT_INTERPOSED int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int sendtag,
                                            int src, int recvtag, MPI_Comm comm, MPI_Status* status)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Sendrecv_replace_c", false);
  return PMPI_Sendrecv_replace(buf, count_.count(), count_.type(), dst, sendtag, src, recvtag, comm, status);
}

WEFT_INTERPOSED int MPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dst,
                                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int src,
                                    int recvtag, MPI_Comm comm, MPI_Request* req)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Isendrecv_c", true);
  return keep_until_complete(MPI_Isendrecv(sendbuf, sendcount_.count(), sendcount_.type(), dst, sendtag, recvbuf,
                                           recvcount_.count(), recvcount_.type(), src, recvtag, comm, req),
                             req, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dst,
                                     int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int src,
                                     int recvtag, MPI_Comm comm, MPI_Request* req)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Isendrecv_c", false);
  return keep_until_complete(PMPI_Isendrecv(sendbuf, sendcount_.count(), sendcount_.type(), dst, sendtag, recvbuf,
                                            recvcount_.count(), recvcount_.type(), src, recvtag, comm, req),
                             req, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int sendtag,
                                            int src, int recvtag, MPI_Comm comm, MPI_Request* req)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Isendrecv_replace_c", true);
  return keep_until_complete(
      MPI_Isendrecv_replace(buf, count_.count(), count_.type(), dst, sendtag, src, recvtag, comm, req), req, count_);
}

WEFT_INTERPOSED int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dst, int sendtag,
                                             int src, int recvtag, MPI_Comm comm, MPI_Request* req)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Isendrecv_replace_c", false);
  return keep_until_complete(
      PMPI_Isendrecv_replace(buf, count_.count(), count_.type(), dst, sendtag, src, recvtag, comm, req), req, count_);
}

WEFT_INTERPOSED int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Allgather_c", true);
  return MPI_Allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                       comm);
}

WEFT_INTERPOSED int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Allgather_c", false);
  return PMPI_Allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                        comm);
}

WEFT_INTERPOSED int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                     MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Allgatherv_c", true);
  return MPI_Allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(), displs_.data(),
                        recvtype, comm);
}

WEFT_INTERPOSED int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                      MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Allgatherv_c", false);
  return PMPI_Allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(), displs_.data(),
                         recvtype, comm);
}

WEFT_INTERPOSED int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Allreduce_c", true);
  return MPI_Allreduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int PMPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Allreduce_c", false);
  return PMPI_Allreduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Alltoall_c", true);
  return MPI_Alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                      comm);
}

WEFT_INTERPOSED int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Alltoall_c", false);
  return PMPI_Alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                       comm);
}

WEFT_INTERPOSED int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                    MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                    const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallv_c", true);
  return MPI_Alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf, recvcounts_.data(),
                       recvdisps_.data(), recvtype, comm);
}

WEFT_INTERPOSED int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                     const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallv_c", false);
  return PMPI_Alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf, recvcounts_.data(),
                        recvdisps_.data(), recvtype, comm);
}

WEFT_INTERPOSED int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count* sendcnts, const MPI_Aint* sdispls,
                                    const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcnts,
                                    const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm)
{
  const SmallNumbers sendcnts_(sendcnts, ranks_of(comm));
  const SmallNumbers sdispls_(sdispls, ranks_of(comm));
  const SmallNumbers recvcnts_(recvcnts, ranks_of(comm));
  const SmallNumbers rdispls_(rdispls, ranks_of(comm));
  if (not(sendcnts_.fit() && sdispls_.fit() && recvcnts_.fit() && rdispls_.fit()))
    return refuse_count(comm, "MPI_Alltoallw_c", true);
  return MPI_Alltoallw(sendbuf, sendcnts_.data(), sdispls_.data(), sendtypes, recvbuf, recvcnts_.data(),
                       rdispls_.data(), recvtypes, comm);
}

WEFT_INTERPOSED int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count* sendcnts, const MPI_Aint* sdispls,
                                     const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcnts,
                                     const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm)
{
  const SmallNumbers sendcnts_(sendcnts, ranks_of(comm));
  const SmallNumbers sdispls_(sdispls, ranks_of(comm));
  const SmallNumbers recvcnts_(recvcnts, ranks_of(comm));
  const SmallNumbers rdispls_(rdispls, ranks_of(comm));
  if (not(sendcnts_.fit() && sdispls_.fit() && recvcnts_.fit() && rdispls_.fit()))
    return refuse_count(comm, "MPI_Alltoallw_c", false);
  return PMPI_Alltoallw(sendbuf, sendcnts_.data(), sdispls_.data(), sendtypes, recvbuf, recvcnts_.data(),
                        rdispls_.data(), recvtypes, comm);
}

WEFT_INTERPOSED int MPI_Bcast_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bcast_c", true);
  return MPI_Bcast(buf, count_.count(), count_.type(), root, comm);
}

WEFT_INTERPOSED int PMPI_Bcast_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bcast_c", false);
  return PMPI_Bcast(buf, count_.count(), count_.type(), root, comm);
}

WEFT_INTERPOSED int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Exscan_c", true);
  return MPI_Exscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int PMPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Exscan_c", false);
  return PMPI_Exscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Gather_c", true);
  return MPI_Gather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                    root, comm);
}

WEFT_INTERPOSED int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Gather_c", false);
  return PMPI_Gather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                     root, comm);
}

WEFT_INTERPOSED int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Gatherv_c", true);
  return MPI_Gatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(), displs_.data(),
                     recvtype, root, comm);
}

WEFT_INTERPOSED int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Gatherv_c", false);
  return PMPI_Gatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(), displs_.data(),
                      recvtype, root, comm);
}

WEFT_INTERPOSED int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                 int root, MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Reduce_c", true);
  return MPI_Reduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm);
}

WEFT_INTERPOSED int PMPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  int root, MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Reduce_c", false);
  return PMPI_Reduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm);
}

WEFT_INTERPOSED int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Reduce_scatter_c", true);
  return MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm);
}

WEFT_INTERPOSED int PMPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Reduce_scatter_c", false);
  return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm);
}

WEFT_INTERPOSED int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Reduce_scatter_block_c", true);
  return MPI_Reduce_scatter_block(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm);
}

WEFT_INTERPOSED int PMPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Reduce_scatter_block_c", false);
  return PMPI_Reduce_scatter_block(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm);
}

WEFT_INTERPOSED int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Scan_c", true);
  return MPI_Scan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Scan_c", false);
  return PMPI_Scan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm);
}

WEFT_INTERPOSED int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatter_c", true);
  return MPI_Scatter(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                     root, comm);
}

WEFT_INTERPOSED int PMPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatter_c", false);
  return PMPI_Scatter(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(), recvcount_.type(),
                      root, comm);
}

WEFT_INTERPOSED int MPI_Scatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatterv_c", true);
  return MPI_Scatterv(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf, recvcount_.count(),
                      recvcount_.type(), root, comm);
}

WEFT_INTERPOSED int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatterv_c", false);
  return PMPI_Scatterv(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf, recvcount_.count(),
                       recvcount_.type(), root, comm);
}

WEFT_INTERPOSED int MPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgather_c", true);
  return MPI_Neighbor_allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                recvcount_.type(), comm);
}

WEFT_INTERPOSED int PMPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgather_c", false);
  return PMPI_Neighbor_allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                 recvcount_.type(), comm);
}

WEFT_INTERPOSED int MPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                              MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgatherv_c", true);
  return MPI_Neighbor_allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                 displs_.data(), recvtype, comm);
}

WEFT_INTERPOSED int PMPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                               MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgatherv_c", false);
  return PMPI_Neighbor_allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                  displs_.data(), recvtype, comm);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoall_c", true);
  return MPI_Neighbor_alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                               recvcount_.type(), comm);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoall_c", false);
  return PMPI_Neighbor_alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                recvcount_.type(), comm);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts,
                                             const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                             const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                             MPI_Datatype recvtype, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallv_c", true);
  return MPI_Neighbor_alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf, recvcounts_.data(),
                                recvdisps_.data(), recvtype, comm);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts,
                                              const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                              const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                              MPI_Datatype recvtype, MPI_Comm comm)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallv_c", false);
  return PMPI_Neighbor_alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf, recvcounts_.data(),
                                 recvdisps_.data(), recvtype, comm);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcnts, const MPI_Aint* sdispls,
                                             const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcnts,
                                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm)
{
  const SmallNumbers sendcnts_(sendcnts, degree_out(comm));
  const SmallNumbers recvcnts_(recvcnts, degree_in(comm));
  if (not(sendcnts_.fit() && recvcnts_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallw_c", true);
  return MPI_Neighbor_alltoallw(sendbuf, sendcnts_.data(), sdispls, sendtypes, recvbuf, recvcnts_.data(), rdispls,
                                recvtypes, comm);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcnts, const MPI_Aint* sdispls,
                                              const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcnts,
                                              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm)
{
  const SmallNumbers sendcnts_(sendcnts, degree_out(comm));
  const SmallNumbers recvcnts_(recvcnts, degree_in(comm));
  if (not(sendcnts_.fit() && recvcnts_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallw_c", false);
  return PMPI_Neighbor_alltoallw(sendbuf, sendcnts_.data(), sdispls, sendtypes, recvbuf, recvcnts_.data(), rdispls,
                                 recvtypes, comm);
}

WEFT_INTERPOSED int MPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iallgather_c", true);
  return keep_until_complete(MPI_Iallgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                            recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iallgather_c", false);
  return keep_until_complete(PMPI_Iallgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                             recvcount_.count(), recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Iallgatherv_c", true);
  return keep_until_complete(MPI_Iallgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                             recvcounts_.data(), displs_.data(), recvtype, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                       MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Iallgatherv_c", false);
  return keep_until_complete(PMPI_Iallgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                              recvcounts_.data(), displs_.data(), recvtype, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iallreduce_c", true);
  return MPI_Iallreduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int PMPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iallreduce_c", false);
  return PMPI_Iallreduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int MPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ialltoall_c", true);
  return keep_until_complete(MPI_Ialltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                           recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ialltoall_c", false);
  return keep_until_complete(PMPI_Ialltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                            recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                     const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm,
                                     MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ialltoallv_c", true);
  return keep_until_complete(MPI_Ialltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                            recvcounts_.data(), recvdisps_.data(), recvtype, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                      const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm,
                                      MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ialltoallv_c", false);
  return keep_until_complete(PMPI_Ialltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                             recvcounts_.data(), recvdisps_.data(), recvtype, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Ialltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                     const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                     const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                     MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ialltoallw_c", true);
  return keep_until_complete(MPI_Ialltoallw(sendbuf, sendcounts_.data(), senddisps_.data(), sendtypes, recvbuf,
                                            recvcounts_.data(), recvdisps_.data(), recvtypes, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Ialltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                      const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                      const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                      MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ialltoallw_c", false);
  return keep_until_complete(PMPI_Ialltoallw(sendbuf, sendcounts_.data(), senddisps_.data(), sendtypes, recvbuf,
                                             recvcounts_.data(), recvdisps_.data(), recvtypes, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Ibcast_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                 MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ibcast_c", true);
  return keep_until_complete(MPI_Ibcast(buf, count_.count(), count_.type(), root, comm, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Ibcast_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                  MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Ibcast_c", false);
  return keep_until_complete(PMPI_Ibcast(buf, count_.count(), count_.type(), root, comm, request), request, count_);
}

WEFT_INTERPOSED int MPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iexscan_c", true);
  return MPI_Iexscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int PMPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iexscan_c", false);
  return PMPI_Iexscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int MPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Igather_c", true);
  return keep_until_complete(MPI_Igather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                         recvcount_.type(), root, comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Igather_c", false);
  return keep_until_complete(PMPI_Igather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                          recvcount_.type(), root, comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Igatherv_c", true);
  return keep_until_complete(MPI_Igatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                          displs_.data(), recvtype, root, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Igatherv_c", false);
  return keep_until_complete(PMPI_Igatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                           displs_.data(), recvtype, root, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  int root, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Ireduce_c", true);
  return MPI_Ireduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm, request);
}

WEFT_INTERPOSED int PMPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                   MPI_Op op, int root, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Ireduce_c", false);
  return PMPI_Ireduce(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm, request);
}

WEFT_INTERPOSED int MPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Ireduce_scatter_c", true);
  return keep_until_complete(MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm, request),
                             request, recvcounts_);
}

WEFT_INTERPOSED int PMPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Ireduce_scatter_c", false);
  return keep_until_complete(PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm, request),
                             request, recvcounts_);
}

WEFT_INTERPOSED int MPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Ireduce_scatter_block_c", true);
  return MPI_Ireduce_scatter_block(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm, request);
}

WEFT_INTERPOSED int PMPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Ireduce_scatter_block_c", false);
  return PMPI_Ireduce_scatter_block(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm, request);
}

WEFT_INTERPOSED int MPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iscan_c", true);
  return MPI_Iscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int PMPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Iscan_c", false);
  return PMPI_Iscan(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, request);
}

WEFT_INTERPOSED int MPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iscatter_c", true);
  return keep_until_complete(MPI_Iscatter(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                          recvcount_.type(), root, comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                    MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iscatter_c", false);
  return keep_until_complete(PMPI_Iscatter(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                           recvcount_.type(), root, comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Iscatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iscatterv_c", true);
  return keep_until_complete(MPI_Iscatterv(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf,
                                           recvcount_.count(), recvcount_.type(), root, comm, request),
                             request, sendcounts_, displs_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Iscatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                     int root, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Iscatterv_c", false);
  return keep_until_complete(PMPI_Iscatterv(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf,
                                            recvcount_.count(), recvcount_.type(), root, comm, request),
                             request, sendcounts_, displs_, recvcount_);
}

WEFT_INTERPOSED int MPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                              MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_allgather_c", true);
  return keep_until_complete(MPI_Ineighbor_allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                     recvcount_.count(), recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                               MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_allgather_c", false);
  return keep_until_complete(PMPI_Ineighbor_allgather(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                      recvcount_.count(), recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_allgatherv_c", true);
  return keep_until_complete(MPI_Ineighbor_allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                      recvcounts_.data(), displs_.data(), recvtype, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_allgatherv_c", false);
  return keep_until_complete(PMPI_Ineighbor_allgatherv(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                       recvcounts_.data(), displs_.data(), recvtype, comm, request),
                             request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                             MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoall_c", true);
  return keep_until_complete(MPI_Ineighbor_alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                    recvcount_.count(), recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                              MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoall_c", false);
  return keep_until_complete(PMPI_Ineighbor_alltoall(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                     recvcount_.count(), recvcount_.type(), comm, request),
                             request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts,
                                              const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                              const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoallv_c", true);
  return keep_until_complete(MPI_Ineighbor_alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                                     recvcounts_.data(), recvdisps_.data(), recvtype, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts,
                                               const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                               const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoallv_c", false);
  return keep_until_complete(PMPI_Ineighbor_alltoallv(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                                      recvcounts_.data(), recvdisps_.data(), recvtype, comm, request),
                             request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts,
                                              const MPI_Aint* senddisps, const MPI_Datatype* sendtypes, void* recvbuf,
                                              const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                              const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  if (not(sendcounts_.fit() && recvcounts_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoallw_c", true);
  return keep_until_complete(MPI_Ineighbor_alltoallw(sendbuf, sendcounts_.data(), senddisps, sendtypes, recvbuf,
                                                     recvcounts_.data(), recvdisps, recvtypes, comm, request),
                             request, sendcounts_, recvcounts_);
}

WEFT_INTERPOSED int PMPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts,
                                               const MPI_Aint* senddisps, const MPI_Datatype* sendtypes, void* recvbuf,
                                               const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                               const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  if (not(sendcounts_.fit() && recvcounts_.fit()))
    return refuse_count(comm, "MPI_Ineighbor_alltoallw_c", false);
  return keep_until_complete(PMPI_Ineighbor_alltoallw(sendbuf, sendcounts_.data(), senddisps, sendtypes, recvbuf,
                                                      recvcounts_.data(), recvdisps, recvtypes, comm, request),
                             request, sendcounts_, recvcounts_);
}

WEFT_INTERPOSED int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                         MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Allgather_init_c", true);
  return keep_always(MPI_Allgather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                        recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Allgather_init_c", false);
  return keep_always(PMPI_Allgather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                         recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Allgatherv_init_c", true);
  return keep_always(MPI_Allgatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                         displs_.data(), recvtype, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers displs_(displs, ranks_of(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Allgatherv_init_c", false);
  return keep_always(PMPI_Allgatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                          displs_.data(), recvtype, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Allreduce_init_c", true);
  return MPI_Allreduce_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Allreduce_init_c", false);
  return PMPI_Allreduce_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                        MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Alltoall_init_c", true);
  return keep_always(MPI_Alltoall_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                       recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                         MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Alltoall_init_c", false);
  return keep_always(PMPI_Alltoall_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                        recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                         const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                         MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallv_init_c", true);
  return keep_always(MPI_Alltoallv_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                        recvcounts_.data(), recvdisps_.data(), recvtype, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                          MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                          const MPI_Aint* recvdisps, MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Info info, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallv_init_c", false);
  return keep_always(PMPI_Alltoallv_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                         recvcounts_.data(), recvdisps_.data(), recvtype, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                         const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                         const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                         MPI_Info info, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallw_init_c", true);
  return keep_always(MPI_Alltoallw_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtypes, recvbuf,
                                        recvcounts_.data(), recvdisps_.data(), recvtypes, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* senddisps,
                                          const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                          const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                          MPI_Info info, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_of(comm));
  const SmallNumbers senddisps_(senddisps, ranks_of(comm));
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  const SmallNumbers recvdisps_(recvdisps, ranks_of(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Alltoallw_init_c", false);
  return keep_always(PMPI_Alltoallw_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtypes, recvbuf,
                                         recvcounts_.data(), recvdisps_.data(), recvtypes, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Bcast_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                     MPI_Info info, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bcast_init_c", true);
  return keep_always(MPI_Bcast_init(buf, count_.count(), count_.type(), root, comm, info, request), request, count_);
}

WEFT_INTERPOSED int PMPI_Bcast_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                      MPI_Info info, MPI_Request* request)
{
  const LargeElements count_(count, datatype);
  if (not(count_.fit()))
    return refuse_count(comm, "MPI_Bcast_init_c", false);
  return keep_always(PMPI_Bcast_init(buf, count_.count(), count_.type(), root, comm, info, request), request, count_);
}

WEFT_INTERPOSED int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Exscan_init_c", true);
  return MPI_Exscan_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Exscan_init_c", false);
  return PMPI_Exscan_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                      MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Gather_init_c", true);
  return keep_always(MPI_Gather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                     recvcount_.type(), root, comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                       MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Gather_init_c", false);
  return keep_always(PMPI_Gather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                      recvcount_.type(), root, comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                       int root, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Gatherv_init_c", true);
  return keep_always(MPI_Gatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                      displs_.data(), recvtype, root, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                        int root, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Gatherv_init_c", false);
  return keep_always(PMPI_Gatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcounts_.data(),
                                       displs_.data(), recvtype, root, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Reduce_init_c", true);
  return MPI_Reduce_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Reduce_init_c", false);
  return PMPI_Reduce_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, root, comm, info, request);
}

WEFT_INTERPOSED int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                              MPI_Request* request)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Reduce_scatter_init_c", true);
  return keep_always(MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm, info, request),
                     request, recvcounts_);
}

WEFT_INTERPOSED int PMPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                               MPI_Request* request)
{
  const SmallNumbers recvcounts_(recvcounts, ranks_of(comm));
  if (not(recvcounts_.fit()))
    return refuse_count(comm, "MPI_Reduce_scatter_init_c", false);
  return keep_always(PMPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts_.data(), datatype, op, comm, info, request),
                     request, recvcounts_);
}

WEFT_INTERPOSED int MPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                    MPI_Request* request)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Reduce_scatter_block_init_c", true);
  return MPI_Reduce_scatter_block_init(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm, info,
                                       request);
}

WEFT_INTERPOSED int PMPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                     MPI_Request* request)
{
  if (not(fits(recvcount)))
    return refuse_count(comm, "MPI_Reduce_scatter_block_init_c", false);
  return PMPI_Reduce_scatter_block_init(sendbuf, recvbuf, static_cast<int>(recvcount), datatype, op, comm, info,
                                        request);
}

WEFT_INTERPOSED int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Scan_init_c", true);
  return MPI_Scan_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  if (not(fits(count)))
    return refuse_count(comm, "MPI_Scan_init_c", false);
  return PMPI_Scan_init(sendbuf, recvbuf, static_cast<int>(count), datatype, op, comm, info, request);
}

WEFT_INTERPOSED int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                       MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatter_init_c", true);
  return keep_always(MPI_Scatter_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                      recvcount_.type(), root, comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                        MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatter_init_c", false);
  return keep_always(PMPI_Scatter_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf, recvcount_.count(),
                                       recvcount_.type(), root, comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                        MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatterv_init_c", true);
  return keep_always(MPI_Scatterv_init(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf,
                                       recvcount_.count(), recvcount_.type(), root, comm, info, request),
                     request, sendcounts_, displs_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Scatterv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                         MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, ranks_at_root(comm, root));
  const SmallNumbers displs_(displs, ranks_at_root(comm, root));
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcounts_.fit() && displs_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Scatterv_init_c", false);
  return keep_always(PMPI_Scatterv_init(sendbuf, sendcounts_.data(), displs_.data(), sendtype, recvbuf,
                                        recvcount_.count(), recvcount_.type(), root, comm, info, request),
                     request, sendcounts_, displs_, recvcount_);
}

WEFT_INTERPOSED int MPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                                  MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgather_init_c", true);
  return keep_always(MPI_Neighbor_allgather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                 recvcount_.count(), recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                                   MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgather_init_c", false);
  return keep_always(PMPI_Neighbor_allgather_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                  recvcount_.count(), recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                   void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                   MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgatherv_init_c", true);
  return keep_always(MPI_Neighbor_allgatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                  recvcounts_.data(), displs_.data(), recvtype, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int PMPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                    void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                    MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers displs_(displs, degree_in(comm));
  if (not(sendcount_.fit() && recvcounts_.fit() && displs_.fit()))
    return refuse_count(comm, "MPI_Neighbor_allgatherv_init_c", false);
  return keep_always(PMPI_Neighbor_allgatherv_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                   recvcounts_.data(), displs_.data(), recvtype, comm, info, request),
                     request, sendcount_, recvcounts_, displs_);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                                 MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoall_init_c", true);
  return keep_always(MPI_Neighbor_alltoall_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                recvcount_.count(), recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                                  MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const LargeElements sendcount_(sendcount, sendtype);
  const LargeElements recvcount_(recvcount, recvtype);
  if (not(sendcount_.fit() && recvcount_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoall_init_c", false);
  return keep_always(PMPI_Neighbor_alltoall_init(sendbuf, sendcount_.count(), sendcount_.type(), recvbuf,
                                                 recvcount_.count(), recvcount_.type(), comm, info, request),
                     request, sendcount_, recvcount_);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts,
                                                  const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                                  const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                  MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallv_init_c", true);
  return keep_always(MPI_Neighbor_alltoallv_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                                 recvcounts_.data(), recvdisps_.data(), recvtype, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts,
                                                   const MPI_Aint* senddisps, MPI_Datatype sendtype, void* recvbuf,
                                                   const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                   MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers senddisps_(senddisps, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  const SmallNumbers recvdisps_(recvdisps, degree_in(comm));
  if (not(sendcounts_.fit() && senddisps_.fit() && recvcounts_.fit() && recvdisps_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallv_init_c", false);
  return keep_always(PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts_.data(), senddisps_.data(), sendtype, recvbuf,
                                                  recvcounts_.data(), recvdisps_.data(), recvtype, comm, info, request),
                     request, sendcounts_, senddisps_, recvcounts_, recvdisps_);
}

WEFT_INTERPOSED int MPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts,
                                                  const MPI_Aint* senddisps, const MPI_Datatype* sendtypes,
                                                  void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* recvdisps,
                                                  const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                                  MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  if (not(sendcounts_.fit() && recvcounts_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallw_init_c", true);
  return keep_always(MPI_Neighbor_alltoallw_init(sendbuf, sendcounts_.data(), senddisps, sendtypes, recvbuf,
                                                 recvcounts_.data(), recvdisps, recvtypes, comm, info, request),
                     request, sendcounts_, recvcounts_);
}

WEFT_INTERPOSED int PMPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts,
                                                   const MPI_Aint* senddisps, const MPI_Datatype* sendtypes,
                                                   void* recvbuf, const MPI_Count* recvcounts,
                                                   const MPI_Aint* recvdisps, const MPI_Datatype* recvtypes,
                                                   MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  const SmallNumbers sendcounts_(sendcounts, degree_out(comm));
  const SmallNumbers recvcounts_(recvcounts, degree_in(comm));
  if (not(sendcounts_.fit() && recvcounts_.fit()))
    return refuse_count(comm, "MPI_Neighbor_alltoallw_init_c", false);
  return keep_always(PMPI_Neighbor_alltoallw_init(sendbuf, sendcounts_.data(), senddisps, sendtypes, recvbuf,
                                                  recvcounts_.data(), recvdisps, recvtypes, comm, info, request),
                     request, sendcounts_, recvcounts_);
}

WEFT_INTERPOSED int MPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                              int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                              MPI_Datatype target_datatype, MPI_Win win)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Put_c", true);
  return MPI_Put(origin_addr, origin_count_.count(), origin_count_.type(), target_rank, target_disp,
                 target_count_.count(), target_count_.type(), win);
}

WEFT_INTERPOSED int PMPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                               MPI_Datatype target_datatype, MPI_Win win)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Put_c", false);
  return PMPI_Put(origin_addr, origin_count_.count(), origin_count_.type(), target_rank, target_disp,
                  target_count_.count(), target_count_.type(), win);
}

WEFT_INTERPOSED int MPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Get_c", true);
  return MPI_Get(origin_addr, origin_count_.count(), origin_count_.type(), target_rank, target_disp,
                 target_count_.count(), target_count_.type(), win);
}

WEFT_INTERPOSED int PMPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Get_c", false);
  return PMPI_Get(origin_addr, origin_count_.count(), origin_count_.type(), target_rank, target_disp,
                  target_count_.count(), target_count_.type(), win);
}

WEFT_INTERPOSED int MPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
  if (not(fits(origin_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Accumulate_c", true);
  return MPI_Accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank, target_disp,
                        static_cast<int>(target_count), target_datatype, op, win);
}

WEFT_INTERPOSED int PMPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
  if (not(fits(origin_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Accumulate_c", false);
  return PMPI_Accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank, target_disp,
                         static_cast<int>(target_count), target_datatype, op, win);
}

WEFT_INTERPOSED int MPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                         void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
  if (not(fits(origin_count) && fits(result_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Get_accumulate_c", true);
  return MPI_Get_accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, result_addr,
                            static_cast<int>(result_count), result_datatype, target_rank, target_disp,
                            static_cast<int>(target_count), target_datatype, op, win);
}

WEFT_INTERPOSED int PMPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                          void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
  if (not(fits(origin_count) && fits(result_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Get_accumulate_c", false);
  return PMPI_Get_accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, result_addr,
                             static_cast<int>(result_count), result_datatype, target_rank, target_disp,
                             static_cast<int>(target_count), target_datatype, op, win);
}

WEFT_INTERPOSED int MPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                               MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rput_c", true);
  return keep_until_complete(MPI_Rput(origin_addr, origin_count_.count(), origin_count_.type(), target_rank,
                                      target_disp, target_count_.count(), target_count_.type(), win, request),
                             request, origin_count_, target_count_);
}

WEFT_INTERPOSED int PMPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rput_c", false);
  return keep_until_complete(PMPI_Rput(origin_addr, origin_count_.count(), origin_count_.type(), target_rank,
                                       target_disp, target_count_.count(), target_count_.type(), win, request),
                             request, origin_count_, target_count_);
}

WEFT_INTERPOSED int MPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                               MPI_Request* request)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rget_c", true);
  return keep_until_complete(MPI_Rget(origin_addr, origin_count_.count(), origin_count_.type(), target_rank,
                                      target_disp, target_count_.count(), target_count_.type(), win, request),
                             request, origin_count_, target_count_);
}

WEFT_INTERPOSED int PMPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request)
{
  const LargeElements origin_count_(origin_count, origin_datatype);
  const LargeElements target_count_(target_count, target_datatype);
  if (not(origin_count_.fit() && target_count_.fit()))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rget_c", false);
  return keep_until_complete(PMPI_Rget(origin_addr, origin_count_.count(), origin_count_.type(), target_rank,
                                       target_disp, target_count_.count(), target_count_.type(), win, request),
                             request, origin_count_, target_count_);
}

WEFT_INTERPOSED int MPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request)
{
  if (not(fits(origin_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Raccumulate_c", true);
  return MPI_Raccumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank, target_disp,
                         static_cast<int>(target_count), target_datatype, op, win, request);
}

WEFT_INTERPOSED int PMPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request)
{
  if (not(fits(origin_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Raccumulate_c", false);
  return PMPI_Raccumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank, target_disp,
                          static_cast<int>(target_count), target_datatype, op, win, request);
}

WEFT_INTERPOSED int MPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                          void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request)
{
  if (not(fits(origin_count) && fits(result_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rget_accumulate_c", true);
  return MPI_Rget_accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, result_addr,
                             static_cast<int>(result_count), result_datatype, target_rank, target_disp,
                             static_cast<int>(target_count), target_datatype, op, win, request);
}

WEFT_INTERPOSED int PMPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                                           MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                                           MPI_Request* request)
{
  if (not(fits(origin_count) && fits(result_count) && fits(target_count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Rget_accumulate_c", false);
  return PMPI_Rget_accumulate(origin_addr, static_cast<int>(origin_count), origin_datatype, result_addr,
                              static_cast<int>(result_count), result_datatype, target_rank, target_disp,
                              static_cast<int>(target_count), target_datatype, op, win, request);
}

WEFT_INTERPOSED int MPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Op op)
{
  if (not(fits(count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Reduce_local_c", true);
  return MPI_Reduce_local(inbuf, inoutbuf, static_cast<int>(count), datatype, op);
}

WEFT_INTERPOSED int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                                        MPI_Op op)
{
  if (not(fits(count)))
    return refuse_count(MPI_COMM_WORLD, "MPI_Reduce_local_c", false);
  return PMPI_Reduce_local(inbuf, inoutbuf, static_cast<int>(count), datatype, op);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
