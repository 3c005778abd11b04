/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI functions and constants that weft adds to those of SimGrid's mpi.h. */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#undef MPI_VERSION
#define MPI_VERSION 4
#undef MPI_SUBVERSION
#define MPI_SUBVERSION 1

/* Not NULL, as MPI requires. */
#undef MPI_UNWEIGHTED
#define MPI_UNWEIGHTED ((int*)2)
#undef MPI_MESSAGE_NO_PROC
#define MPI_MESSAGE_NO_PROC ((MPI_Message)1)

/* Not a valid rank, as MPI requires. */
#undef MPI_ROOT
#define MPI_ROOT (-3)

/* Not a valid argument of a distribution. */
#undef MPI_DISTRIBUTE_DFLT_DARG
#define MPI_DISTRIBUTE_DFLT_DARG (-3)

/* Ends the program of the rank that encounters an error, like MPI_Abort. */
extern SMPI_Errhandler weft_errors_abort;
#define MPI_ERRORS_ABORT (&weft_errors_abort)

#define MPI_ERR_SESSION 75
#define MPI_ERR_PROC_ABORTED 76
#define MPI_ERR_VALUE_TOO_LARGE 77
#define MPI_ERR_ERRHANDLER 78
#define MPI_ERR_ABI 83
#undef MPI_ERR_LASTCODE
#define MPI_ERR_LASTCODE 100

#undef MPI_COMM_TYPE_HW_GUIDED
#define MPI_COMM_TYPE_HW_GUIDED 11
#undef MPI_COMM_TYPE_HW_UNGUIDED
#define MPI_COMM_TYPE_HW_UNGUIDED 12
#undef MPI_COMM_TYPE_RESOURCE_GUIDED
#define MPI_COMM_TYPE_RESOURCE_GUIDED 13

/* A status has the same representation in C and Fortran. */
#define MPI_F_STATUS_SIZE 5
#define MPI_F_SOURCE 0
#define MPI_F_TAG 1
#define MPI_F_ERROR 2
typedef struct {
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint weft_internal[2];
} MPI_F08_status;
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status*)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)MPI_F_STATUSES_IGNORE)

/* No datatype has this combiner, since pairs are predefined. */
#define MPI_COMBINER_VALUE_INDEX 32
#define MPI_BUFFER_AUTOMATIC ((void*)2)

typedef struct weft_session* MPI_Session;
typedef void MPI_Session_errhandler_function(MPI_Session* session, int* error_code, ...);
#define MPI_SESSION_NULL ((MPI_Session)0)
#define MPI_MAX_PSET_NAME_LEN 64
#define MPI_MAX_STRINGTAG_LEN 256

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request);
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request);

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
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
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

int MPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size);
int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent);
int MPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent);

int MPI_Request_get_status_all(int count, const MPI_Request* array_of_requests, int* flag,
                               MPI_Status* array_of_statuses);
int PMPI_Request_get_status_all(int count, const MPI_Request* array_of_requests, int* flag,
                                MPI_Status* array_of_statuses);
int MPI_Request_get_status_any(int count, const MPI_Request* array_of_requests, int* index, int* flag,
                               MPI_Status* status);
int PMPI_Request_get_status_any(int count, const MPI_Request* array_of_requests, int* index, int* flag,
                                MPI_Status* status);
int MPI_Request_get_status_some(int incount, const MPI_Request* array_of_requests, int* outcount, int* array_of_indices,
                                MPI_Status* array_of_statuses);
int PMPI_Request_get_status_some(int incount, const MPI_Request* array_of_requests, int* outcount,
                                 int* array_of_indices, MPI_Status* array_of_statuses);
int MPI_Info_create_env(int argc, char** argv, MPI_Info* info);
int PMPI_Info_create_env(int argc, char** argv, MPI_Info* info);
int MPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag);
int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag);
int MPI_Get_hw_resource_info(MPI_Info* hw_info);
int PMPI_Get_hw_resource_info(MPI_Info* hw_info);
int MPI_Remove_error_class(int errorclass);
int PMPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int PMPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);
int PMPI_Remove_error_string(int errorcode);

int MPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type);
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type);
int MPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count* array_of_gsizes,
                             const int* array_of_distribs, const int* array_of_dargs, const int* array_of_psizes,
                             int order, MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count* array_of_gsizes,
                              const int* array_of_distribs, const int* array_of_dargs, const int* array_of_psizes,
                              int order, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                        MPI_Count outsize, MPI_Count* position);
int PMPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                         MPI_Count outsize, MPI_Count* position);
int MPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                          MPI_Count outcount, MPI_Datatype datatype);
int PMPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                           MPI_Count outcount, MPI_Datatype datatype);
int MPI_Pack_external_size_c(const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size);
int PMPI_Pack_external_size_c(const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size);

int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);
int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);
int MPI_Buffer_attach_c(void* buffer, MPI_Count size);
int PMPI_Buffer_attach_c(void* buffer, MPI_Count size);
int MPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size);
int PMPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size);
int MPI_Buffer_flush(void);
int PMPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request* request);
int PMPI_Buffer_iflush(MPI_Request* request);
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
int MPI_Session_finalize(MPI_Session* session);
int PMPI_Session_finalize(MPI_Session* session);
int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names);
int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names);
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name);
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name);
int MPI_Session_get_info(MPI_Session session, MPI_Info* info_used);
int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used);
int MPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info);
int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info);
int MPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn, MPI_Errhandler* errhandler);
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn, MPI_Errhandler* errhandler);
int MPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler);
int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler);
int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler);
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler);
int MPI_Session_call_errhandler(MPI_Session session, int errorcode);
int PMPI_Session_call_errhandler(MPI_Session session, int errorcode);
int MPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup);
int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup);
int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                               MPI_Comm* newcomm);
int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                MPI_Comm* newcomm);
int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                                     const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                     MPI_Comm* newintercomm);
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                      int remote_leader, const char* stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm* newintercomm);

int MPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size);
int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size);
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size);
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size);
int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size);
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int PMPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request);
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request);
int MPI_Session_attach_buffer(MPI_Session session, void* buffer, int size);
int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size);
int MPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size);
int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size);
int MPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size);
int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size);
int MPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size);
int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size);
int MPI_Session_flush_buffer(MPI_Session session);
int PMPI_Session_flush_buffer(MPI_Session session);
int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request);
int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request);
int MPI_Win_test(MPI_Win win, int* flag);
int PMPI_Win_test(MPI_Win win, int* flag);
int MPI_Status_get_error(const MPI_Status* status, int* error);
int PMPI_Status_get_error(const MPI_Status* status, int* error);
int MPI_Status_get_source(const MPI_Status* status, int* source);
int PMPI_Status_get_source(const MPI_Status* status, int* source);
int MPI_Status_get_tag(const MPI_Status* status, int* tag);
int PMPI_Status_get_tag(const MPI_Status* status, int* tag);
int MPI_Status_set_error(MPI_Status* status, int error);
int PMPI_Status_set_error(MPI_Status* status, int error);
int MPI_Status_set_source(MPI_Status* status, int source);
int PMPI_Status_set_source(MPI_Status* status, int source);
int MPI_Status_set_tag(MPI_Status* status, int tag);
int PMPI_Status_set_tag(MPI_Status* status, int tag);
int MPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status);
int PMPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status);
int MPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status);
int PMPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status);
int MPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
int MPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
int MPI_Abi_get_version(int* abi_major, int* abi_minor);
int PMPI_Abi_get_version(int* abi_major, int* abi_minor);
int MPI_Abi_get_info(MPI_Info* info);
int PMPI_Abi_get_info(MPI_Info* info);
int MPI_Abi_get_fortran_info(MPI_Info* info);
int PMPI_Abi_get_fortran_info(MPI_Info* info);
int MPI_Abi_set_fortran_info(MPI_Info info);
int PMPI_Abi_set_fortran_info(MPI_Info info);
int MPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set);
int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set);
int MPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);
int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);
MPI_Fint MPI_Session_c2f(MPI_Session session);
MPI_Fint PMPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(MPI_Fint session);
MPI_Session PMPI_Session_f2c(MPI_Fint session);
int MPI_Comm_toint(MPI_Comm handle);
int PMPI_Comm_toint(MPI_Comm handle);
MPI_Comm MPI_Comm_fromint(int number);
MPI_Comm PMPI_Comm_fromint(int number);
int MPI_Errhandler_toint(MPI_Errhandler handle);
int PMPI_Errhandler_toint(MPI_Errhandler handle);
MPI_Errhandler MPI_Errhandler_fromint(int number);
MPI_Errhandler PMPI_Errhandler_fromint(int number);
int MPI_File_toint(MPI_File handle);
int PMPI_File_toint(MPI_File handle);
MPI_File MPI_File_fromint(int number);
MPI_File PMPI_File_fromint(int number);
int MPI_Group_toint(MPI_Group handle);
int PMPI_Group_toint(MPI_Group handle);
MPI_Group MPI_Group_fromint(int number);
MPI_Group PMPI_Group_fromint(int number);
int MPI_Info_toint(MPI_Info handle);
int PMPI_Info_toint(MPI_Info handle);
MPI_Info MPI_Info_fromint(int number);
MPI_Info PMPI_Info_fromint(int number);
int MPI_Message_toint(MPI_Message handle);
int PMPI_Message_toint(MPI_Message handle);
MPI_Message MPI_Message_fromint(int number);
MPI_Message PMPI_Message_fromint(int number);
int MPI_Op_toint(MPI_Op handle);
int PMPI_Op_toint(MPI_Op handle);
MPI_Op MPI_Op_fromint(int number);
MPI_Op PMPI_Op_fromint(int number);
int MPI_Request_toint(MPI_Request handle);
int PMPI_Request_toint(MPI_Request handle);
MPI_Request MPI_Request_fromint(int number);
MPI_Request PMPI_Request_fromint(int number);
int MPI_Session_toint(MPI_Session handle);
int PMPI_Session_toint(MPI_Session handle);
MPI_Session MPI_Session_fromint(int number);
MPI_Session PMPI_Session_fromint(int number);
int MPI_Type_toint(MPI_Datatype handle);
int PMPI_Type_toint(MPI_Datatype handle);
MPI_Datatype MPI_Type_fromint(int number);
MPI_Datatype PMPI_Type_fromint(int number);
int MPI_Win_toint(MPI_Win handle);
int PMPI_Win_toint(MPI_Win handle);
MPI_Win MPI_Win_fromint(int number);
MPI_Win PMPI_Win_fromint(int number);

typedef void MPI_User_function_c(void* invec, void* inoutvec, MPI_Count* len, MPI_Datatype* datatype);
int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                      MPI_Datatype* newtype);
int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                       MPI_Datatype* newtype);
int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                              MPI_Datatype* newtype);
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                               MPI_Datatype* newtype);
int MPI_Type_indexed_c(MPI_Count count, const MPI_Count* array_of_blocklengths, const MPI_Count* array_of_displacements,
                       MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count* array_of_blocklengths,
                        const MPI_Count* array_of_displacements, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count* array_of_blocklengths,
                               const MPI_Count* array_of_displacements, MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count* array_of_blocklengths,
                                const MPI_Count* array_of_displacements, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count* array_of_displacements,
                                    MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count* array_of_displacements,
                                     MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count* array_of_displacements,
                                     MPI_Datatype oldtype, MPI_Datatype* newtype);
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count* array_of_displacements,
                                      MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_create_struct_c(MPI_Count count, const MPI_Count* array_of_blocklengths,
                             const MPI_Count* array_of_displacements, const MPI_Datatype* array_of_types,
                             MPI_Datatype* newtype);
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count* array_of_blocklengths,
                              const MPI_Count* array_of_displacements, const MPI_Datatype* array_of_types,
                              MPI_Datatype* newtype);
int MPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype);
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype);
int MPI_Type_create_subarray_c(int ndims, const MPI_Count* array_of_sizes, const MPI_Count* array_of_subsizes,
                               const MPI_Count* array_of_starts, int order, MPI_Datatype oldtype,
                               MPI_Datatype* newtype);
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count* array_of_sizes, const MPI_Count* array_of_subsizes,
                                const MPI_Count* array_of_starts, int order, MPI_Datatype oldtype,
                                MPI_Datatype* newtype);
int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                            MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                             MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner);
int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                            MPI_Count max_large_counts, MPI_Count max_datatypes, int* array_of_integers,
                            MPI_Aint* array_of_addresses, MPI_Count* array_of_large_counts,
                            MPI_Datatype* array_of_datatypes);
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int* array_of_integers,
                             MPI_Aint* array_of_addresses, MPI_Count* array_of_large_counts,
                             MPI_Datatype* array_of_datatypes);
int MPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
               MPI_Count* position, MPI_Comm comm);
int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                MPI_Count* position, MPI_Comm comm);
int MPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
                 MPI_Datatype datatype, MPI_Comm comm);
int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
                  MPI_Datatype datatype, MPI_Comm comm);
int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size);
int MPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
int MPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op);
int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op);
int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);
int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);
int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win);
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win);
int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                              MPI_Win* win);
int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                               MPI_Win* win);
int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr);
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr);

#include "weft_mpi_large.h"
#include "weft_mpi_t.h"

#ifdef __cplusplus
}
#endif

#endif
